// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#include "maps.hpp"

#include <support/backends.hpp>

#include <basin/measure/sweep.hpp>

#include <doctest/doctest.h>

#include <numeric>

using namespace basin;

namespace {

bool within(key_set const& smaller, key_set const& larger) {
    for (index_t key = 0; key < smaller.keys(); ++key) {
        if (smaller.contains(0, 0, key) && !larger.contains(0, 0, key)) return false;
    }
    return true;
}

/// The same map with queries and keys in another order.
maps::map permuted(maps::map const& m, std::vector<int> const& order) {
    maps::map r = m;
    for (int i = 0; i < m.size; ++i) {
        r.norm[static_cast<std::size_t>(i)] = m.norm[static_cast<std::size_t>(order[static_cast<std::size_t>(i)])];
        for (int j = 0; j < m.size; ++j) {
            auto const from = static_cast<std::size_t>(order[static_cast<std::size_t>(i)] * m.size +
                                                       order[static_cast<std::size_t>(j)]);
            r.p[static_cast<std::size_t>(i * m.size + j)] = m.p[from];
            r.visible[static_cast<std::size_t>(i * m.size + j)] = m.visible[from];
        }
    }
    return r;
}

/// f(rule(threshold)) for every rule with a threshold, which is drawn from [0, 1) and stretched to its range.
template <class F>
void for_each_family(F const& f) {
    f([](double x) { return exceeds_others{.epsilon = 6 * x}; });
    f([](double x) { return exceeds_others{.epsilon = 0.8 * x, .scale = mass_scale::mean}; });
    f([](double x) { return exceeds_others{.epsilon = 80 * x, .scale = mass_scale::percent}; });
    f([](double x) { return exceeds_others{.epsilon = 6 * x, .scale = mass_scale::uniform_ratio}; });
    f([](double x) { return outlier{.z = 3 * x}; });
    f([](double x) { return soft{.at_least = x}; });
    f([](double x) { return mass_share{.share = x}; });
    f([](double x) { return low_norm{.fraction = 1 - 0.9 * x}; });
}

} // namespace

TEST_CASE("a higher threshold never finds more") {
    basin_test::random_numbers random{3};
    for (int n = 0; n < 300; ++n) {
        auto const m = maps::random_map(random, 2 + random.below(30), static_cast<maps::shape>(n % 4));
        maps::arrays<double> const a(m);
        double const low = random.uniform(0, 1), high = random.uniform(low, 1);
        int broken = 0;
        for_each_family([&](auto const& family) {
            broken += within(a.detect(family(high)).keys(), a.detect(family(low)).keys()) ? 0 : 1;
        });
        for (index_t k = 0; k + 1 < static_cast<index_t>(m.keys().size()); ++k)
            broken += within(a.detect(top_keys{k}).keys(), a.detect(top_keys{k + 1}).keys()) ? 0 : 1;
        CHECK(broken == 0);
    }
}

TEST_CASE("permuting tokens permutes the sinks") {
    basin_test::random_numbers random{4};
    for (int n = 0; n < 300; ++n) {
        auto const shape = n % 2 == 0 ? maps::shape::full : maps::shape::holes;
        auto const m = maps::random_map(random, 2 + random.below(30), shape);
        std::vector<int> order(static_cast<std::size_t>(m.size));
        std::iota(order.begin(), order.end(), 0);
        for (int i = m.size - 1; i > 0; --i)
            std::swap(order[static_cast<std::size_t>(i)], order[static_cast<std::size_t>(random.below(i + 1))]);
        maps::arrays<double> const a(m), b(permuted(m, order));
        double const x = random.uniform(0, 1);
        int broken = 0;
        auto const compare = [&](auto const& rule) {
            auto const here = a.detect(rule), there = b.detect(rule);
            for (int j = 0; j < m.size; ++j)
                broken +=
                    there.keys().contains(0, 0, j) != here.keys().contains(0, 0, order[static_cast<std::size_t>(j)])
                        ? 1
                        : 0;
        };
        for_each_family([&](auto const& family) { compare(family(x)); });
        if (m.keys().size() >= 2) compare(top_keys{static_cast<index_t>(m.keys().size() / 2)});
        CHECK(broken == 0);
    }
}

TEST_CASE("all backends and scalars find the same sinks") {
    // The decision is made in double, so that float evidence and the same numbers in double agree to the last bit.
    basin_test::random_numbers random{5};
    int compared = 0;
    for (int n = 0; n < 100; ++n) {
        auto const m = maps::random_map(random, 2 + random.below(30), static_cast<maps::shape>(n % 4));
        maps::arrays<float> const narrow(m);
        maps::arrays<double> wide(m);
        for (std::ptrdiff_t i = 0; i < m.size; ++i) {
            wide.received.data()[i] = static_cast<double>(narrow.received.data()[i]);
            wide.norms.data()[i] = static_cast<double>(narrow.norms.data()[i]);
            wide.mask.uniform.data()[i] = static_cast<double>(narrow.mask.uniform.data()[i]);
        }
        auto const rule = exceeds_others{.epsilon = random.uniform(0, 3)} | (outlier{} & low_norm{});
        auto const want = wide.detect(rule);
        basin_test::for_each_backend([&]<class Backend>() {
            auto const f = detect(Backend{}, narrow.facts(), rule, narrow.options());
            auto const d = detect(Backend{}, wide.facts(), rule, wide.options());
            CHECK(f.keys() == want.keys());
            CHECK(d.keys() == want.keys());
            CHECK(f.observed() == want.observed());
            REQUIRE(f.list().size() == want.list().size());
            for (std::size_t i = 0; i < f.list().size(); ++i) CHECK(f.list()[i].number == want.list()[i].number);
            ++compared;
        });
    }
    CHECK(compared >= 100);
}

TEST_CASE("a sweep gives at every threshold what detect finds there") {
    basin_test::random_numbers random{6};
    for (int n = 0; n < 200; ++n) {
        auto const m = maps::random_map(random, 2 + random.below(30), static_cast<maps::shape>(n % 4));
        maps::arrays<double> const a(m);
        std::vector<double> thresholds;
        for (int i = 0; i < 21; ++i) thresholds.push_back(0.5 * i + 1e-7);
        auto const curve = sweep(a.facts(), exceeds_others{}, thresholds, a.options());
        auto const rest = sweep(a.facts(), outlier{}, thresholds, a.options());
        int broken = 0;
        for (std::size_t i = 0; i < thresholds.size(); ++i) {
            broken += curve.sinks[i] != a.detect(exceeds_others{.epsilon = thresholds[i]}).keys().count() ? 1 : 0;
            broken += rest.sinks[i] != a.detect(outlier{.z = thresholds[i]}).keys().count() ? 1 : 0;
            broken += i > 0 && curve.sinks[i] > curve.sinks[i - 1] ? 1 : 0;
        }
        CHECK(broken == 0);
        CHECK(curve.keys == static_cast<long long>(m.keys().size()));
    }
    // order of thresholds is the caller's
    auto const m = maps::head({4.5, .5, .5, .5, .5, .5, .5, .5});
    auto const curve = sweep(evidence{m}, exceeds_others{}, {5, 3.9, 0, -1});
    CHECK(curve.sinks == std::vector<long long>{0, 1, 1, 8});
    CHECK(curve.filtered(1) == 0.875);
    CHECK_THROWS_AS(sweep(evidence{m}, exceeds_others{.scale = mass_scale::mean}, {0}), argument_error);
}
