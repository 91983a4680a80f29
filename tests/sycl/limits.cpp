// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#include <support/backends.hpp>

#include <basin/attention_backward.hpp>
#include <basin/backend/sycl/detect.hpp>
#include <basin/detect.hpp>

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace basin;

// What a device that lacks something is not asked to do.
namespace {

namespace device = basin::detail::device;

/// A queue whose device seems to be another one.
struct toy : sycl_queue {
    explicit toy(device::device_facts const& facts) : sycl_queue(basin_test::sycl_queue(), facts) {}
};
template <class F>
std::string words_of(F const& f) {
    try {
        f();
    } catch (backend_error const& e) {
        return e.what();
    }
    return "";
}

/// Changes scores, as one's own policies do: with numbers in float, which it says or does not.
struct says_nothing {
    template <class X, class Lane>
    X score(X x, basic_site<Lane> const&) const {
        return x * X(0.5F);
    }
};
struct single : says_nothing {
    static constexpr bool uses_double = false;
};
/// What travels to a device is what bind returns: that is asked.
struct owns_a_table : says_nothing {
    single bind(shape_facts const&) const { return {}; }
};
struct says_it_too_early : single {
    says_nothing bind(shape_facts const&) const { return {}; }
};

template <class T>
struct arrays {
    buffer<T, 4> x{1, 1, 3, 4}, out{1, 1, 3, 4}, d_q{1, 1, 3, 4}, d_k{1, 1, 3, 4}, d_v{1, 1, 3, 4};
    buffer<T, 3> rows{1, 1, 3};
    arrays() {
        for (auto* const y : {&out, &d_q, &d_k, &d_v}) y->fill(7);
    }
    template <class Policy>
    std::string forward(sycl_backend const& on, Policy const& policy) {
        return words_of([&] { attention(on, x, x, x, out, policy); });
    }
    template <class Policy>
    std::string backward(sycl_backend const& on, Policy const& policy) {
        return words_of(
            [&] { attention_backward(on, saved{x, x, x, out, rows}, upstream{x}, gradients{d_q, d_k, d_v}, policy); });
    }
    bool untouched() const {
        bool same = true;
        for (auto const* const y : {&out, &d_q, &d_k, &d_v})
            for (T const number : *y) same = same && number == T(7);
        return same;
    }
};
device::device_facts const single_precision{"A toy", false, 1 << 20, true};
std::string const none = "sycl_backend: A toy has no double precision (aspect fp64)";
std::string const by_policy =
    none + ", which this policy has parameters in or may compute in: use another device; a policy of your own that "
           "needs none says static constexpr bool uses_double = false, on what its bind returns if it has one";

} // namespace

TEST_CASE("a device without double refuses arrays, policies and learned sums in double before anything is written") {
    sycl_backend const on{.queue = toy(single_precision), .kernel = sycl_kernel::coarse};
    arrays<double> wide;
    CHECK(wide.forward(on, full{}) == none + ": use float arrays, or another device");
    CHECK(wide.backward(on, full{}) == none + ": use float arrays, or another device");
    CHECK(wide.untouched());

    arrays<float> x;
    CHECK(x.forward(on, softcap{5}) == by_policy);
    CHECK(x.forward(on, causal{} & sink_logit{0.5}) == by_policy);
    CHECK(x.forward(on, says_nothing{}) == by_policy);
    CHECK(x.backward(on, softcap{5}) == by_policy);
    buffer<float, 2> table(3, 3), d_table(3, 3);
    d_table.fill(7);
    CHECK(x.backward(on, learned{bias{table}, d_table}) ==
          none + ", in which gradients of learned parameters are summed: use another device");
    CHECK(d_table(1, 1) == 7);
    CHECK(x.untouched());

    CHECK(x.forward(on, causal{} & single{}) == "");
    CHECK(x.forward(on, learned{bias{table}, d_table}) == "");
    CHECK(x.backward(on, causal{} & single{}) == "");
    CHECK(!x.untouched());
    sycl_backend const here{.queue = basin_test::sycl_queue(), .kernel = sycl_kernel::coarse};
    if (here.queue.facts().has_double) CHECK(x.forward(here, softcap{5}) == "");
}

