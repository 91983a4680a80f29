// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#include "on_device.hpp"

#include <support/backends.hpp>
#include <support/random.hpp>

#include <basin/backend/sycl/detect.hpp>
#include <basin/detect.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <string>

using namespace basin;
using basin_test::on_device;

// Sinks judged on the device are those that the host finds.
namespace {

constexpr index_t batch = 3, head_count = 4, keys = 150;

/// Mass of made-up maps: a few keys of each head receive much. Rows of a map sum to 1.
struct evidence_arrays {
    buffer<float, 3> mass{batch, head_count, keys}, watched{batch, head_count, keys};
    buffer<float, 3> norms{batch, 2, keys};
    buffer<token_kind, 2> kinds{batch, keys};

    explicit evidence_arrays(std::uint64_t seed) {
        basin_test::random_numbers random{seed};
        for (index_t b = 0; b < batch; ++b)
            for (index_t h = 0; h < head_count; ++h) {
                float total = 0;
                for (index_t j = 0; j < keys; ++j) {
                    float const x = static_cast<float>(random.uniform(0, 1));
                    total += mass(b, h, j) = x < 0.03F ? 60 * x + 5 : x;
                    watched(b, h, j) = static_cast<float>(keys - random.below(3) * 20);
                    if (h < 2) norms(b, h, j) = 1 + x;
                }
                for (index_t j = 0; j < keys; ++j) mass(b, h, j) *= 0.9F * keys / total;
            }
        for (index_t b = 0; b < batch; ++b)
            for (index_t j = 0; j < keys; ++j) kinds(b, j) = j % 4 == 0 ? token_kind::masked : token_kind::decoded;
        mass(1, 2, 7) = NAN;  // never a sink, and counted
        watched(0, 1, 9) = 0; // seen by nobody
        mass(0, 1, 9) = 0;
    }
};

bool close(double a, double b) { return a == b || (a != a && b != b) || std::abs(a - b) <= 1e-12 * std::abs(b); }

void check_same(detection const& got, detection const& want) {
    CHECK(got.keys() == want.keys());
    CHECK(got.observed() == want.observed());
    CHECK(got.invalid() == want.invalid());
    CHECK(got.unreachable() == want.unreachable());
    REQUIRE(got.list().size() == want.list().size());
    for (std::size_t i = 0; i < got.list().size(); ++i) {
        sink const &a = got.list()[i], &b = want.list()[i];
        CHECK(a.batch == b.batch);
        CHECK(a.head == b.head);
        CHECK(a.key == b.key);
        CHECK(a.kind == b.kind);
        CHECK(a.step == b.step);
        CHECK(std::strcmp(a.by, b.by) == 0);
        CHECK(close(a.number, b.number));
        CHECK(close(a.threshold, b.threshold));
        CHECK(close(a.received, b.received));
        CHECK(close(a.share, b.share));
        CHECK(close(a.baseline, b.baseline));
        CHECK(close(a.norm, b.norm));
    }
    for (index_t b = 0; b < got.batch(); ++b)
        for (index_t h = 0; h < got.heads(); ++h) {
            auto const &x = got.head(b, h), &y = want.head(b, h);
            CHECK(x.keys == y.keys);
            CHECK(x.queries == y.queries);
            for (auto const& [m, n] : {std::pair{x.share, y.share}, std::pair{x.ratio, y.ratio}}) {
                CHECK(close(m.sum, n.sum));
                CHECK(close(m.deviation, n.deviation));
                CHECK(m.max == n.max);
            }
            CHECK(close(x.highest_ratio, y.highest_ratio));
        }
}

/// A user's own, which says yes or no.
struct every_third {
    template <class T>
    bool operator()(key_facts<T> const& key, head_facts<T> const& head) const {
        return key.key % 3 == 1 && key.share > head.share.mean;
    }
};

/// Follows a pointer, and says nothing about it.
struct follows {
    bool const* chosen;
    template <class T>
    bool operator()(key_facts<T> const& key, head_facts<T> const&) const {
        return chosen[key.key];
    }
};
/// Says how it moves. It fires where it has moved, so that a test sees where it was asked.
struct has_moved {
    bool const* chosen;
    bool const* home = chosen;
    template <class T>
    bool operator()(key_facts<T> const& key, head_facts<T> const&) const {
        return chosen != home && chosen[key.key];
    }
    template <class Carrier>
    has_moved carried(Carrier& carrier) const {
        return {carrier(chosen, keys), home};
    }
};

auto const combined = (exceeds_others{1.5} & outlier{1}) | ~mass_share{0.001};

} // namespace

