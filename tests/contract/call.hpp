// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include <support/arrays.hpp>
#include <support/backends.hpp>

#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <string>

// Calls for the contracts of the design: one head, float, a mask given as a table, optional sinks, all statistics that a
// contract speaks of. One type of policy, so that every backend compiles it once.
namespace basin_test {

inline constexpr float inf = std::numeric_limits<float>::infinity();
inline constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();

using table = std::vector<std::string>; // '#' sees, '.' does not

/// A policy of every facet: the mask is a table of bits, the score adds a table, the sink is a number.
inline auto contract_policy(basin::key_bits const& bits, basin::bias<float> const& bias, double sink) {
    return basin::all_of(bits, bias, basin::sink_logit{sink});
}

struct call {
    int queries, keys, channels;
    basin::buffer<float, 2> q, k, v, out, bias;
    basin::buffer<float, 1> lse, escaped, entropy, received, seen, favourite_p;
    basin::buffer<index_t, 1> favourite;
    std::function<bool(int, int)> sees = [](int, int) { return true; };
    double sink = -std::numeric_limits<double>::infinity();

    call(int n, int m, int d = 4, std::uint64_t seed = 1)
        : queries(n), keys(m), channels(d), q(n, d), k(m, d), v(m, d), out(n, d), bias(n, m), lse(n), escaped(n),
          entropy(n), received(m), seen(m), favourite_p(n), favourite(n) {
        random_numbers r{seed, 0};
        for (auto* x : {&q, &k, &v})
            for (float& y : *x) y = static_cast<float>(r.uniform(-1, 1));
        out.fill(not_a_number);
        for (auto* x : {&lse, &escaped, &entropy, &received, &seen, &favourite_p}) x->fill(not_a_number);
        favourite.fill(77);
    }
    template <class Backend>
    void run(Backend const& backend) {
        auto const bits =
            basin::key_bits::of({1, 1, queries, keys}, [&](basin::site s) { return sees(s.query, s.key); });
        basin::attention(backend, q, k, v, out, contract_policy(bits, basin::bias<float>{bias}, sink), basin::lse{lse},
                         basin::escaped{escaped}, basin::entropy{entropy}, basin::received{received}, basin::seen{seen},
                         basin::favourite{favourite, favourite_p});
    }
    bool row_is(int i, float x) const {
        for (int c = 0; c < channels; ++c)
            if (!(out(i, c) == x)) return false;
        return true;
    }
    bool row_is_nan(int i) const {
        for (int c = 0; c < channels; ++c)
            if (!std::isnan(out(i, c))) return false;
        return true;
    }
    bool row_is_finite(int i) const {
        for (int c = 0; c < channels; ++c)
            if (!std::isfinite(out(i, c))) return false;
        return true;
    }
};

/// The words of the error that `f` throws, or "nothing was thrown".
template <class Error, class F>
std::string words_of(F const& f) {
    try {
        f();
    } catch (Error const& e) {
        return e.what();
    } catch (std::exception const& e) {
        return std::string("another error: ") + e.what();
    }
    return "nothing was thrown";
}

} // namespace basin_test
