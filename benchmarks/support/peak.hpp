// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

// What the machine can do at best, measured beside every contender. Without nanobench: the library for the peers has it
// too.

#include <basin/backend/simd.hpp>

#include <chrono>
#include <cstdint>

namespace bench {

using basin::index_t;

template <class F>
double seconds_of(F const& f) {
    auto const begin = std::chrono::steady_clock::now();
    f();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/// Multiply-adds per second of the machine, times two: independent chains in registers, on `threads` threads.
template <class T>
double peak(index_t threads = 1) {
    using v = xsimd::batch<T>;
    constexpr int chains = 12; // more than latency times throughput of the multiply-add of any CPU we know
    // Long enough that starting threads does not show.
    long const rounds = threads == 1 ? 40000 : 800000;
    auto const burst = [rounds](index_t) {
        v c[chains];
        for (int i = 0; i < chains; ++i) c[i] = v(T(0.7) + T(i)); // different, or the compiler keeps one chain
        v const k(T(0.999));
        for (long i = 0; i < rounds; ++i) {
#pragma GCC unroll 12
            for (auto& x : c) x = basin::detail::simd::multiply_add<xsimd::default_arch, T>(x, k, k);
        }
        v sum = c[0];
        for (int i = 1; i < chains; ++i) sum += c[i];
        T volatile const kept = basin::detail::simd::sum_lanes(sum);
        static_cast<void>(kept);
    };
    double seconds = seconds_of([&] { basin::detail::run_tasks(threads, threads, burst); });
    // Threads may start on one core, beside somebody's pool that still spins on the other: the best of a few has them apart.
    for (int again = 1; again < 4 && threads > 1; ++again) {
        double const more = seconds_of([&] { basin::detail::run_tasks(threads, threads, burst); });
        seconds = more < seconds ? more : seconds;
    }
    return 2.0 * chains * double(v::size) * double(rounds) * threads / seconds;
}

/// Reads n numbers in order, by plain vector loads into a few sums: what a memory-bound kernel is measured against.
template <class T>
T read_all(T const* data, std::ptrdiff_t n) {
    using v = xsimd::batch<T>;
    constexpr std::ptrdiff_t chains = 8, step = chains * static_cast<std::ptrdiff_t>(v::size);
    v c[chains];
    for (auto& x : c) x = v(T(0));
    for (std::ptrdiff_t i = 0; i + step <= n; i += step) {
#pragma GCC unroll 8
        for (std::ptrdiff_t j = 0; j < chains; ++j)
            c[j] += v::load_unaligned(data + i + j * static_cast<std::ptrdiff_t>(v::size));
    }
    v sum = c[0];
    for (std::ptrdiff_t j = 1; j < chains; ++j) sum += c[j];
    return basin::detail::simd::sum_lanes(sum);
}

} // namespace bench
