// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT

// The simd backend behind a C interface, so that Python can call it in the same process as its rivals.

#include "../support/peak.hpp"

#include <basin/attention_backward.hpp>
#include <basin/backend/thread_pool.hpp>
#include <basin/policy/full.hpp>
#include <basin/statistic/lse.hpp>
#include <basin/statistic/received.hpp>

namespace {

using basin::index_t;

template <class T>
basin::view<T, 4> heads_of(T* data, index_t heads, index_t tokens, index_t d) {
    return {data, {{1, heads, tokens, d}}};
}

auto backend_of(int threads) {
    static basin::thread_pool pool{2}; // as the rivals, which keep their threads between calls
    return basin::simd_backend{.threads = threads}.on(pool);
}

} // namespace

extern "C" {

/// Full attention over (head, token, channel) arrays. `received` (head, token) may be null. 0: done, 1: refused.
int basin_full(float const* q, float const* k, float const* v, float* out, float* received, int heads, int tokens,
               int d, int threads) {
    try {
        auto const backend = backend_of(threads);
        auto const output = heads_of(out, heads, tokens, d);
        auto const run = [&](auto const&... statistics) {
            basin::attention(backend, heads_of(q, heads, tokens, d), heads_of(k, heads, tokens, d),
                             heads_of(v, heads, tokens, d), output, basin::full{}, statistics...);
        };
        if (received == nullptr) {
            run();
        } else {
            basin::view<float, 3> const mass{received, {{1, heads, tokens}}};
            run(basin::received{mass});
        }
        return 0;
    } catch (...) { // no exception may leave for C
        return 1;
    }
}

/// The forward pass, which keeps the lse (head, token).
int basin_forward(float const* q, float const* k, float const* v, float* out, float* lse, int heads, int tokens, int d,
                  int threads) {
    try {
        auto const output = heads_of(out, heads, tokens, d);
        basin::view<float, 3> const rows{lse, {{1, heads, tokens}}};
        basin::attention(backend_of(threads), heads_of(q, heads, tokens, d), heads_of(k, heads, tokens, d),
                         heads_of(v, heads, tokens, d), output, basin::full{}, basin::lse{rows});
        return 0;
    } catch (...) {
        return 1;
    }
}

/// The backward pass after basin_forward.
int basin_backward(float const* q, float const* k, float const* v, float const* out, float const* lse,
                   float const* d_out, float* d_q, float* d_k, float* d_v, int heads, int tokens, int d, int threads) {
    try {
        auto const at = [&](auto* data) { return heads_of(data, heads, tokens, d); };
        auto const query = at(q), key = at(k), value = at(v), output = at(out), upstream = at(d_out);
        auto const to_q = at(d_q), to_k = at(d_k), to_v = at(d_v);
        basin::view<float const, 3> const rows{lse, {{1, heads, tokens}}};
        basin::attention_backward(backend_of(threads), basin::saved{query, key, value, output, rows},
                                  basin::upstream{upstream}, basin::gradients{to_q, to_k, to_v}, basin::full{});
        return 0;
    } catch (...) {
        return 1;
    }
}

/// Multiply-adds per second times two, on that many threads.
double basin_peak(int threads) { return bench::peak<float>(threads); }

char const* basin_flags() { return BASIN_BENCHMARK_FLAGS; }
char const* basin_compiler() { return __VERSION__; }
int basin_lanes() { return static_cast<int>(xsimd::batch<float>::size); }
}
