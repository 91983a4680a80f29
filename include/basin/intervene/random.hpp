// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

namespace basin {

/// Random numbers that depend on their seed and their address alone, not on what was drawn before: the same on every machine,
/// backend and thread.
struct counter_random {
    std::uint64_t seed = 0;

    template <class... Address>
    constexpr std::uint64_t operator()(Address... address) const {
        std::uint64_t x = mix(seed + step);
        ((x = mix(x ^ (static_cast<std::uint64_t>(address) + step))), ...);
        return x;
    }
    /// In (0, 1): never its ends.
    template <class... Address>
    constexpr double unit(Address... address) const {
        return (static_cast<double>((*this)(address...) >> 12U) + 0.5) * 0x1p-52;
    }
    /// Standard normal, by Box and Muller.
    template <class... Address>
    double normal(Address... address) const {
        double const radius = __builtin_sqrt(-2 * __builtin_log(unit(address..., 1)));
        return radius * __builtin_cos(6.283185307179586 * unit(address..., 2));
    }

    /// The increment of splitmix64.
    static constexpr std::uint64_t step = 0x9e3779b97f4a7c15U;
    /// The finaliser of splitmix64.
    static constexpr std::uint64_t mix(std::uint64_t x) {
        x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9U;
        x = (x ^ (x >> 27U)) * 0x94d049bb133111ebU;
        return x ^ (x >> 31U);
    }
};

/// The same as a stream, where addresses would only be counted.
struct random_stream {
    /// Where the stream stands.
    std::uint64_t state;
    explicit constexpr random_stream(std::uint64_t seed) : state(counter_random::mix(seed + counter_random::step)) {}
    constexpr std::uint64_t next() { return counter_random::mix(state += counter_random::step); }
    /// In [0, n), n below 2^32; the bias is below n / 2^32.
    constexpr std::uint32_t below(std::uint32_t n) { return static_cast<std::uint32_t>(((next() >> 32U) * n) >> 32U); }
};

} // namespace basin
