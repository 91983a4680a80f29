// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#include "maps.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace basin;

namespace {

/// What a rule says about each key by its formula in the paper, and how far from its threshold the key is.
struct literal {
    bool fires;
    double distance;
};

literal exceeds(maps::map const& m, int j, double epsilon, mass_scale scale) {
    double others = 0;
    int n = 0;
    for (int const k : m.keys()) {
        if (k == j) continue;
        others += m.mass(k, scale);
        ++n;
    }
    double const distance = m.mass(j, scale) - (others / n + epsilon);
    return {distance > 0, distance};
}
double threshold_of_outliers(maps::map const& m, double z, mass_scale scale) {
    auto const keys = m.keys();
    double mean = 0, squares = 0;
    for (int const k : keys) mean += m.mass(k, scale);
    mean /= static_cast<double>(keys.size());
    for (int const k : keys) squares += (m.mass(k, scale) - mean) * (m.mass(k, scale) - mean);
    return mean + z * std::sqrt(squares / static_cast<double>(keys.size()));
}

template <class Rule, class Formula>
int differences(maps::arrays<double> const& a, maps::map const& m, Rule const& rule, Formula const& formula) {
    auto const found = a.detect(rule);
    int wrong = 0;
    auto const keys = m.keys();
    for (int j = 0; j < m.size; ++j) {
        bool const live = j < m.live && m.seen(j) > 0 && keys.size() >= 2;
        literal const want = live ? formula(j) : literal{false, 1};
        if (std::abs(want.distance) < 1e-9) continue; // on the threshold itself rounding decides
        wrong += found.keys().contains(0, 0, j) != want.fires ? 1 : 0;
    }
    return wrong;
}

} // namespace

TEST_CASE("each rule equals its literal formula on 10,000 random maps") {
    basin_test::random_numbers random{7};
    int wrong[9] = {}, fired = 0, kept = 0;
    for (int n = 0; n < 10000; ++n) {
        auto const m = maps::random_map(random, 2 + random.below(14), static_cast<maps::shape>(n % 4));
        maps::arrays<double> const a(m);
        auto const scale = static_cast<mass_scale>(random.below(4));
        double const top = scale == mass_scale::mean ? 0.5 : scale == mass_scale::percent ? 50 : 5;
        double const epsilon = random.uniform(0, top), z = random.uniform(0, 3), share = random.uniform(0, 0.6);

        wrong[0] +=
            differences(a, m, exceeds_others{epsilon, scale}, [&](int j) { return exceeds(m, j, epsilon, scale); });
        double const limit = threshold_of_outliers(m, z, scale);
        wrong[1] += differences(a, m, outlier{z, scale},
                                [&](int j) { return literal{m.mass(j, scale) > limit, m.mass(j, scale) - limit}; });
        wrong[2] += differences(a, m, soft{z, 5, share, scale}, [&](int j) {
            double const w = 1 / (1 + std::exp(-5 * (m.mass(j, scale) - limit)));
            return literal{w > share, w - share};
        });
        wrong[3] += differences(a, m, mass_share{share}, [&](int j) {
            double const x = m.mass(j, mass_scale::mean);
            return literal{x > share, x - share};
        });
        int const first = random.below(3);
        wrong[4] += differences(a, m, first_token{first}, [&](int j) { return literal{j < first, 1}; });
        auto const keys = m.keys();
        double const fraction = random.uniform(0.1, 1);
        wrong[5] += differences(a, m, low_norm{fraction}, [&](int j) {
            std::vector<double> norms;
            for (int const k : keys) norms.push_back(m.norm[static_cast<std::size_t>(k)]);
            std::sort(norms.begin(), norms.end());
            double const middle = (norms[(norms.size() - 1) / 2] + norms[norms.size() / 2]) / 2;
            double const distance = fraction * middle - m.norm[static_cast<std::size_t>(j)];
            return literal{distance > 0, distance};
        });
        if (keys.size() >= 2) {
            int const k = random.below(static_cast<int>(keys.size()) + 1);
            wrong[6] += differences(a, m, top_keys{k}, [&](int j) {
                int better = 0; // keys before this one
                double nearest = 1;
                for (int const other : keys) {
                    double const d = m.mass(other, mass_scale::mean) - m.mass(j, mass_scale::mean);
                    if (other != j) nearest = std::min(nearest, std::abs(d));
                    better += d > 0 || (d == 0 && other < j) ? 1 : 0;
                }
                return literal{better < k, nearest};
            });
        }
        auto const both = [&](int j) {
            literal const x = exceeds(m, j, epsilon, scale);
            double const y = m.mass(j, mass_scale::mean) - share;
            return literal{x.fires && y > 0, std::min(std::abs(x.distance), std::abs(y))};
        };
        wrong[7] += differences(a, m, exceeds_others{epsilon, scale} & mass_share{share}, both);
        wrong[8] += differences(a, m, vote{2, exceeds_others{epsilon, scale}, mass_share{share}}, both);
        auto const found = a.detect(exceeds_others{epsilon, scale});
        fired += found.keys().count();
        kept += found.observed().count() - found.keys().count();
    }
    for (int const w : wrong) CHECK(w == 0);
    CHECK(fired > 5000); // the maps have sinks, and keys that are none
    CHECK(kept > 5000);
}

TEST_CASE("massive equals its literal formula on 10,000 random states") {
    basin_test::random_numbers random{9};
    struct facts {
        buffer<double, 3> peaks;
        buffer<double, 1> medians;
    };
    int wrong = 0, fired = 0;
    for (int n = 0; n < 10000; ++n) {
        int const tokens = 2 + random.below(8), channels = 1 + random.below(5);
        facts f{buffer<double, 3>(1, 1, tokens), buffer<double, 1>(1)};
        std::vector<double> all;
        for (int i = 0; i < tokens; ++i)
            for (int c = 0; c < channels; ++c) {
                double const x = random.chance(0.1) ? random.uniform(50, 500) : random.uniform(0, 0.5);
                f.peaks(0, 0, i) = std::max(f.peaks(0, 0, i), x);
                all.push_back(x);
            }
        std::sort(all.begin(), all.end());
        f.medians(0) = (all[(all.size() - 1) / 2] + all[all.size() / 2]) / 2;
        buffer<double, 3> mass(1, 1, tokens);
        auto const found = detect(reference_backend{}, evidence{mass}.activations(f), massive{});
        for (int i = 0; i < tokens; ++i) {
            bool const want = f.peaks(0, 0, i) > 100 && f.peaks(0, 0, i) > 1000 * f.medians(0);
            wrong += found.keys().contains(0, 0, i) != want ? 1 : 0;
            fired += want ? 1 : 0;
        }
    }
    CHECK(wrong == 0);
    CHECK(fired > 1000);
}
