// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#include <support/random.hpp>

#include <basin/track/matching.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <set>

using namespace basin;

namespace {

/// The cost of the best of all partial assignments, crossing or not, by trying them all.
long long best(std::vector<index_t> const& old, std::vector<index_t> const& now, index_t reach, std::size_t i,
               std::vector<bool>& used) {
    if (i == old.size()) return (reach + 1) * static_cast<long long>(std::count(used.begin(), used.end(), false));
    long long least = reach + 1 + best(old, now, reach, i + 1, used);
    for (std::size_t j = 0; j < now.size(); ++j) {
        if (used[j] || std::abs(old[i] - now[j]) > reach) continue;
        used[j] = true;
        least = std::min(least, 2LL * std::abs(old[i] - now[j]) + best(old, now, reach, i + 1, used));
        used[j] = false;
    }
    return least;
}

std::vector<index_t> random_positions(basin_test::random_numbers& random, int most, int range) {
    std::set<index_t> result;
    for (int n = random.below(most + 1); n > 0; --n) result.insert(random.below(range));
    return {result.begin(), result.end()};
}

} // namespace

TEST_CASE("the matching is as good as the best of all assignments") {
    basin_test::random_numbers random{21};
    matcher m;
    int matched = 0;
    for (int n = 0; n < 20000; ++n) {
        auto const old = random_positions(random, 6, 20), now = random_positions(random, 6, 20);
        index_t const reach = random.below(7);
        auto const partner = m.match(old, now, reach);
        std::vector<bool> taken(now.size());
        long long cost = 0;
        bool sound = true;
        for (std::size_t i = 0; i < old.size(); ++i) {
            if (partner[i] < 0) {
                cost += reach + 1;
                continue;
            }
            auto const j = static_cast<std::size_t>(partner[i]);
            sound = sound && !taken[j] && std::abs(old[i] - now[j]) <= reach;
            taken[j] = true;
            cost += 2LL * std::abs(old[i] - now[j]);
            ++matched;
        }
        cost += (reach + 1) * static_cast<long long>(std::count(taken.begin(), taken.end(), false));
        std::vector<bool> used(now.size());
        REQUIRE(sound);
        REQUIRE(cost == best(old, now, reach, 0, used));
        REQUIRE(m.match(old, now, reach) == partner); // the same every time
    }
    CHECK(matched > 10000);
}

TEST_CASE("matching by hand") {
    matcher m;
    using list = std::vector<index_t>;
    CHECK(m.match({10}, {13}, 3) == list{0});
    CHECK(m.match({10}, {14}, 3) == list{-1});
    CHECK(m.match({10, 20}, {11}, 3) == list{0, -1});
    CHECK(m.match({10, 13}, {12}, 3) == list{-1, 0}); // the nearer one
    CHECK(m.match({10, 12}, {12, 14}, 4) == list{0, 1});
    CHECK(m.match({}, {1, 2}, 4) == list{});
    CHECK(m.match({1, 2}, {}, 4) == list{-1, -1});
    CHECK(m.match({5, 6, 7}, {5, 6, 7}, 0) == list{0, 1, 2});
    CHECK(m.match({0}, {0x7ffffffe}, 0x7ffffffe) == list{0}); // no overflow
}
