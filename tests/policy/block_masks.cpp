// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#include "shapes.hpp"

using namespace basin_test;

namespace {
int block_size(shape const& s) { return 1 + (s.queries + s.keys) % 9; }
} // namespace

TEST_CASE("blocks against the oracle") {
    check_against_oracle([](shape const& s, auto, int) {
        int const size = block_size(s);
        return made{basin::blocks{size}, {.sees = [=](place x) { return x.key / size == x.query / size; }}};
    });
}

TEST_CASE("block_causal against the oracle") {
    check_against_oracle([](shape const& s, auto, int) {
        int const size = block_size(s);
        return made{basin::block_causal{size}, {.sees = [=](place x) { return x.key / size <= x.query / size; }}};
    });
}

TEST_CASE("block_diffusion against the oracle") {
    check_against_oracle([](shape const& s, auto, int) {
        int const size = block_size(s), half = (s.limit() + 1) / 2;
        return made{basin::block_diffusion{.size = size, .length = half}, {.sees = [=](place x) {
                        bool const noisy_query = x.query < half, noisy_key = x.key < half;
                        int const query = (noisy_query ? x.query : x.query - half) / size;
                        int const key = (noisy_key ? x.key : x.key - half) / size;
                        if (noisy_query && noisy_key) return query == key;
                        if (noisy_query) return key < query;
                        return !noisy_key && key <= query;
                    }}};
    });
}

TEST_CASE("key_bits against the oracle") {
    check_against_oracle(
        [](shape const& s, auto, int variant) {
            // An irregular mask, another one for each batch entry and head; and one that all share.
            int const n = s.limit();
            bool const shared = variant == 1;
            auto const bit = [shared](int b, int h, int i, int j) {
                if (i % 5 == 4) return false; // whole rows are hidden
                return random_numbers::bits(shared ? 5 : 1000U + static_cast<unsigned>(b * 50 + h),
                                            static_cast<unsigned>(i * 999 + j)) %
                           3 !=
                       0;
            };
            basin::key_bits bits({shared ? 1 : s.texts(), shared ? 1 : s.heads, n, n});
            for (int b = 0; b < (shared ? 1 : s.texts()); ++b)
                for (int h = 0; h < (shared ? 1 : s.heads); ++h)
                    for (int i = 0; i < n; ++i)
                        for (int j = 0; j < n; ++j)
                            if (bit(b, h, i, j)) bits.show(b, h, i, j);
            return made{bits, {.sees = [=](place x) { return bit(x.batch, x.head, x.query, x.key); }}};
        },
        2);
}
