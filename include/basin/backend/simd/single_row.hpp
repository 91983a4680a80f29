// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

// One query alone against a long cache: the time is that of reading keys and values, so the register tile's other five
// rows would only be in the way. Every sum is made in the tile's order: the bits are the same.

#include "score_tile.hpp"
#include "value_tile.hpp"

namespace basin::detail::simd {

// Raw scores of row 0 of the first row tile against a whole packed panel; slots past the last key are -inf.
template <class A, class T>
[[gnu::noinline]] void raw_row(score_task<T> const& task, T* to) noexcept {
    using table = tiles<T, A>;
    using v = vec<T, A>;
    v c[table::vectors];
#pragma GCC unroll 4
    for (auto& x : c) x = v(T(0));
    T const* q = task.queries;
    T const* k = task.keys;
    for (int d = 0; d < task.depth; d += table::chunk, q += table::rows * table::chunk) {
#pragma GCC unroll 4
        for (int u = 0; u < table::chunk; ++u, k += table::panel) {
            v const x(q[u]);
#pragma GCC unroll 4
            for (int j = 0; j < table::vectors; ++j)
                c[j] = multiply_add<A, T>(x, v::load_aligned(k + j * table::lanes), c[j]);
        }
    }
#pragma GCC unroll 4
    for (int j = 0; j < table::vectors; ++j) c[j].store_aligned(to + j * table::lanes);
    for (int slot = task.keys_in_panel; slot < table::panel; ++slot) to[slot] = hidden_score<T>;
}

// Output[row 0] += exponentials values over one key block and one group of columns. Keys with exponential 0 are not read:
// that serves values that are not finite, too.
template <class A, int V, class T>
[[gnu::noinline]] void value_row_of(query_block<T> const& block, value_task<T> const& task, int column) noexcept {
    using table = tiles<T, A>;
    using v = vec<T, A>;
    T* const out = block.output + task.column + column;
    v c[V];
#pragma GCC unroll 4
    for (int j = 0; j < V; ++j) c[j] = v::load_aligned(out + j * table::lanes);
    T const* value = task.values + column;
    for (int k = 0; k < task.keys; ++k, value += task.stride) {
        T const e = block.exponentials[k / table::panel * block.panel_stride + k % table::panel];
        if (e == T(0)) continue;
        v const x(e);
        prefetch<A>(value + 16 * task.stride); // reading alternates between keys and values, in pieces
        prefetch<A>(value + 16 * task.stride + table::lanes);
        prefetch<A>(value + 16 * task.stride + 2 * table::lanes);
        prefetch<A>(value + 16 * task.stride + 3 * table::lanes);
#pragma GCC unroll 4
        for (int j = 0; j < V; ++j) c[j] = multiply_add<A, T>(x, v::load_unaligned(value + j * table::lanes), c[j]);
    }
#pragma GCC unroll 4
    for (int j = 0; j < V; ++j) c[j].store_aligned(out + j * table::lanes);
}

template <class A, class T>
void value_row(query_block<T> const& block, value_task<T> const& task) noexcept {
    using table = tiles<T, A>;
    if (task.columns == table::panel) {
        value_row_of<A, table::vectors, T>(block, task, 0);
    } else {
        for (int column = 0; column < task.columns; column += table::lanes) value_row_of<A, 1, T>(block, task, column);
    }
}

} // namespace basin::detail::simd