TEST_CASE("rules of keys, alone and combined, are judged on the device as on the host") {
    static_assert(detail::device::can_be_moved<exceeds_others>);
    static_assert(detail::device::can_be_moved<std::remove_const_t<decltype(combined)>>);
    static_assert(!detail::device::can_be_moved<top_keys>);
    static_assert(detail::device::says_how_it_moves<std::remove_const_t<decltype(combined)>>);
    auto const queue = basin_test::sycl_queue();
    evidence_arrays const a(1);
    on_device<float> mass(queue, a.mass.size(), sycl::usm::alloc::device),
        watched(queue, a.watched.size(), sycl::usm::alloc::device);
    mass.read(a.mass.data());
    watched.read(a.watched.data());
    view<float const, 3> const there(mass.data, a.mass.extents()), seen_there(watched.data, a.watched.extents());
    std::vector<index_t> const lengths{150, 1, 40};
    std::size_t found = 0;
    auto const compare = [&](auto const& rule) {
        sycl_backend const backend{.queue = queue};
        for (auto const host : {host_arrays::automatic, host_arrays::copied}) {
            sycl_backend const other{.queue = queue, .host = host};
            auto const want = detect(reference_backend{}, evidence{a.mass}.kinds(a.kinds).at(5, 2), rule);
            found += want.list().size();
            check_same(detect(other, evidence{a.mass}.kinds(a.kinds).at(5, 2), rule), want);
        }
        check_same(detect(backend, evidence{there}.seen(seen_there).norms(a.norms), rule),
                   detect(reference_backend{}, evidence{a.mass}.seen(a.watched).norms(a.norms), rule));
        options const padded{.key_lengths = lengths, .key_position = 3};
        check_same(detect(backend, evidence{there}, rule, padded),
                   detect(reference_backend{}, evidence{a.mass}, rule, padded));
    };
    compare(exceeds_others{.epsilon = 2});
    compare(combined);
    compare(every_third{});
    CHECK(found > 40);
}

TEST_CASE("packed texts, and rules that compare keys with each other") {
    auto const queue = basin_test::sycl_queue();
    evidence_arrays const a(2);
    on_device<float> mass(queue, keys * head_count, sycl::usm::alloc::device);
    mass.read(a.mass.data());
    view<float const, 3> const there(mass.data, {{1, head_count, keys}}), here(a.mass.data(), {{1, head_count, keys}});
    sycl_backend const backend{.queue = queue};
    std::vector<index_t> const borders{0, 60, 61, 61, 140};
    buffer<float, 3> light(1, head_count, keys); // no key of a short text may have more than its queries give
    for (std::ptrdiff_t i = 0; i < light.size(); ++i) light.data()[i] = a.mass.data()[i] / 16;
    on_device<float> light_mass(queue, keys * head_count, sycl::usm::alloc::device);
    light_mass.read(light.data());
    view<float const, 3> const light_there(light_mass.data, {{1, head_count, keys}});
    options const packed{.offsets = borders};
    check_same(detect(backend, evidence{light_there}, exceeds_others{.epsilon = 0.1}, packed),
               detect(reference_backend{}, evidence{light}, exceeds_others{.epsilon = 0.1}, packed));
    check_same(detect(backend, evidence{there}, top_keys{4}), detect(reference_backend{}, evidence{here}, top_keys{4}));
}

TEST_CASE("evidence and rules that make no sense are refused in the host's words") {
    auto const queue = basin_test::sycl_queue();
    evidence_arrays a(3);
    auto const words = [](auto const& backend, auto const& facts, auto const& rule) -> std::string {
        try {
            detect(backend, facts, rule);
        } catch (error const& e) {
            return e.what();
        }
        return "";
    };
    sycl_backend const backend{.queue = queue};
    for (float const bad : {-1.0F, 1000.0F}) {
        a.mass(2, 1, 5) = bad;
        auto const want = words(reference_backend{}, evidence{a.mass}, exceeds_others{.epsilon = 2});
        CHECK(want.find("evidence: ") == 0);
        CHECK(words(backend, evidence{a.mass}, exceeds_others{.epsilon = 2}) == want);
    }
    a.mass(2, 1, 5) = 0;
    exceeds_others const never{.epsilon = 3, .scale = mass_scale::mean};
    auto const want = words(reference_backend{}, evidence{a.mass}, never);
    CHECK(want.find("exceeds_others: ") == 0);
    CHECK(words(backend, evidence{a.mass}, never) == want);
}

TEST_CASE("a rule that holds something moves to another memory by its own word alone") {
    using detail::device::judges_there;
    static_assert(detail::device::can_be_moved<follows> && !detail::device::says_how_it_moves<follows>);
    static_assert(!detail::device::says_how_it_moves<decltype(exceeds_others{} & ~follows{})>);
    static_assert(detail::device::says_how_it_moves<decltype(exceeds_others{} | ~has_moved{})>);
    static_assert(detail::device::says_how_it_moves<every_third>);
    evidence_arrays const a(4);
    bool chosen[keys] = {};
    for (index_t j = 0; j < keys; j += 7) chosen[j] = true;
    sycl_backend const near{.queue = basin_test::sycl_queue()};
    sycl_backend const far{.queue = basin_test::sycl_queue(),
                           .host = host_arrays::copied}; // as if it did not see the host
    CHECK(judges_there(near, follows{chosen}) == near.queue.facts().reads_the_host);
    CHECK(!judges_there(far, follows{chosen}));
    CHECK(judges_there(far, has_moved{chosen}));
    auto const want = detect(reference_backend{}, evidence{a.mass}, follows{chosen});
    CHECK(want.list().size() > 20);
    check_same(detect(near, evidence{a.mass}, follows{chosen}), want);
    check_same(detect(far, evidence{a.mass}, follows{chosen}), want);
    CHECK(detect(far, evidence{a.mass}, has_moved{chosen}).list().size() == want.list().size());
    CHECK(detect(far, evidence{a.mass}, exceeds_others{.epsilon = -1e9} & has_moved{chosen}).list().size() ==
          want.list().size());
    CHECK(detect(reference_backend{}, evidence{a.mass}, has_moved{chosen}).list().empty());
}
