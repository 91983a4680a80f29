// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

namespace basin_test {

/// Numbers from a counter: the same on every machine and with every library, and any one of them by its place.
struct random_numbers {
    std::uint64_t seed = 0, counter = 0;

    static constexpr std::uint64_t bits(std::uint64_t seed, std::uint64_t counter) {
        std::uint64_t x = seed * 0x9e3779b97f4a7c15U + (counter + 1) * 0xbf58476d1ce4e5b9U;
        x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9U;
        x = (x ^ (x >> 27U)) * 0x94d049bb133111ebU;
        return x ^ (x >> 31U);
    }
    constexpr std::uint64_t next() { return bits(seed, counter++); }
    /// Uniform in [low, high).
    constexpr double uniform(double low, double high) {
        return low + (high - low) * (static_cast<double>(next() >> 11U) * 0x1p-53);
    }
    /// Uniform in 0 ... n - 1.
    constexpr int below(int n) { return static_cast<int>(next() % static_cast<std::uint64_t>(n)); }
    constexpr bool chance(double p) { return uniform(0, 1) < p; }
};

} // namespace basin_test
