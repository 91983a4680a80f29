// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#include "expected.hpp"
#include "on_device.hpp"

#include <support/backends.hpp>

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <thread>
#include <vector>

using namespace basin;
using basin_test::expected, basin_test::on_device, basin_test::small;

// Calls that do not wait.
namespace {

/// Waits for a number to become 1.
struct at_the_gate {
    int* gate;
    void operator()() const {
        sycl::atomic_ref<int, sycl::memory_order::relaxed, sycl::memory_scope::system> const open(*gate);
        while (open.load() == 0) {
        }
    }
};
/// An event that is not over until the gate is opened. A test that waits for it too early goes on after some seconds, so
/// that it fails instead of hanging.
class gate {
public:
    gate() : open_(basin_test::sycl_queue(), 1, sycl::usm::alloc::host) {
        *open_.data = 0;
        sycl::queue queue = basin_test::sycl_queue();
        event_ = queue.submit([&](sycl::handler& h) { h.single_task(at_the_gate{open_.data}); });
        late_ = std::thread([this] {
            for (int i = 0; i < 1000 && !opened(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(5));
            open();
        });
    }
    gate(gate const&) = delete;
    gate& operator=(gate const&) = delete;
    ~gate() {
        open();
        late_.join();
        event_.wait();
    }
    sycl::event event() const { return event_; }
    bool opened() const { return at().load() != 0; }
    void open() { at().store(1); }

private:
    std::atomic_ref<int> at() const { return std::atomic_ref<int>(*open_.data); }
    on_device<int> open_;
    sycl::event event_;
    std::thread late_;
};
bool over(sycl::event const& event) {
    return event.get_info<sycl::info::event::command_execution_status>() == sycl::info::event_command_status::complete;
}

/// Owns what kernels read, and can be asked whether it still does.
struct owner {
    std::shared_ptr<float> added;
    struct bound {
        float const* added;
        template <class X, class Lane>
        X score(X x, basic_site<Lane> const&) const {
            return x + X(*added);
        }
        template <class Carrier>
        bound carried(Carrier& carrier) const {
            return {carrier(added, 1)};
        }
    };
    template <class X, class Lane>
    X score(X x, basic_site<Lane> const& s) const {
        return bound{added.get()}.score(x, s);
    }
    bound bind(shape_facts const&) const { return {added.get()}; }
};

} // namespace

TEST_CASE("submit returns while what it waits for still runs") {
    expected const want(small());
    buffer<float, 4> got(want.out.extents());
    buffer<float, 3> mass(want.mass.extents());
    gate first;
    sycl_call call = submit(sycl_backend{.queue = basin_test::sycl_queue(), .after = {first.event()}}, want.x.q,
                            want.x.k, want.x.v, got, expected::policy, received{mass});
    CHECK(!over(call.event()));
    CHECK(!first.opened());
    CHECK(got.data()[0] == 0);
    first.open();
    call.wait();
    CHECK(over(call.event()));
    CHECK(want.near(got, mass));
}

TEST_CASE("a call keeps a policy that was made on the spot until it has ended") {
    buffer<float, 4> const q(1, 2, 5, 3), k(1, 2, 5, 3);
    buffer<float, 4> v(1, 2, 5, 1), got(v.extents()), out(v.extents());
    for (index_t i = 0; i < 5; ++i) v(0, 0, i, 0) = v(0, 1, i, 0) = static_cast<float>(i);
    buffer<float, 3> rows(1, 2, 5), want(1, 2, 5);
    auto number = std::make_shared<float>(3.0F);
    attention(reference_backend{}, q, k, v, out, causal{} & owner{number}, lse{want});
    {
        gate first;
        sycl_backend const backend{.queue = basin_test::sycl_queue(), .after = {first.event()}};
        sycl_call call = submit(backend, q, k, v, got, causal{} & owner{number}, lse{rows});
        CHECK(number.use_count() == 2);
        sycl_call moved = static_cast<sycl_call&&>(call);
        sycl_call assigned;
        assigned = static_cast<sycl_call&&>(moved);
        CHECK(number.use_count() == 2);
        first.open();
        assigned.wait();
        CHECK(number.use_count() == 1);
        owner const mine{number};
        sycl_call const borrows = submit(backend, q, k, v, got, mine, lse{rows});
        CHECK(number.use_count() == 2); // `mine`; what has a name is not copied
    }
    gate first;
    sycl_backend const backend{
        .queue = basin_test::sycl_queue(), .kernel = sycl_kernel::coarse, .after = {first.event()}};
    sycl_call natural = submit(backend, q, k, v, got, alibi::geometric(2), lse{rows});
    first.open();
    natural.wait();
    attention(reference_backend{}, q, k, v, out, alibi::geometric(2), lse{want});
    for (std::ptrdiff_t i = 0; i < out.size(); ++i) CHECK(got.data()[i] == doctest::Approx(out.data()[i]));
    for (std::ptrdiff_t i = 0; i < rows.size(); ++i) CHECK(rows.data()[i] == doctest::Approx(want.data()[i]));
}

TEST_CASE("a call that has ended does not hold up another failure until the queue is idle") {
    testing::check_options const o = small();
    testing::sample<float> const x(o);
    buffer<float, 4> out(o.batch, o.heads, o.queries, o.value_channels);
    std::unique_ptr<gate> behind; // another kernel of the queue, which waits
    bool at_once = false;
    try {
        sycl_call const call = submit(sycl_backend{.queue = basin_test::sycl_queue()}, x.q, x.k, x.v, out, full{});
        behind = std::make_unique<gate>();
        throw 1;
    } catch (int) {
        at_once = !behind->opened(); // it opens by itself after some seconds
    }
    CHECK(at_once);
}

TEST_CASE("a call without queries, heads or batch entries comes after what it waits for as well") {
    buffer<float, 4> const some(1, 1, 4, 2), no_queries(1, 1, 0, 2), no_heads(1, 0, 4, 2), no_batch(0, 1, 4, 2);
    for (auto const* const q : {&no_queries, &no_heads, &no_batch}) {
        buffer<float, 4> out(q->extents());
        auto const& k = q == &no_queries ? some : *q;
        gate first, second;
        sycl_backend const backend{.queue = basin_test::sycl_queue(), .after = {first.event(), second.event()}};
        sycl_call call = submit(backend, *q, k, k, out, full{});
        CHECK(!over(call.event()));
        CHECK(!first.opened());
        first.open();
        second.open();
        call.wait();
        CHECK(over(first.event()));
        CHECK(over(second.event()));
        sycl_call at_once = submit(sycl_backend{.queue = basin_test::sycl_queue()}, *q, k, k, out, full{});
        at_once.event().wait();
        at_once.wait();
    }
}

TEST_CASE("calls that do not wait end when they are told to, and bring copies back") {
    expected const want(small());
    for (auto const host : {host_arrays::automatic, host_arrays::copied}) {
        sycl_backend const backend{.queue = basin_test::sycl_queue(), .host = host};
        buffer<float, 4> got(want.out.extents());
        buffer<float, 3> got_mass(want.mass.extents());
        sycl_call first = submit(backend, want.x.q, want.x.k, want.x.v, got, expected::policy, received{got_mass});
        buffer<float, 4> again(want.out.extents());
        buffer<float, 3> mass_again(want.mass.extents());
        sycl_backend later = backend;
        later.after = {first.event()};
        sycl_call second = submit(later, want.x.q, want.x.k, want.x.v, again, expected::policy, received{mass_again});
        second.wait();
        first.wait();
        first.wait(); // a second time does nothing
        CHECK(want.near(got, got_mass));
        CHECK(want.near(again, mass_again));
        {
            again.fill(7);
            sycl_call const left = submit(backend, want.x.q, want.x.k, want.x.v, again, expected::policy,
                                          accumulate(received{mass_again}));
        } // the destructor waits
        CHECK(want.near(again, got_mass));
        buffer<float, 4> replaced(want.out.extents());
        buffer<float, 3> unused(want.mass.extents());
        sycl_call one = submit(backend, want.x.q, want.x.k, want.x.v, replaced, expected::policy, received{unused});
        got.fill(7);
        one =
            submit(backend, want.x.q, want.x.k, want.x.v, got, expected::policy, received{got_mass}); // ends the first
        CHECK(want.near(replaced, unused));
        one.wait();
        CHECK(want.near(got, got_mass));
        CHECK(testing::close(static_cast<double>(mass_again(0, 0, 0)), 2 * static_cast<double>(want.mass(0, 0, 0)),
                             1e-5));
    }
}
