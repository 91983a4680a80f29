// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include <basin/intervene/random.hpp>

#include <cmath>
#include <cstdint>

namespace tiny_dlm {

/// The natural logarithm of a positive normal number, to about 1e-15, with the same bits on every machine: the library's own
/// differs between systems, and a compiler may fuse a product and a sum. Written with fma alone it has nothing left to fuse.
inline double portable_log(double x) {
    int exponent = 0;
    double m = std::frexp(x, &exponent); // [1/2, 1)
    if (m < 0.70710678118654752) {
        m *= 2;
        --exponent;
    }
    double const s = (m - 1) / (m + 1), s2 = s * s; // log m = 2 (s + s^3 / 3 + s^5 / 5 + ...), s below 0.172
    double series = 1.0 / 19;
    for (int n = 17; n >= 1; n -= 2) series = std::fma(series, s2, 1.0 / n);
    double const twice = 2 * s;
    return std::fma(static_cast<double>(exponent), 0.69314718055994531, twice * series);
}

/// Random numbers that depend on their seed and their address alone, with the same bits on every machine and for any number of
/// threads. An address is any list of integers: random_numbers{seed}.unit(step, sequence, position). The standard distributions differ
/// between libraries, so none is used.
struct random_numbers : basin::counter_random {
    /// One of 0 ... n - 1, n below 2^32; the bias is below n / 2^32.
    template <class... Address>
    constexpr std::uint32_t below(std::uint32_t n, Address... address) const {
        return static_cast<std::uint32_t>((((*this)(address...) >> 32U) * n) >> 32U);
    }
    /// Mean 0, variance 1: the sum of twelve uniform numbers, in integers. Never beyond 6, which suits initial weights.
    template <class... Address>
    constexpr double normal(Address... address) const {
        std::int64_t sum = -6 * (std::int64_t{1} << 32U);
        for (int i = 0; i < 6; ++i) {
            std::uint64_t const bits = (*this)(address..., i);
            sum += static_cast<std::int64_t>(bits >> 32U) + static_cast<std::int64_t>(bits & 0xffffffffU) + 1;
        }
        return static_cast<double>(sum) * 0x1p-32;
    }
    /// Gumbel noise: the argmax of logits plus this noise is a sample of their softmax.
    template <class... Address>
    double gumbel(Address... address) const {
        return -portable_log(-portable_log(unit(address...)));
    }
};

} // namespace tiny_dlm
