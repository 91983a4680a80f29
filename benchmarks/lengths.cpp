// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT

// How fast is full attention at each length, against the multiply-add peak measured in the same run, and what do the
// statistics add?

#include "support.hpp"

int main(int argc, char** argv) {
    bench::arguments const args(argc, argv);
    bench::print_machine("Speed by length: float, full attention, 1 thread, 4 heads (1 from N = 8192)");
    basin::simd_backend const backend{};
    for (basin::index_t const d : {64, 128}) {
        std::printf("\n%6s %4s %9s %9s %7s %6s  %9s %9s\n", "N", "d", "ns/pair", "GFLOP/s", "peak", "+-", "received",
                    "+3 more");
        for (basin::index_t const n : {256, 512, 1024, 2048, 4096, 8192, 16384}) {
            if (args.quick && n > 1024) break;
            basin::index_t const heads = n > 4096 ? 1 : 4;
            bench::heads<float> x(1, heads, n, n, d);
            basin::buffer<float, 3> mass(1, heads, n), top(1, heads, n), spread(1, heads, n), sums(1, heads, n);
            auto const run = [&](auto const&... statistics) {
                basin::attention(backend, x.q, x.k, x.v, x.out, basin::full{}, statistics...);
            };
            auto const r = bench::race(
                {{"none", x.pairs(), x.flops(), [&] { run(); }},
                 {"received", x.pairs(), x.flops(), [&] { run(basin::received{mass}); }},
                 {"four", x.pairs(), x.flops(),
                  [&] { run(basin::received{mass}, basin::entropy{spread}, basin::lse{sums}, basin::peak{top}); }}},
                args);
            std::printf("%6d %4d %9.4f %9.1f %6.1f%% %5.1f%%  %+8.1f%% %+8.1f%%\n", n, d,
                        r[0].seconds / x.pairs() * 1e9, x.flops() / r[0].seconds * 1e-9, 100 * r[0].share_of_peak,
                        100 * r[0].spread, 100 * (r[1].over_first - 1), 100 * (r[2].over_first - 1));
            std::fflush(stdout);
        }
    }
}
