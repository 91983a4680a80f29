#include <basin/backend/simd.hpp>
#include <basin/basin.hpp>

#include <cmath>
#include <cstdio>

// Small arrays (batch, head, token, channel) with numbers that are the same everywhere.
basin::index_t const batch = 2, heads = 4, queries = 24, keys = 24, channels = 16;
basin::buffer<float, 4> q({batch, heads, queries, channels}), k({batch, heads, keys, channels});
basin::buffer<float, 4> v({batch, heads, keys, channels}), out({batch, heads, queries, channels});
unsigned seed = 1;
for (auto* array : {&q, &k, &v})
    for (float& x : *array) x = float((seed = seed * 1664525u + 1013904223u) >> 8) / float(1u << 23) - 1;
