// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT

// How far is the simd backend from the reference in double on the same numbers, also when scores are in the hundreds?
// benchmarks/peers compares with what PyTorch gets.

#include "support.hpp"

namespace {

using basin::index_t;

struct difference {
    double largest = 0, square = 0;
    long count = 0;
    void add(double got, double expected) {
        double const e = std::abs(got - expected);
        largest = e <= largest ? largest : e; // a NaN stays
        square += e * e;
        ++count;
    }
    double rms() const { return std::sqrt(square / double(count)); }
};

template <class T, class U, std::size_t R>
difference compare(basin::buffer<T, R> const& got, basin::buffer<U, R> const& expected) {
    difference d;
    for (std::ptrdiff_t i = 0; i < got.size(); ++i) {
        d.add(static_cast<double>(got.data()[i]), static_cast<double>(expected.data()[i]));
    }
    return d;
}

template <class T>
void line(char const* name, index_t n, index_t d, float scale) {
    using A = basin::accumulation_t<T>;
    bench::heads<T> x(1, 1, n, n, d, scale);
    bench::heads<double> y(1, 1, n, n, d);
    auto const widen = [](auto const& from, auto& to) {
        for (std::ptrdiff_t i = 0; i < from.size(); ++i) {
            if constexpr (std::is_same_v<T, double>)
                to.data()[i] = from.data()[i];
            else
                to.data()[i] = static_cast<double>(static_cast<float>(from.data()[i]));
        }
    };
    widen(x.q, y.q);
    widen(x.k, y.k);
    widen(x.v, y.v);
    basin::buffer<A, 3> mass(1, 1, n), spread(1, 1, n), sums(1, 1, n);
    basin::buffer<double, 3> true_mass(1, 1, n), true_spread(1, 1, n), true_sums(1, 1, n);
    basin::attention(basin::simd_backend{}, x.q, x.k, x.v, x.out, basin::full{}, basin::received{mass},
                     basin::entropy{spread}, basin::lse{sums});
    basin::attention(basin::reference_backend{}, y.q, y.k, y.v, y.out, basin::full{}, basin::received{true_mass},
                     basin::entropy{true_spread}, basin::lse{true_sums});
    difference const out = compare(x.out, y.out);
    std::printf("%-9s %6d %4d %7.0f   %9.2e %9.2e   %9.2e %9.2e %9.2e\n", name, n, d, static_cast<double>(scale),
                out.largest, out.rms(), compare(sums, true_sums).largest, compare(mass, true_mass).largest,
                compare(spread, true_spread).largest);
    std::fflush(stdout);
}

} // namespace

int main(int argc, char** argv) {
    bench::arguments const args(argc, argv);
    bench::print_machine("Error against the double reference; 16-bit rows include rounding the output to 16 bits");
    std::printf("\n%-9s %6s %4s %7s   %9s %9s   %9s %9s %9s\n", "scalar", "N", "d", "q x", "out, max", "out, rms",
                "lse", "received", "entropy");
    for (index_t const d : {64, 128}) {
        for (index_t const n : {256, 2048}) {
            if (args.quick && n > 256) break;
            for (float const scale : {1.0F, 10.0F, 100.0F}) line<float>("float", n, d, scale);
            for (float const scale : {1.0F, 100.0F}) line<double>("double", n, d, scale);
            for (float const scale : {1.0F, 10.0F}) line<basin::half>("half", n, d, scale);
            for (float const scale : {1.0F, 10.0F}) line<basin::bfloat16>("bfloat16", n, d, scale);
        }
    }
}
