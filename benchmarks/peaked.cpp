// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT

// Peaked scores, as trained models have them, break kernels that were tuned on random numbers: references of rows move,
// exponentials become denormal. Queries times 10 and 100 give scores of tens and hundreds.

#include "support.hpp"

int main(int argc, char** argv) {
    bench::arguments const args(argc, argv);
    bench::print_machine("Peaked scores: float, full attention, 4 heads, 1 thread");
    for (basin::index_t const d : {64, 128}) {
        for (basin::index_t const n : {256, 2048}) {
            if (args.quick && n > 256) break;
            bench::heads<float> one(1, 4, n, n, d), ten(1, 4, n, n, d, 10), hundred(1, 4, n, n, d, 100);
            basin::buffer<float, 3> mass(1, 4, n);
            auto const plain = [](char const* name, bench::heads<float>& x) {
                return bench::contender{
                    name, x.pairs(), x.flops(),
                    [&x] { basin::attention(basin::simd_backend{}, x.q, x.k, x.v, x.out, basin::full{}); }};
            };
            auto const measured = [&mass](char const* name, bench::heads<float>& x) {
                return bench::contender{name, x.pairs(), x.flops(), [&] {
                                            basin::attention(basin::simd_backend{}, x.q, x.k, x.v, x.out, basin::full{},
                                                             basin::received{mass});
                                        }};
            };
            char title[64];
            std::snprintf(title, sizeof title, "N = %d, d = %d", n, d);
            bench::print_columns(title, "time over the first");
            bench::print_over_first(
                bench::race({plain("queries x1", one), plain("queries x10", ten), plain("queries x100", hundred),
                             measured("queries x1, received", one), measured("queries x10, received", ten),
                             measured("queries x100, received", hundred)},
                            args));
        }
    }
}
