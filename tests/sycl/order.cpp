// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#include "on_device.hpp"

#include <support/backends.hpp>

#include <basin/attention_backward.hpp>
#include <basin/backend/sycl/detect.hpp>
#include <basin/detect.hpp>

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace basin;
using basin_test::on_device;

// What waits for what, and which queue an error belongs to.
namespace {

constexpr index_t tokens = 20;

/// Takes its time, and writes then.
struct slow_write {
    float* to;
    index_t count;
    float number;
    void operator()() const {
        for (int volatile i = 0; i < 30000000;) i = i + 1;
        for (index_t j = 0; j < count; ++j) to[j] = number + (j % 5 == 2 ? 3.0F : 0.0F);
    }
};
struct quick_write {
    float* to;
    void operator()() const { *to = 1; }
};
template <class Kernel>
sycl::event start(Kernel const& kernel) {
    sycl::queue queue = basin_test::sycl_queue();
    return queue.submit([&](sycl::handler& h) { h.single_task(kernel); });
}

/// Memory that the device writes into, and that a backend of the host's arrays copies.
struct written_late : on_device<float> {
    explicit written_late(index_t n) : on_device(basin_test::sycl_queue(), n, sycl::usm::alloc::host) {
        for (index_t i = 0; i < n; ++i) data[i] = 0;
    }
    sycl_backend copies_after(std::vector<sycl::event> const& events) const {
        return {.queue = basin_test::sycl_queue(), .host = host_arrays::copied, .after = events};
    }
};

} // namespace

TEST_CASE("arrays and tables are copied after what the call waits for") {
    buffer<float, 4> const q(1, 1, tokens, 4), k(1, 1, tokens, 4);
    buffer<float, 4> out(1, 1, tokens, 1), ones(1, 1, tokens, 1);
    ones.fill(1);
    {
        written_late v(tokens);
        view<float const, 4> const there(v.data, {{1, 1, tokens, 1}});
        attention(v.copies_after({start(slow_write{v.data, tokens, 1})}), q, k, there, out, full{});
        for (float const x : out) CHECK(x == doctest::Approx(1.6)); // every fifth is 4
    }
    {
        written_late table(tokens);
        view<float const, 4> const there(table.data, {{1, 1, 1, tokens}});
        buffer<float, 3> rows(1, 1, tokens);
        attention(table.copies_after({start(slow_write{table.data, tokens, 50})}), q, k, ones, out, bias{there},
                  lse{rows});
        CHECK(rows(0, 0, 3) == doctest::Approx(54.568).epsilon(1e-4)); // 53 + log(4 + 16 exp(-3))
    }
    {
        written_late d_out(tokens);
        view<float const, 4> const there(d_out.data, {{1, 1, tokens, 1}});
        buffer<float, 3> rows(1, 1, tokens);
        buffer<float, 4> d_q(q.extents()), d_k(k.extents()), d_v(ones.extents());
        attention(reference_backend{}, q, k, ones, out, full{}, lse{rows});
        attention_backward(d_out.copies_after({start(slow_write{d_out.data, tokens, 1})}), saved{q, k, ones, out, rows},
                           upstream{there}, gradients{d_q, d_k, d_v}, full{});
        for (float const x : d_v) CHECK(x == doctest::Approx(1.6));
    }
}

