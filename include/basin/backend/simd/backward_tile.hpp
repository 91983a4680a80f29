// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

// The register tiles of the backward pass, which know no policy. Five products per pair of query and key: two of the shape
// of scores (q k and d_out v, score_tile.hpp's loop), and three that add a matrix of coefficients times rows:
//
//   d_v += P^T d_out,   d_k += dS^T q,   d_q += dS k
//
// Coefficients of a strip of keys lie as [row][strip]: read along a row for d_q, along a column for the other two.

#include "score_tile.hpp"

namespace basin::detail::simd {

template <class T, class A>
struct backward_tiles : tiles<T, A> {
    // The same for every architecture: a whole number of panels, and of few register tiles (10 of 6 keys and one of 4).
    static constexpr int strip = 64;
    static constexpr int strip_panels = strip / tiles<T, A>::panel;
    static_assert(strip % tiles<T, A>::panel == 0);
};

// P = 2^(score - lse2[row]) of one tile, to [row][strip]; a row without a visible key has lse2 = +inf.
template <class A, int V, class T>
[[gnu::noinline]] void probability_tile(score_task<T> const& task, int tile, int column, T const* lse2,
                                        T* to) noexcept {
    using table = backward_tiles<T, A>;
    using v = vec<T, A>;
    accumulators<T, A, V> c;
    scores<A, V, false, T>(c, task, tile, column, nullptr);
#pragma GCC unroll 6
    for (int i = 0; i < table::rows; ++i) {
        v const m(lse2[tile * table::rows + i]);
#pragma GCC unroll 4
        for (int j = 0; j < V; ++j)
            pow2<A, T>(c[i][j] - m).store_aligned(to + i * table::strip + column + j * table::lanes);
    }
}

// dS = P (d_out v - delta[row]) of one tile.
template <class A, int V, class T>
[[gnu::noinline]] void slope_tile(score_task<T> const& task, int tile, int column, T const* delta, T const* p,
                                  T* to) noexcept {
    using table = backward_tiles<T, A>;
    using v = vec<T, A>;
    accumulators<T, A, V> c;
    scores<A, V, false, T>(c, task, tile, column, nullptr);
#pragma GCC unroll 6
    for (int i = 0; i < table::rows; ++i) {
        v const d(delta[tile * table::rows + i]);
        std::ptrdiff_t const at = i * table::strip + column;
#pragma GCC unroll 4
        for (int j = 0; j < V; ++j)
            ((c[i][j] - d) * v::load_aligned(p + at + j * table::lanes)).store_aligned(to + at + j * table::lanes);
    }
}

// The product alone, for tiles on which a policy has more to say.
template <class A, int V, class T>
[[gnu::noinline]] void product_tile(score_task<T> const& task, int tile, int column, T* to) noexcept {
    using table = backward_tiles<T, A>;
    accumulators<T, A, V> c;
    scores<A, V, false, T>(c, task, tile, column, nullptr);
    store_tile<A, V, T>(c, to + column, table::strip);
}

// f.template operator()<V>(column) over a panel: whole, or vector by vector when at least one vector of it is empty.
template <class A, class T, class F>
[[gnu::always_inline]] inline void each_column(int keys_in_panel, F const& f) noexcept {
    using table = tiles<T, A>;
    if (whole_panel<A, T>(keys_in_panel))
        f.template operator()<table::vectors>(0);
    else
        for (int column = 0; column < keys_in_panel; column += table::lanes) f.template operator()<1>(column);
}

// to[i] += sum over n of coefficients(i, n) * rows[n]; coefficients(i, n) is at i * Along + n * Across.
template <class T>
struct rank_task {
    T const* coefficients;
    T const* rows; // [n][row_stride]
    std::ptrdiff_t row_stride;
    int count;   // of n
    int columns; // a multiple of lanes, at most tiles::panel
    T* to;       // [i][to_stride], any alignment
    std::ptrdiff_t to_stride;
    T const*
        next; // prefetched, a slice per register tile: the rows [next_stride] that are needed after this, or any address
    std::ptrdiff_t next_stride;
};

template <class A, int R, int V, int Along, int Across, class T>
[[gnu::noinline]] void rank_tile(rank_task<T> const& task, int first, int column, T const* ahead) noexcept {
    using table = tiles<T, A>;
    using v = vec<T, A>;
    T* const to = task.to + first * task.to_stride + column;
    v c[R][V];
#pragma GCC unroll 6
    for (int i = 0; i < R; ++i)
#pragma GCC unroll 4
        for (int j = 0; j < V; ++j) c[i][j] = v::load_unaligned(to + i * task.to_stride + j * table::lanes);
    T const* coefficient = task.coefficients + std::ptrdiff_t{first} * Along;
    T const* row = task.rows + column;
    std::ptrdiff_t const stride = task.row_stride;
    constexpr int line = 16 / static_cast<int>(sizeof(T)); // four lines of a row, one for every four of n
    auto const step = [&]() __attribute__((always_inline)) {
        v b[V];
#pragma GCC unroll 4
        for (int j = 0; j < V; ++j) b[j] = v::load_unaligned(row + j * table::lanes);
        row += stride;
#pragma GCC unroll 6
        for (int i = 0; i < R; ++i) {
            v const x(coefficient[std::ptrdiff_t{i} * Along]);
#pragma GCC unroll 4
            for (int j = 0; j < V; ++j) c[i][j] = multiply_add<A, T>(x, b[j], c[i][j]);
        }
        coefficient += Across;
    };
    int n = 0;
#pragma GCC unroll 1
    for (; n + 4 <= task.count; n += 4) {
        prefetch<A>(ahead + column + (n & 12) * line);
        ahead += (n & 12) == 12 ? task.next_stride : 0;
        if constexpr (table::many_registers) {
            step();
            step();
            step();
            step();
        } else { // with 16 registers the unrolled form spills
#pragma GCC unroll 1
            for (int u = 0; u < 4; ++u) step();
        }
    }
#pragma GCC unroll 1
    for (; n < task.count; ++n) step();
#pragma GCC unroll 6
    for (int i = 0; i < R; ++i)
#pragma GCC unroll 4
        for (int j = 0; j < V; ++j) c[i][j].store_unaligned(to + i * task.to_stride + j * table::lanes);
}

template <class A, int V, int Along, int Across, class T>
void rank_rows(rank_task<T> const& task, int rows, int column) noexcept {
    using table = tiles<T, A>;
    std::ptrdiff_t const slice = task.count / 16 * task.next_stride; // what one tile prefetches
    T const* ahead = task.next;
    int i = 0;
    for (; i + table::rows <= rows; i += table::rows, ahead += slice)
        rank_tile<A, table::rows, V, Along, Across, T>(task, i, column, ahead);
    for (; i + 4 <= rows; i += 4, ahead += slice) rank_tile<A, 4, V, Along, Across, T>(task, i, column, ahead);
    for (; i < rows; ++i) rank_tile<A, 1, V, Along, Across, T>(task, i, column, ahead);
}

// All `rows` of the result.
template <class A, int Along, int Across, class T>
void rank_update(rank_task<T> const& task, int rows) noexcept {
    using table = tiles<T, A>;
    if (task.columns == table::panel)
        rank_rows<A, table::vectors, Along, Across, T>(task, rows, 0);
    else
        each_part<A, T>(task.columns,
                        [&]<int V>(int column) { rank_rows<A, V, Along, Across, T>(task, rows, column); });
}

// For numbers that are not all finite: a term whose coefficient is 0 is skipped, so that 0 x NaN never reaches a result
// that the pair has no part in. Finite results get the bits of rank_update.
template <class A, int Along, int Across, class T>
[[gnu::noinline, gnu::cold]] void careful_rank_update(rank_task<T> const& task, int rows) noexcept {
    using table = tiles<T, A>;
    using v = vec<T, A>;
    for (int i = 0; i < rows; ++i) {
        T* const to = task.to + i * task.to_stride;
        for (int n = 0; n < task.count; ++n) {
            T const x = task.coefficients[std::ptrdiff_t{i} * Along + std::ptrdiff_t{n} * Across];
            if (x == T(0)) continue;
            T const* const row = task.rows + n * task.row_stride;
            for (int j = 0; j < task.columns; j += table::lanes)
                multiply_add<A, T>(v(x), v::load_unaligned(row + j), v::load_unaligned(to + j)).store_unaligned(to + j);
        }
    }
}

} // namespace basin::detail::simd
