// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT

// What does each statistic add to attention without any?

#include "support.hpp"

namespace {

using basin::index_t;

/// A statistic of one's own, in lanes: the mean distance that a query looks over.
template <class T>
struct reach : basin::query_statistic<T> {
    using basin::query_statistic<T>::query_statistic;
    using lanes = basin::supported;
    static constexpr T identity() { return 0; }
    template <class X, class Lane, class Site>
    X map(basin::cell<X, Lane, T> const& c, Site const& s) const {
        return c.p * basin::math::convert<X>(basin::math::abs(s.query - s.key));
    }
    template <class X>
    X combine(X a, X b) const {
        return a + b;
    }
};

/// The same by plain functions of one pair: what a first attempt looks like.
struct plain_reach : basin::query_statistic<float> {
    using basin::query_statistic<float>::query_statistic;
    static constexpr float identity() { return 0; }
    float map(basin::cell<float, index_t, float> const& c, basin::site const& s) const {
        return c.p * static_cast<float>(s.query > s.key ? s.query - s.key : s.key - s.query);
    }
    float combine(float a, float b) const { return a + b; }
};

void all_statistics(index_t n, index_t d, bench::arguments const& args) {
    index_t const h = n > 4096 ? 1 : 4;
    bench::heads<float> x(1, h, n, n, d);
    basin::buffer<float, 3> a(1, h, n), b(1, h, n), c(1, h, n), e(1, h, n), known(1, h, n);
    basin::buffer<index_t, 3> keys(1, h, n);
    basin::simd_backend const backend{};
    std::vector<bench::contender> contenders;
    auto const add = [&](char const* name, auto const&... statistics) {
        contenders.push_back({name, x.pairs(), x.flops(), [&, statistics...] {
                                  basin::attention(backend, x.q, x.k, x.v, x.out, basin::full{}, statistics...);
                              }});
    };
    add("none");
    add("received", basin::received{a});
    add("received, peak, entropy, lse", basin::received{a}, basin::peak{b}, basin::entropy{c}, basin::lse{e});
    add("peak", basin::peak{a});
    add("received_value", basin::received_value{a});
    add("seen", basin::seen{a});
    add("lse", basin::lse{a});
    add("escaped", basin::escaped{a});
    add("entropy", basin::entropy{a});
    add("favourite", basin::favourite{keys, a});
    add("votes", basin::votes{a});
    add("own, in lanes", reach<float>{a});
    add("own, pair by pair", plain_reach{a});
    basin::attention(backend, x.q, x.k, x.v, x.out, basin::full{}, basin::lse{known});
    // Half of the multiply-adds: there are no values.
    contenders.push_back({"observe: received alone", x.pairs(), x.flops() / 2,
                          [&] { basin::observe(backend, x.q, x.k, known, basin::full{}, basin::received{a}); }});
    char title[64];
    std::snprintf(title, sizeof title, "N = %d, d = %d, %d head(s)", n, d, h);
    bench::print_columns(title, "time over none");
    bench::print_over_first(bench::race(contenders, args));
}

} // namespace

int main(int argc, char** argv) {
    bench::arguments const args(argc, argv);
    bench::print_machine("Cost of each statistic: float, full attention, 1 thread");
    for (index_t const d : {64, 128}) {
        for (index_t const n : {512, 2048, 8192}) {
            if (args.quick && n > 512) break;
            all_statistics(n, d, args);
        }
    }
}
