// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include <basin/core/site.hpp>

#include <initializer_list>

namespace basin::testing {

/// A well-mixed 64-bit number from another one (splitmix64). Standard distributions differ between libraries; this does
/// not, so that a seed means the same case everywhere.
constexpr std::uint64_t mixed(std::uint64_t x) {
    x += 0x9e3779b97f4a7c15ULL;
    x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9ULL;
    x = (x ^ (x >> 27U)) * 0x94d049bb133111ebULL;
    return x ^ (x >> 31U);
}

/// Random numbers in a row from a seed.
class random_source {
public:
    explicit constexpr random_source(std::uint64_t seed) : state_(mixed(seed)) {}
    constexpr std::uint64_t next() { return mixed(state_++); }
    /// One of 0 ... n - 1.
    constexpr index_t below(index_t n) { return static_cast<index_t>(next() % static_cast<std::uint64_t>(n)); }
    /// A number from `low` to `high`, both included.
    constexpr index_t between(index_t low, index_t high) { return low + below(high - low + 1); }
    /// True once in `one_in` times.
    constexpr bool chance(index_t one_in) { return below(one_in) == 0; }
    /// Uniform in [-1, 1).
    constexpr double number() { return static_cast<double>(next() >> 11U) * 0x1p-52 - 1; }

private:
    std::uint64_t state_;
};

/// The element of a random array, from its place alone: a smaller array has the same elements. A multiple of 1/32 of
/// magnitude 1.5 at most, which half and bfloat16 hold exactly.
constexpr double random_element(std::uint64_t seed, index_t b, index_t h, index_t token, index_t channel) {
    std::uint64_t x = seed;
    for (index_t const i : {b, h, token, channel}) x = mixed(x ^ (static_cast<std::uint64_t>(i) + 0x51ULL));
    return static_cast<double>(static_cast<index_t>(x % 97U) - 48) / 32;
}

} // namespace basin::testing