TEST_CASE("which policies compute in double") {
    using device::uses_double;
    buffer<float, 2> const table(3, 3);
    buffer<double, 2> const wide(3, 3);
    auto const asks = [](auto const& policy) { return uses_double<bound_t<std::remove_cvref_t<decltype(policy)>>>; };
    auto const even = mask_if([](auto s) { return s.key % 2 == 0; });
    CHECK(!asks(full{}));
    CHECK(!asks(window{3, 3} | ~causal{}));
    CHECK(!asks(block_causal{2} & block_diffusion{2}));
    CHECK(!asks(sink_token{0, window{4, 4}}));
    CHECK(!asks(even & key_bits({1, 1, 3, 3}) & sink_masked{key_set(3, {1})}));
    CHECK(!asks(bias{table} & where(even, single{})));
    CHECK(asks(bias{wide}));
    CHECK(asks(temperature{2}));
    CHECK(asks(alibi::geometric(2)));
    CHECK(asks(where(even, softcap{2})));
    CHECK(asks(sink_token{0, all_of(full{}, sink_logit{0.5})}));
    CHECK(asks(says_nothing{}));
    CHECK(!asks(owns_a_table{}));
    CHECK(asks(says_it_too_early{}));
}

TEST_CASE("a device with little local memory refuses the tile kernel in words, and runs the other") {
    auto const need = device::tile_memory<float, 128>::bytes;
    arrays<float> x;
    auto const on = [](std::size_t bytes, sycl_kernel kernel) {
        return sycl_backend{.queue = toy({"A toy", true, bytes, true}), .kernel = kernel};
    };
    CHECK(x.forward(on(need - 1, sycl_kernel::tile), full{}) ==
          "sycl_backend: A toy has " + std::to_string(need - 1) + " bytes of local memory, but the tile kernel needs " +
              std::to_string(need) + "; say .kernel = basin::sycl_kernel::coarse");
    CHECK(x.untouched());
    CHECK(x.forward(on(need - 1, sycl_kernel::coarse), full{}) == "");
    CHECK(x.forward(on(need, sycl_kernel::tile), full{}) == "");
    auto const in_double = device::tile_memory<double, 64>::bytes; // tiles of double are narrower
    CHECK(in_double < need);
    CHECK(arrays<double>().forward(on(in_double, sycl_kernel::tile), full{}) == "");
    CHECK(arrays<double>().forward(on(in_double - 1, sycl_kernel::tile), full{}) != "");
}

TEST_CASE("without double, sinks are found by the host, and those are the same") {
    buffer<float, 3> mass(1, 1, 6);
    mass.fill(0.25F);
    mass(0, 0, 2) = 4;
    sycl_backend const far{.queue = toy(single_precision)}, near{.queue = basin_test::sycl_queue()};
    exceeds_others const rule{.epsilon = 1};
    CHECK(!device::judges_there(far, rule));
    CHECK(device::judges_there(near, rule) == near.queue.facts().has_double);
    CHECK(detect(far, evidence{mass}, rule).list().size() == 1);
}

TEST_CASE("what a queue knows of its device") {
    auto const& queue = basin_test::sycl_queue();
    auto const& here = queue.facts();
    sycl::device const there = queue.get_device();
    CHECK(here.name == there.get_info<sycl::info::device::name>());
    CHECK(here.has_double == there.has(sycl::aspect::fp64));
    CHECK(here.reads_the_host == there.has(sycl::aspect::usm_system_allocations));
    CHECK(here.local_memory == there.get_info<sycl::info::device::local_mem_size>());
    CHECK(sycl_queue(static_cast<sycl::queue const&>(queue)).facts().name == here.name);
}

TEST_CASE("tiles fit into what GPUs have of local memory, in double too") {
    CHECK(device::tile_memory<float, 128>::bytes <= 48 * 1024);
    CHECK(device::tile_memory<double, 64>::bytes <= 48 * 1024);
}