TEST_CASE("gradients are cleared, and what is learned added to them, by the device and after what the call waits for") {
    buffer<float, 4> const q(1, 2, tokens, 4), k(1, 2, tokens, 4);
    buffer<float, 4> values(1, 2, tokens, 1), out(values.extents()), d_q(q.extents()), d_k(k.extents()),
        d_v(values.extents());
    for (index_t i = 0; i < tokens; ++i) values(0, 1, i, 0) = static_cast<float>(i % 7);
    buffer<float, 3> rows(1, 2, tokens);
    std::vector<float> want(2);
    sink_logit const sinks({0.5, -0.5});
    attention(reference_backend{}, q, k, values, out, sinks, lse{rows});
    attention_backward(reference_backend{}, saved{q, k, values, out, rows}, upstream{values}, gradients{d_q, d_k, d_v},
                       learned{sinks, want});
    CHECK(want[1] < -1);
    for (auto const kind : {sycl::usm::alloc::device, sycl::usm::alloc::host}) {
        // A late write into every gradient: one that was cleared too early keeps it.
        on_device<float> d_sinks(basin_test::sycl_queue(), 2, kind), late(basin_test::sycl_queue(), d_v.size(), kind);
        view<float, 1> const there(d_sinks.data, {{2}});
        view<float, 4> const late_v(late.data, d_v.extents());
        for (bool const adds : {false, true})
            for (auto const host : {host_arrays::automatic, host_arrays::copied}) {
                sycl_backend const backend{
                    .queue = basin_test::sycl_queue(),
                    .host = host,
                    .after = {start(slow_write{d_sinks.data, 2, 50}),
                              start(slow_write{late.data, static_cast<index_t>(d_v.size()), 50})}};
                auto const policy = learned{sinks, there};
                attention_backward(backend, saved{q, k, values, out, rows}, upstream{values},
                                   gradients{d_q, d_k, late_v}, adds ? accumulate(policy) : policy);
                std::vector<float> got(2), got_v(static_cast<std::size_t>(d_v.size()));
                d_sinks.write(got.data());
                late.write(got_v.data());
                for (std::size_t i = 0; i < 2; ++i)
                    CHECK(got[i] == doctest::Approx(want[i] + (adds ? 50.0F : 0.0F)).epsilon(1e-4));
                bool same = true;
                for (std::size_t i = 0; i < got_v.size(); ++i)
                    same = same && got_v[i] == doctest::Approx(d_v.data()[i]).epsilon(1e-4);
                CHECK(same);
            }
        // Without queries there is nothing to add, but the gradients are zero.
        buffer<float, 4> const none(1, 2, 0, 4), no_values(1, 2, 0, 1);
        buffer<float, 4> d_none(none.extents());
        buffer<float, 3> const no_rows(1, 2, 0);
        sycl_backend const backend{.queue = basin_test::sycl_queue(),
                                   .after = {start(slow_write{d_sinks.data, 2, 50})}};
        attention_backward(backend, saved{none, k, values, no_values, no_rows}, upstream{no_values},
                           gradients{d_none, d_k, late_v}, learned{sinks, there});
        std::vector<float> got(2), no_gradient(static_cast<std::size_t>(d_v.size()));
        d_sinks.write(got.data());
        late.write(no_gradient.data());
        CHECK(got == std::vector<float>(2));
        for (float const x : no_gradient) CHECK(x == 0);
    }
}

TEST_CASE("evidence is read after what the call waits for, on the device and by the host") {
    auto const check = [](auto const& rule, sycl::usm::alloc kind, host_arrays host) {
        on_device<float> mass(basin_test::sycl_queue(), tokens, kind);
        std::vector<float> const nothing(tokens, 0.0F);
        mass.read(nothing.data());
        sycl_backend const backend{
            .queue = basin_test::sycl_queue(), .host = host, .after = {start(slow_write{mass.data, tokens, 0.25F})}};
        view<float const, 3> const there(mass.data, {{1, 1, tokens}});
        CHECK(detect(backend, evidence{there}, rule).list().size() == 4);
    };
    for (auto const host : {host_arrays::automatic, host_arrays::copied}) {
        check(exceeds_others{.epsilon = 1}, sycl::usm::alloc::device, host);
        check(exceeds_others{.epsilon = 1}, sycl::usm::alloc::host, host);
        check(exceeds_others{.epsilon = 1} & top_keys{10}, sycl::usm::alloc::device, host);
        check(exceeds_others{.epsilon = 1} & top_keys{10}, sycl::usm::alloc::host, host);
    }
}

TEST_CASE("a call without kernels ends after everything that it waits for") {
    for (bool const by_event : {false, true}) {
        written_late slow(1), quick(1);
        std::vector<sycl::event> const both{start(slow_write{slow.data, 1, 1}), start(quick_write{quick.data})};
        detail::device::launcher go(basin_test::sycl_queue(), both);
        if (by_event)
            go.last().wait();
        else
            go.finish();
        CHECK(slow.data[0] == 1);
        CHECK(quick.data[0] == 1);
    }
}

#if defined(__ACPP__) // the standard has no way to make a list of errors
TEST_CASE("a queue throws what its own handler keeps, and copies of it do as well") {
    buffer<float, 4> const x(1, 1, 3, 2);
    buffer<float, 4> out(1, 1, 3, 2);
    auto const words = [&](sycl_queue const& queue) -> std::string {
        try {
            attention(sycl_backend{.queue = queue}, x, x, x, out, full{});
        } catch (backend_error const& e) {
            return e.what();
        }
        return "";
    };
    sycl_errors const kept;
    sycl_queue const one{sycl::default_selector_v, kept}, two = basin_test::sycl_queue();
    sycl_queue const given{sycl::queue{sycl::default_selector_v, kept}, kept};
    auto const fail_once = [&] {
        kept({std::make_exception_ptr(sycl::exception(sycl::make_error_code(sycl::errc::runtime), "it fell over"))});
    };
    for (auto const& queue : {one, given, sycl_backend{.queue = one}.queue}) {
        fail_once();
        CHECK(words(two) == "");
        CHECK(words(queue).find("it fell over") != std::string::npos);
        CHECK(words(queue) == "");
    }
}
#endif
