// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#include "shapes.hpp"

using namespace basin_test;

TEST_CASE("full against the oracle") {
    check_against_oracle([](shape const&, auto, int) { return made{basin::full{}, {}}; });
}

TEST_CASE("causal against the oracle") {
    check_against_oracle([](shape const&, auto, int) {
        return made{basin::causal{}, {.sees = [](place x) { return x.key <= x.query; }}};
    });
}

TEST_CASE("window against the oracle") {
    check_against_oracle(
        [](shape const& s, auto, int variant) {
            int const before = variant == 0 ? s.queries % 7 : 0, after = variant == 2 ? 0 : s.keys % 5;
            return made{basin::window{.before = before, .after = after},
                        {.sees = [=](place x) { return x.key >= x.query - before && x.key <= x.query + after; }}};
        },
        3);
}

TEST_CASE("prefix against the oracle") {
    check_against_oracle([](shape const& s, auto, int) {
        int const length = s.keys / 3;
        return made{basin::prefix{length}, {.sees = [=](place x) { return x.key < length; }}};
    });
}
