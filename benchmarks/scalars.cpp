// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT

// What do half and bfloat16 cost over float, and how near is double to its own peak?

#include "support.hpp"

namespace {

template <class T>
bench::contender contender_of(char const* name, bench::heads<T>& x) {
    return {name, x.pairs(), x.flops(),
            [&x] { basin::attention(basin::simd_backend{}, x.q, x.k, x.v, x.out, basin::full{}); }};
}

} // namespace

int main(int argc, char** argv) {
    bench::arguments const args(argc, argv);
    bench::print_machine("Scalars: full attention, 4 heads, 1 thread");
    for (basin::index_t const d : {64, 128}) {
        for (basin::index_t const n : {512, 2048}) {
            if (args.quick && n > 512) break;
            bench::heads<float> f(1, 4, n, n, d);
            bench::heads<basin::half> h(1, 4, n, n, d);
            bench::heads<basin::bfloat16> b(1, 4, n, n, d);
            bench::heads<double> e(1, 4, n, n, d);
            char title[64];
            std::snprintf(title, sizeof title, "N = %d, d = %d", n, d);
            bench::print_columns(title, "time over float");
            bench::print_over_first(
                bench::race({contender_of("float", f), contender_of("half", h), contender_of("bfloat16", b)}, args));
            for (auto const& t : bench::race<double>({contender_of("double", e)}, args)) {
                bench::print_row(t, "(share of the double peak)");
            }
        }
    }
}
