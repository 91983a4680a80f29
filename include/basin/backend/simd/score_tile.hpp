// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

// The register tile of scores, rows x vectors, and what may follow it while the scores are still in registers.
// Scores start from 0, never from the reference: a score's rounding is then the same on every path (fused, redone, through
// a policy), which is what makes a row independent of its neighbours to the last bit.

#include "finish_tile.hpp"

namespace basin::detail::simd {

// One panel of keys against the row tiles [tile_begin, tile_end) of a query block.
template <class T>
struct score_task {
    T const* queries;  // packed: [row tile][chunk][row][channel]
    T const* keys;     // packed panel: [channel][tiles::panel]
    int depth;         // channels, padded to a multiple of tiles::chunk
    int panel;         // panel in the key block
    int keys_in_panel; // 1 ... tiles::panel
    int tile_begin, tile_end;
    T const* next_keys;     // prefetched a slice per row tile: the panel that comes next, or any address
    T const* sweep_weights; // sweep: [row] weights of the exponentials about to be overwritten (column.hpp)
    T* column_sums;         // sweep: [tiles::panel], added to
};

// c += q k over the depth. `ahead` is the address of this tile's slice of the next panel, `old` of exponentials to be swept soon.
template <class A, int V, bool Sweep, class T>
[[gnu::always_inline]] inline void multiply(accumulators<T, A, V>& c, T const* q, T const* k, int depth,
                                            char const* ahead, char const* old) noexcept {
    using table = tiles<T, A>;
    using v = vec<T, A>;
    constexpr int r = table::rows;
    constexpr std::ptrdiff_t step = table::panel * std::ptrdiff_t{sizeof(T)} * table::chunk / table::block_tiles;
#pragma GCC unroll 1
    for (int d = 0; d < depth; d += table::chunk) {
        prefetch<A>(ahead);
        ahead += step;
        if constexpr (Sweep) {
            prefetch<A>(old);
            prefetch<A>(old + 64);
            old += 128;
        }
#pragma GCC unroll 1
        for (int u = 0; u < table::chunk; ++u) { // unrolled, g++ 12 spills accumulators
            v b[V];
#pragma GCC unroll 4
            for (int j = 0; j < V; ++j) b[j] = v::load_aligned(k + j * table::lanes);
#pragma GCC unroll 6
            for (int i = 0; i < r; ++i) {
                v const x(q[i * table::chunk]);
#pragma GCC unroll 4
                for (int j = 0; j < V; ++j) c[i][j] = multiply_add<A, T>(x, b[j], c[i][j]);
            }
            k += table::panel;
            ++q;
        }
        q += (r - 1) * table::chunk;
    }
}

// Slots past the last key: -inf, whatever was packed there.
template <class A, int V, class T>
[[gnu::always_inline]] inline void hide_tail(accumulators<T, A, V>& c, int keys) noexcept {
    using table = tiles<T, A>;
    using v = vec<T, A>;
    alignas(64) T lane[table::lanes];
    for (int u = 0; u < table::lanes; ++u) lane[u] = static_cast<T>(u);
    v const index = v::load_aligned(lane);
#pragma GCC unroll 4
    for (int j = 0; j < V; ++j) {
        auto const live = index < v(static_cast<T>(keys - j * table::lanes));
#pragma GCC unroll 6
        for (int i = 0; i < table::rows; ++i) c[i][j] = xsimd::select(live, c[i][j], v(hidden_score<T>));
    }
}

template <class A, int V, class T>
[[gnu::always_inline]] inline void store_tile(accumulators<T, A, V> const& c, T* to, std::ptrdiff_t stride) noexcept {
#pragma GCC unroll 6
    for (int i = 0; i < tiles<T, A>::rows; ++i)
#pragma GCC unroll 4
        for (int j = 0; j < V; ++j) c[i][j].store_aligned(to + i * stride + j * tiles<T, A>::lanes);
}

// q k of one tile, from 0, with the slots past the last key hidden.
template <class A, int V, bool Sweep, class T>
[[gnu::always_inline]] inline void scores(accumulators<T, A, V>& c, score_task<T> const& task, int tile, int column,
                                          T const* old) noexcept {
    using table = tiles<T, A>;
#pragma GCC unroll 6
    for (int i = 0; i < table::rows; ++i)
#pragma GCC unroll 4
        for (int j = 0; j < V; ++j) c[i][j] = vec<T, A>(T(0));
    T const* const ahead = task.next_keys + std::ptrdiff_t{tile} * task.depth * table::panel / table::block_tiles;
    multiply<A, V, Sweep, T>(c, task.queries + std::ptrdiff_t{tile} * table::rows * task.depth, task.keys + column,
                             task.depth, reinterpret_cast<char const*>(ahead), reinterpret_cast<char const*>(old));
    int const keys = task.keys_in_panel - column;
    if (keys < V * table::lanes) [[unlikely]]
        hide_tail<A, V, T>(c, keys);
}

// Column sums of the tile of exponentials at `old`, which is about to be overwritten: the lines must be fetched for the
// store anyway. Called while the scores are in registers, before the exponentials need theirs.
template <class A, int V, class T>
[[gnu::always_inline]] inline void sweep_tile(score_task<T> const& task, int first, int column, T const* old) noexcept {
    using table = tiles<T, A>;
    using v = vec<T, A>;
    T* const sums = task.column_sums + column;
    v s[V];
#pragma GCC unroll 4
    for (int j = 0; j < V; ++j) s[j] = v::load_aligned(sums + j * table::lanes);
#pragma GCC unroll 6
    for (int i = 0; i < table::rows; ++i) {
        v const weight(task.sweep_weights[first + i]);
#pragma GCC unroll 4
        for (int j = 0; j < V; ++j)
            s[j] = multiply_add<A, T>(weight, v::load_aligned(old + i * table::panel + j * table::lanes), s[j]);
    }
#pragma GCC unroll 4
    for (int j = 0; j < V; ++j) s[j].store_aligned(sums + j * table::lanes);
}

// Raw scores of one tile to [rows][stride]: what a policy works on before finish_tile. With Sweep, the exponentials of that
// tile in `block` are swept first.
template <class A, int V, bool Sweep, class T>
[[gnu::noinline]] void raw_tile(query_block<T> const& block, score_task<T> const& task, int tile, int column, T* to,
                                std::ptrdiff_t stride) noexcept {
    using table = tiles<T, A>;
    int const first = tile * table::rows;
    accumulators<T, A, V> c;
    if constexpr (Sweep) {
        T const* const old =
            block.exponentials + task.panel * block.panel_stride + std::ptrdiff_t{first} * table::panel + column;
        scores<A, V, true, T>(c, task, tile, column, old + 4 * table::rows * table::panel);
        sweep_tile<A, V, T>(task, first, column, old);
    } else {
        scores<A, V, false, T>(c, task, tile, column, nullptr); // there may be no exponentials at all
    }
    store_tile<A, V, T>(c, to, stride);
}

// Rare: scores to memory, where finish_tile can look at them twice.
template <class A, int V, bool Moment, class T>
[[gnu::noinline, gnu::cold]] void redo_tile(query_block<T> const& block, score_task<T> const& task, int tile,
                                            int column) noexcept {
    using table = tiles<T, A>;
    alignas(64) T scratch[table::rows * V * table::lanes];
    raw_tile<A, V, false, T>(block, task, tile, column, scratch, V * table::lanes);
    finish_tile<A, Moment, T>(block, {tile, task.panel, column}, V, scratch, V * table::lanes);
}

// Scores, exponentials, row sums; before that, with Sweep, the column sums of the exponentials that will be overwritten.
template <class A, int V, bool Sweep, bool Moment, class T>
[[gnu::noinline]] void fused_tile(query_block<T> const& block, score_task<T> const& task, int tile,
                                  int column) noexcept {
    using table = tiles<T, A>;
    using v = vec<T, A>;
    constexpr int r = table::rows;
    constexpr int w = table::lanes;
    int const first = tile * r;
    T* const to = block.exponentials + task.panel * block.panel_stride + std::ptrdiff_t{first} * table::panel + column;
    accumulators<T, A, V> c;
    scores<A, V, Sweep, T>(c, task, tile, column, to + block.panel_stride);
    if constexpr (Sweep) sweep_tile<A, V, T>(task, first, column, to);
    tile_state const state = block.states[tile];
    if (state == tile_state::fresh || state == tile_state::hot) [[unlikely]] {
        alignas(64) T scratch[r * V * w];
        store_tile<A, V, T>(c, scratch, V * w);
        finish_tile<A, Moment, T>(block, {tile, task.panel, column}, V, scratch, V * w);
        return;
    }
    if (state == tile_state::shifted) {
#pragma GCC unroll 6
        for (int i = 0; i < r; ++i) {
            v const m(block.reference[first + i]);
#pragma GCC unroll 4
            for (int j = 0; j < V; ++j) c[i][j] = c[i][j] - m;
        }
    }
    v a[r], t[r];
#pragma GCC unroll 6
    for (int i = 0; i < r; ++i) {
        if constexpr (Moment) t[i] = v(T(0));
#pragma GCC unroll 4
        for (int j = 0; j < V; ++j) {
            v const e = pow2<A, T>(c[i][j]);
            a[i] = j ? a[i] + e : e;
            if constexpr (Moment) t[i] = add_moment<A, T>(t[i], e, c[i][j]);
            e.store_aligned(to + i * table::panel + j * w);
        }
    }
    // One test per tile, after the fact. Row by row, because a maximum over rows could hide one behind another's NaN.
    auto high = a[0] > v(raise_above<T>);
#pragma GCC unroll 6
    for (int i = 1; i < r; ++i) high = high | (a[i] > v(raise_above<T>));
    if (xsimd::any(high)) [[unlikely]] {
        redo_tile<A, V, Moment, T>(block, task, tile, column);
        return;
    }
#pragma GCC unroll 6
    for (int i = 0; i < r; ++i) {
        T* const sums = block.sums + std::ptrdiff_t{first + i} * w;
        (v::load_aligned(sums) + a[i]).store_aligned(sums);
        if constexpr (Moment) {
            T* const moments = block.moments + std::ptrdiff_t{first + i} * w;
            (v::load_aligned(moments) + t[i]).store_aligned(moments);
        }
    }
    if (block.marks) {
        T* const mark = block.marks + task.panel * block.mark_stride + first;
#pragma GCC unroll 6
        for (int i = 0; i < r; ++i) mark[i] = block.reference[first + i];
    }
}

// Probabilities of a second sweep: e = 2^(score - lse2[row]); for rows without a visible key pass lse2 = +inf.
template <class A, int V, class T>
[[gnu::noinline]] void known_tile(query_block<T> const& block, score_task<T> const& task, int tile, int column,
                                  T const* lse2) noexcept {
    using table = tiles<T, A>;
    using v = vec<T, A>;
    int const first = tile * table::rows;
    T* const to = block.exponentials + task.panel * block.panel_stride + std::ptrdiff_t{first} * table::panel + column;
    accumulators<T, A, V> c;
    scores<A, V, false, T>(c, task, tile, column, nullptr);
#pragma GCC unroll 6
    for (int i = 0; i < table::rows; ++i) {
        v const m(lse2[first + i]);
#pragma GCC unroll 4
        for (int j = 0; j < V; ++j) pow2<A, T>(c[i][j] - m).store_aligned(to + i * table::panel + j * table::lanes);
    }
}

// How a panel is cut: whole, or vector by vector when at least one vector of it is empty.
template <class A, class T>
[[nodiscard]] constexpr bool whole_panel(int keys_in_panel) noexcept {
    return keys_in_panel > tiles<T, A>::panel - tiles<T, A>::lanes;
}

template <class A, bool Sweep, bool Moment, class T>
void fused_panel(query_block<T> const& block, score_task<T> const& task) noexcept {
    using table = tiles<T, A>;
    for (int tile = task.tile_begin; tile < task.tile_end; ++tile) {
        if (whole_panel<A, T>(task.keys_in_panel))
            fused_tile<A, table::vectors, Sweep, Moment, T>(block, task, tile, 0);
        else
            for (int column = 0; column < task.keys_in_panel; column += table::lanes)
                fused_tile<A, 1, Sweep, Moment, T>(block, task, tile, column);
    }
}

template <class A, class T>
void known_panel(query_block<T> const& block, score_task<T> const& task, T const* lse2) noexcept {
    using table = tiles<T, A>;
    for (int tile = task.tile_begin; tile < task.tile_end; ++tile) {
        if (whole_panel<A, T>(task.keys_in_panel))
            known_tile<A, table::vectors, T>(block, task, tile, 0, lse2);
        else
            for (int column = 0; column < task.keys_in_panel; column += table::lanes)
                known_tile<A, 1, T>(block, task, tile, column, lse2);
    }
}

// Raw scores of one row tile and the whole panel to [rows][tiles::panel]; slots past the last key, up to a whole vector, are -inf.
template <class A, bool Sweep, class T>
void raw_panel(query_block<T> const& block, score_task<T> const& task, int tile, T* to) noexcept {
    using table = tiles<T, A>;
    if (whole_panel<A, T>(task.keys_in_panel))
        raw_tile<A, table::vectors, Sweep, T>(block, task, tile, 0, to, table::panel);
    else
        for (int column = 0; column < task.keys_in_panel; column += table::lanes)
            raw_tile<A, 1, Sweep, T>(block, task, tile, column, to + column, table::panel);
}

// The counterpart for scores that a policy has changed: cut as the fused panel is, so that both give the same bits.
template <class A, bool Moment, class T>
void finish_panel(query_block<T> const& block, int tile, int panel, int keys_in_panel, T const* scores) noexcept {
    using table = tiles<T, A>;
    if (whole_panel<A, T>(keys_in_panel))
        finish_tile<A, Moment, T>(block, {tile, panel, 0}, table::vectors, scores, table::panel);
    else
        for (int column = 0; column < keys_in_panel; column += table::lanes)
            finish_tile<A, Moment, T>(block, {tile, panel, column}, 1, scores + column, table::panel);
}

} // namespace basin::detail::simd
