// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT

// How does speed grow with threads: with as many heads as one likes, and with one head alone? The peak grows too, or
// does not: it is measured on as many threads.

#include "support.hpp"

#include <basin/backend/thread_pool.hpp>

int main(int argc, char** argv) {
    bench::arguments const args(argc, argv);
    bench::print_machine("Growth with threads: float, full attention, d = 64");
    basin::index_t const n = args.quick ? 512 : 2048, d = 64;
    basin::thread_pool pool{static_cast<basin::index_t>(std::thread::hardware_concurrency())};
    auto const cores = static_cast<basin::index_t>(std::thread::hardware_concurrency());
    for (bool const with_statistic : {false, true}) {
        for (basin::index_t const heads : {8, 1}) {
            bench::heads<float> x(1, heads, n, n, d);
            basin::buffer<float, 3> mass(1, heads, n);
            std::vector<bench::contender> contenders;
            for (basin::index_t const threads : {1, 2, 4, 8, 16, 32, 64}) {
                if (threads > 1 && threads > cores) break;
                contenders.push_back({std::to_string(threads) + " thread(s)", x.pairs(), x.flops(),
                                      [&, threads] {
                                          auto const backend = basin::simd_backend{.threads = threads}.on(pool);
                                          auto const run = [&](auto const&... s) {
                                              basin::attention(backend, x.q, x.k, x.v, x.out, basin::full{}, s...);
                                          };
                                          if (with_statistic)
                                              run(basin::received{mass});
                                          else
                                              run();
                                      },
                                      threads});
            }
            char title[64];
            std::snprintf(title, sizeof title, "N = %d, %d head(s)%s", n, heads, with_statistic ? ", received" : "");
            bench::print_columns(title, "speed over 1 thread");
            for (auto const& t : bench::race(contenders, args)) {
                char last[32];
                std::snprintf(last, sizeof last, "%.2f", 1 / t.over_first);
                bench::print_row(t, last);
            }
        }
    }
    std::vector<double> growth;
    for (int round = 0; round < 11; ++round) growth.push_back(bench::peak<float>(2) / bench::peak<float>(1));
    std::printf("\nthe multiply-add peak itself, 2 threads over 1: %.2f\n", bench::median(growth));
}
