// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#include "check.hpp"

using namespace basin_test;

TEST_CASE("padded queries and keys hold the identity") {
    shape const s{.queries = 5, .keys = 5, .batch = 2, .query_lengths = {3, 5}, .key_lengths = {5, 2}};
    problem<float> p(s, 5);
    for_each_backend([&]<class Backend>() {
        statistics<float> got(s);
        p.blank();
        basin::attention(Backend{}, p.query(), p.key(), p.value(), p.out.view(), basin::full{}, p.options(),
                         basin::lse{got.lse.flat()}, basin::entropy{got.entropy.flat()},
                         basin::favourite{got.favourite.flat(), got.favourite_p.flat()},
                         basin::received{got.received.flat()}, basin::seen{got.seen.flat()});
        for (int i = 3; i < 5; ++i) {
            CHECK(got.lse(0, 0, 0, i) == -std::numeric_limits<float>::infinity());
            CHECK(got.entropy(0, 0, 0, i) == 0);
            CHECK(got.favourite(0, 0, 0, i) == -1);
            CHECK(got.favourite_p(0, 0, 0, i) == 0);
            for (int c = 0; c < s.values; ++c) CHECK(p.out(0, 0, i, c) == 0);
        }
        for (int j = 2; j < 5; ++j) {
            CHECK(got.received(1, 0, 0, j) == 0);
            CHECK(got.seen(1, 0, 0, j) == 0);
            CHECK(got.seen(0, 0, 0, j) == 3);
        }
    });
}
