// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

// Output[row][column] += exponential[row][key] * value[key][column] over one key block.

#include "query_block.hpp"

namespace basin::detail::simd {

// One group of value columns (pack.hpp) against the row tiles [tile_begin, tile_end).
template <class T>
struct value_task {
    T const* values;       // first key of the block, first column of the group: [key][stride]
    std::ptrdiff_t stride; // from key to key, elements
    int keys;              // in this key block, without padding
    int column;            // first output column of the group
    int columns;           // a multiple of lanes, at most tiles::panel
    int tile_begin, tile_end;
    T const* next_values; // prefetched a slice per row tile: the same group of the next key block, or any address
};

// One key: c[row] += e[row] * value, and on to the next key.
template <class A, int V, class T>
[[gnu::always_inline]] inline void add_key(accumulators<T, A, V>& c, T const*& value, std::ptrdiff_t stride,
                                           T const* e) noexcept {
    using table = tiles<T, A>;
    using v = vec<T, A>;
    v b[V];
#pragma GCC unroll 4
    for (int j = 0; j < V; ++j) b[j] = v::load_unaligned(value + j * table::lanes);
    value += stride;
#pragma GCC unroll 6
    for (int i = 0; i < table::rows; ++i) {
        v const x(e[i * table::panel]);
#pragma GCC unroll 4
        for (int j = 0; j < V; ++j) c[i][j] = multiply_add<A, T>(x, b[j], c[i][j]);
    }
}

template <class A, int V, class T>
[[gnu::noinline]] void value_tile(query_block<T> const& block, value_task<T> const& task, int tile,
                                  int column) noexcept {
    using table = tiles<T, A>;
    using v = vec<T, A>;
    constexpr int r = table::rows;
    T* const out = block.output + tile * r * block.output_stride + task.column + column;
    accumulators<T, A, V> c;
#pragma GCC unroll 6
    for (int i = 0; i < r; ++i)
#pragma GCC unroll 4
        for (int j = 0; j < V; ++j) c[i][j] = v::load_aligned(out + i * block.output_stride + j * table::lanes);
    T const* value = task.values + column;
    std::ptrdiff_t const stride = task.stride;
    auto const* ahead = reinterpret_cast<char const*>(task.next_values) + std::ptrdiff_t{tile} * task.keys *
                                                                              task.columns * std::ptrdiff_t{sizeof(T)} /
                                                                              table::block_tiles;
    constexpr std::ptrdiff_t step = table::panel * std::ptrdiff_t{sizeof(T)} * 4 / table::block_tiles;
    T const* panel = block.exponentials + std::ptrdiff_t{tile} * r * table::panel;
    for (int left = task.keys; left > 0; left -= table::panel, panel += block.panel_stride) {
        int const n = left < table::panel ? left : table::panel;
        int k = 0;
#pragma GCC unroll 1
        for (; k + 4 <= n; k += 4) {
            prefetch<A>(ahead);
            ahead += step;
            if constexpr (table::many_registers) {
                add_key<A, V, T>(c, value, stride, panel + k);
                add_key<A, V, T>(c, value, stride, panel + k + 1);
                add_key<A, V, T>(c, value, stride, panel + k + 2);
                add_key<A, V, T>(c, value, stride, panel + k + 3);
            } else { // with 16 registers the unrolled form spills
#pragma GCC unroll 1
                for (int u = 0; u < 4; ++u) add_key<A, V, T>(c, value, stride, panel + k + u);
            }
        }
#pragma GCC unroll 1
        for (; k < n; ++k) add_key<A, V, T>(c, value, stride, panel + k);
    }
#pragma GCC unroll 6
    for (int i = 0; i < r; ++i)
#pragma GCC unroll 4
        for (int j = 0; j < V; ++j) c[i][j].store_aligned(out + i * block.output_stride + j * table::lanes);
}

template <class A, class T>
void value_panel(query_block<T> const& block, value_task<T> const& task) noexcept {
    using table = tiles<T, A>;
    for (int tile = task.tile_begin; tile < task.tile_end; ++tile) {
        if (task.columns == table::panel)
            value_tile<A, table::vectors, T>(block, task, tile, 0);
        else
            each_part<A, T>(task.columns, [&]<int V>(int column) { value_tile<A, V, T>(block, task, tile, column); });
    }
}

// For key blocks with a value that is not finite: a term whose exponential is 0 is skipped, so that 0 x NaN never
// reaches a row that does not see the key. Finite rows get the bits of value_panel.
template <class A, class T>
[[gnu::noinline, gnu::cold]] void careful_value_panel(query_block<T> const& block, value_task<T> const& task) noexcept {
    using table = tiles<T, A>;
    using v = vec<T, A>;
    for (int row = task.tile_begin * table::rows; row < task.tile_end * table::rows; ++row) {
        T* const out = block.output + row * block.output_stride + task.column;
        for (int k = 0; k < task.keys; ++k) {
            T const e = block.exponentials[k / table::panel * block.panel_stride + std::ptrdiff_t{row} * table::panel +
                                           k % table::panel];
            if (e == T(0)) continue;
            T const* const value = task.values + k * task.stride;
            for (int j = 0; j < task.columns; j += table::lanes)
                multiply_add<A, T>(v(e), v::load_unaligned(value + j), v::load_aligned(out + j)).store_aligned(out + j);
        }
    }
}

} // namespace basin::detail::simd
