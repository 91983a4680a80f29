// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

// From scores in memory to exponentials, row sums and references: what runs after a policy has changed the scores of a
// tile, and the careful half of the fused tile (score_tile.hpp), bit for bit the same.

#include "query_block.hpp"

namespace basin::detail::simd {

// Where in the current key block a tile lies.
struct tile_place {
    int tile;   // row tile in the query block
    int panel;  // panel in the key block
    int column; // first column in the panel, a multiple of lanes; not 0 only in a short last panel
};

// Sum of e * t: a hidden key has e = 0 and t = -inf, whose product must be 0.
template <class A, class T>
[[gnu::always_inline]] inline vec<T, A> add_moment(vec<T, A> const& sum, vec<T, A> const& e,
                                                   vec<T, A> const& t) noexcept {
    return multiply_add<A, T>(e, at_least<A, T>(t, vec<T, A>(T(2) * exp2_table<T>::low)), sum);
}

template <class T, class A>
struct row_sums {
    vec<T, A> sum, moment;
};

// One row of `vectors` vectors against reference m. The order of additions is that of the fused tile.
template <class A, bool Moment, class T>
[[gnu::always_inline]] inline row_sums<T, A> exponentiate(T const* scores, T* to, int vectors, T m) noexcept {
    using v = vec<T, A>;
    constexpr int w = tiles<T, A>::lanes;
    v const reference(m);
    v t = v::load_aligned(scores) - reference;
    v e = pow2<A, T>(t);
    e.store_aligned(to);
    row_sums<T, A> out{e, v(T(0))};
    if constexpr (Moment) out.moment = add_moment<A, T>(out.moment, e, t);
    for (int j = 1; j < vectors; ++j) {
        t = v::load_aligned(scores + j * w) - reference;
        e = pow2<A, T>(t);
        e.store_aligned(to + j * w);
        out.sum = out.sum + e;
        if constexpr (Moment) out.moment = add_moment<A, T>(out.moment, e, t);
    }
    return out;
}

template <class A, class T>
[[gnu::always_inline]] inline vec<T, A> lane_maxima(T const* scores, int vectors) noexcept {
    using v = vec<T, A>;
    v best = v::load_aligned(scores);
    for (int j = 1; j < vectors; ++j) {
        v const x = v::load_aligned(scores + j * tiles<T, A>::lanes);
        best = xsimd::select(x > best, x, best); // xsimd::max changed its mind about NaN, and g++ 12 warns inside it
    }
    return best;
}

// What a tile of whole rows needs when nothing is out of the ordinary, and whether that was so: if not, nothing but exponentials has
// been written. One test for all rows, and rows whose exponentials overlap.
template <class A, bool Moment, class T>
[[gnu::always_inline]] inline bool finish_whole_tile(query_block<T> const& block, int first, T const* scores,
                                                     std::ptrdiff_t stride, T* to) noexcept {
    using table = tiles<T, A>;
    using v = vec<T, A>;
    row_sums<T, A> out[table::rows];
#pragma GCC unroll 6
    for (int i = 0; i < table::rows; ++i)
        out[i] = exponentiate<A, Moment, T>(scores + i * stride, to + i * table::panel, table::vectors,
                                            block.reference[first + i]);
    auto high = out[0].sum > v(raise_above<T>);
#pragma GCC unroll 6
    for (int i = 1; i < table::rows; ++i) high = high | (out[i].sum > v(raise_above<T>));
    if (xsimd::any(high)) [[unlikely]]
        return false;
#pragma GCC unroll 6
    for (int i = 0; i < table::rows; ++i) {
        T* const sums = block.sums + std::ptrdiff_t{first + i} * table::lanes;
        (v::load_aligned(sums) + out[i].sum).store_aligned(sums);
        if constexpr (Moment) {
            T* const moments = block.moments + std::ptrdiff_t{first + i} * table::lanes;
            (v::load_aligned(moments) + out[i].moment).store_aligned(moments);
        }
    }
    return true;
}

// The same for a tile of which no row has started, as in the first panel of every text: whether all could start with reference 0.
// If not, nothing has been written.
template <class A, bool Moment, class T>
[[gnu::always_inline]] inline bool start_whole_tile(query_block<T> const& block, int first, T const* scores,
                                                    std::ptrdiff_t stride, T* to) noexcept {
    using table = tiles<T, A>;
    using v = vec<T, A>;
    T* const sums = block.sums + std::ptrdiff_t{first} * table::lanes;
    v gathered = v::load_aligned(sums);
    v best = lane_maxima<A, T>(scores, table::vectors);
    auto far = best > v(start_within<T>), near = best >= v(-start_within<T>);
#pragma GCC unroll 6
    for (int i = 1; i < table::rows; ++i) {
        gathered = gathered + v::load_aligned(sums + i * table::lanes); // of exponentials: 0 only if all are
        best = lane_maxima<A, T>(scores + i * stride, table::vectors);
        far = far | (best > v(start_within<T>));
        near = near & (best >= v(-start_within<T>));
    }
    // A lane in which every row has something near 0: then no row's maximum is far below.
    if (xsimd::any(far) || !xsimd::any(near) || !xsimd::all(gathered == v(T(0)))) return false;
#pragma GCC unroll 6
    for (int i = 0; i < table::rows; ++i) {
        row_sums<T, A> const out =
            exponentiate<A, Moment, T>(scores + i * stride, to + i * table::panel, table::vectors, T(0));
        out.sum.store_aligned(sums + i * table::lanes);
        if constexpr (Moment) out.moment.store_aligned(block.moments + std::ptrdiff_t{first + i} * table::lanes);
    }
    return true;
}

// scores: [rows][stride], log2 units, absolute (no reference taken off), -inf = hidden; `vectors` whole vectors, slots
// beyond the last key hold -inf. They must not overlap the exponentials, which are written to their place in `block`.
// A row whose scores are all -inf stays as it was, with exponentials 0. A NaN or +inf score makes that row NaN.
template <class A, bool Moment, class T>
[[gnu::noinline]] void finish_tile(query_block<T> const& block, tile_place at, int vectors, T const* scores,
                                   std::ptrdiff_t stride) noexcept {
    using table = tiles<T, A>;
    using v = vec<T, A>;
    int const first = at.tile * table::rows;
    T* to = block.exponentials + at.panel * block.panel_stride + std::ptrdiff_t{first} * table::panel + at.column;
    bool const fresh = block.states[at.tile] == tile_state::fresh;
    bool waiting = false, raised = false, shifted = false;
    // Where maxima keep rising the attempt would be for nothing.
    bool const calm = !fresh && block.states[at.tile] != tile_state::hot;
    bool const done =
        vectors == table::vectors && ((calm && finish_whole_tile<A, Moment, T>(block, first, scores, stride, to)) ||
                                      (fresh && start_whole_tile<A, Moment, T>(block, first, scores, stride, to)));
    for (int i = 0; i < table::rows && !done; ++i, scores += stride, to += table::panel) {
        int const row = first + i;
        T* const sums = block.sums + std::ptrdiff_t{row} * table::lanes;
        bool const started = !fresh || !xsimd::all(v::load_aligned(sums) == v(T(0)));
        if (!started) {
            v const best = lane_maxima<A, T>(scores, vectors);
            // |row maximum| > start_within, without a horizontal maximum unless it is so
            if (xsimd::any(best > v(start_within<T>)) || xsimd::all(best < v(-start_within<T>))) {
                T const top = max_lanes<A, T>(best);
                if (top > hidden_score<T>) block.reference[row] = ceiling<A, T>(top);
            }
        }
        row_sums<T, A> out = exponentiate<A, Moment, T>(scores, to, vectors, block.reference[row]);
        if (started && xsimd::any(out.sum > v(raise_above<T>))) {
            T const top = ceiling<A, T>(max_lanes<A, T>(lane_maxima<A, T>(scores, vectors)));
            raise_row<A, T>(block, row, top, at.panel, at.column);
            out = exponentiate<A, Moment, T>(scores, to, vectors, top);
            raised = true;
        }
        v const sum = v::load_aligned(sums) + out.sum;
        sum.store_aligned(sums);
        if constexpr (Moment) {
            T* const moments = block.moments + std::ptrdiff_t{row} * table::lanes;
            (v::load_aligned(moments) + out.moment).store_aligned(moments);
        }
        if (fresh) {
            waiting = waiting || xsimd::all(sum == v(T(0)));
            shifted = shifted || !(block.reference[row] == T(0));
            raised = raised || block.reference[row] > start_hot<T> || block.reference[row] < -start_hot<T>;
        }
    }
    if (fresh && !waiting)
        block.states[at.tile] = raised ? tile_state::hot : shifted ? tile_state::shifted : tile_state::plain;
    else if (!fresh && raised)
        block.states[at.tile] = tile_state::hot;
    if (block.marks) {
        T* const mark = block.marks + at.panel * block.mark_stride + first;
        for (int i = 0; i < table::rows; ++i) mark[i] = block.reference[first + i];
    }
}

// Probabilities with a known final log-sum-exp (log2 units): e = 2^(score - lse2[row]), row = tile * rows + i.
// For rows without a visible key pass lse2 = +inf, which gives 0.
template <class A, class T>
[[gnu::noinline]] void finish_known(query_block<T> const& block, tile_place at, int vectors, T const* scores,
                                    std::ptrdiff_t stride, T const* lse2) noexcept {
    using table = tiles<T, A>;
    int const first = at.tile * table::rows;
    T* to = block.exponentials + at.panel * block.panel_stride + std::ptrdiff_t{first} * table::panel + at.column;
    for (int i = 0; i < table::rows; ++i, scores += stride, to += table::panel)
        exponentiate<A, false, T>(scores, to, vectors, lse2[first + i]);
}

// A tile nobody sees in a key block that others see: its exponentials must read as 0.
template <class A, class T>
[[gnu::noinline]] void clear_tile(query_block<T> const& block, tile_place at, int vectors) noexcept {
    using table = tiles<T, A>;
    int const first = at.tile * table::rows;
    T* to = block.exponentials + at.panel * block.panel_stride + std::ptrdiff_t{first} * table::panel + at.column;
    for (int i = 0; i < table::rows; ++i, to += table::panel)
        for (int j = 0; j < vectors; ++j) vec<T, A>(T(0)).store_aligned(to + j * table::lanes);
    if (block.marks) {
        T* const mark = block.marks + at.panel * block.mark_stride + first;
        for (int i = 0; i < table::rows; ++i) mark[i] = block.reference[first + i];
    }
}

} // namespace basin::detail::simd
