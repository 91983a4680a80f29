// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

// What one block of queries carries while it walks over the keys, and the rare step that moves a row's reference.
//
// Scores are in log2 units. Each row has a *reference* m, an integer that lags behind the row's maximum: exponentials
// are 2^(score - m), and m rises only when a partial sum passes 2^30. So there is no maximum per vector, every
// rescaling is by an exact power of two, and a row's results depend on that row alone.

#include <cmath>
#include <cstddef>
#include <limits>
#include <type_traits>

#include "exp2.hpp"
#include "tiles.hpp"

namespace basin::detail::simd {

// Of a row tile. `fresh`: some row has not met a visible key. `plain`: every reference is 0 (skip the subtraction).
// `shifted`: some is not. `hot`: a reference rose after the start, or likely will; look before the exponentials, not after.
// Which path a tile takes never changes a result, only the time.
enum class tile_state : unsigned char { fresh, plain, shifted, hot };

// Pointers into the driver's scratch, 64-byte aligned; rows are padded to whole row tiles.
template <class T>
struct query_block {
    T* reference;                 // [row] m
    T* sums;                      // [row][lanes]: lane sums of the exponentials, relative to m
    T* moments;                   // [row][lanes]: sums of e * t with t = score - m (entropy), or null
    T* output;                    // [row][output_stride]: sums of e * value, relative to m
    std::ptrdiff_t output_stride; // a multiple of lanes
    tile_state* states;           // [row tile]
    T* exponentials;              // of the current key block: [panel][row][tiles::panel]
    std::ptrdiff_t panel_stride;  // from panel to panel in `exponentials`
    T* marks;                     // [panel][row]: the reference of the stored exponentials of this key block, or null
    std::ptrdiff_t mark_stride;   // from panel to panel in `marks`
};

template <class T>
inline constexpr T hidden_score = -std::numeric_limits<T>::infinity(); // the score of a key that is not seen

// The partial sum that makes a row raise its reference, and how far from 0 a row may start without one.
template <class T>
inline constexpr T raise_above = T(1073741824); // 2^30
template <class T>
inline constexpr T start_within = T(8);
// A row that starts beyond this has scores so spread out that its reference will likely rise: its tile is `hot` at once.
template <class T>
inline constexpr T start_hot = T(48);

// Every row not started: sums, outputs and references zero. Outputs must be zeroed because values only accumulate.
template <class A, class T>
[[gnu::noinline]] void start_block(query_block<T> const& block, int rows) noexcept {
    using table = tiles<T, A>;
    int const padded = round_up(rows, table::rows);
    vec<T, A> const zero(T(0));
    for (int r = 0; r < padded; ++r) {
        block.reference[r] = T(0);
        zero.store_aligned(block.sums + std::ptrdiff_t{r} * table::lanes);
        if (block.moments) zero.store_aligned(block.moments + std::ptrdiff_t{r} * table::lanes);
        for (std::ptrdiff_t c = 0; c < block.output_stride; c += table::lanes)
            zero.store_aligned(block.output + r * block.output_stride + c);
    }
    for (int t = 0; t < padded / table::rows; ++t) block.states[t] = tile_state::fresh;
}

// What the rows of a block come to. Whole vectors: a logarithm, a division and two branches for each row would be a third of
// what short texts cost.
template <class T, class A>
struct row_results {
    static constexpr int room = round_up(tiles<T, A>::block_rows, tiles<T, A>::lanes);
    alignas(64) T sum[room];     // of the exponentials, relative to the reference
    alignas(64) T log2[room];    // of the sum
    alignas(64) T inverse[room]; // of the sum, 0 for 0
    alignas(64) T lse[room];     // natural
    alignas(64) T moment[room];  // of the scores, relative to the reference
    alignas(64) T spread[room];  // entropy
};

template <class A, bool Moment, class T>
[[gnu::noinline]] void total_rows(query_block<T> const& block, int rows, row_results<T, A>& r) noexcept {
    using v = vec<T, A>;
    constexpr int lanes = tiles<T, A>::lanes;
    constexpr T ln2 = T(0.69314718055994530942);
    int const padded = round_up(rows, lanes);
    for (int i = 0; i < rows; ++i) {
        r.sum[i] = sum_lanes<A, T>(v::load_aligned(block.sums + std::ptrdiff_t{i} * lanes));
        if constexpr (Moment) r.moment[i] = sum_lanes<A, T>(v::load_aligned(block.moments + std::ptrdiff_t{i} * lanes));
    }
    for (int i = rows; i < padded; ++i) {
        r.sum[i] = r.moment[i] = T(0);
        block.reference[i] = T(0); // there is room
    }
    if constexpr (!std::is_same_v<T, float>) {
        for (int i = 0; i < padded; ++i) r.log2[i] = std::log2(r.sum[i]);
    }
    for (int i = 0; i < padded; i += lanes) {
        v const sum = v::load_aligned(r.sum + i);
        auto const empty = sum == v(T(0));
        if constexpr (std::is_same_v<T, float>) log2_of<A>(sum).store_aligned(r.log2 + i);
        v const log2 = v::load_aligned(r.log2 + i);
        v const inverse = xsimd::select(empty, v(T(0)), v(T(1)) / sum);
        inverse.store_aligned(r.inverse + i);
        v const lse = (log2 + v::load_aligned(block.reference + i)) * v(ln2);
        xsimd::select(empty, v(hidden_score<T>), lse).store_aligned(r.lse + i);
        if constexpr (Moment) {
            v const spread = (log2 - v::load_aligned(r.moment + i) * inverse) * v(ln2);
            // a single key: rounding only
            xsimd::select(inverse == v(T(0)), v(T(0)), at_least<A, T>(spread, v(T(0)))).store_aligned(r.spread + i);
        }
    }
}

// Moves the reference of a started row to `to`: everything the row has gathered is multiplied by 2^(m - to). In the
// current key block that includes the exponentials of the earlier panels and of the columns before `column` of `panel`.
template <class A, class T>
[[gnu::noinline, gnu::cold]] void raise_row(query_block<T> const& block, int row, T to, int panel,
                                            int column) noexcept {
    using table = tiles<T, A>;
    using v = vec<T, A>;
    T const rise = to - block.reference[row];
    v const factor = pow2<A, T>(v(-rise)); // 0 when the old exponentials vanish beside the new
    auto const scale = [&](T* x, std::ptrdiff_t n) {
        for (std::ptrdiff_t i = 0; i < n; i += table::lanes) (v::load_aligned(x + i) * factor).store_aligned(x + i);
    };
    T* const sum = block.sums + std::ptrdiff_t{row} * table::lanes;
    if (block.moments) {
        T* const moment = block.moments + std::ptrdiff_t{row} * table::lanes;
        // sum of 2^-rise e (t - rise); e * rise is finite whenever the factor is not 0
        v const moved = factor * (v::load_aligned(moment) - v(rise) * v::load_aligned(sum));
        xsimd::select(factor > v(T(0)), moved, v(T(0))).store_aligned(moment);
    }
    scale(sum, table::lanes);
    scale(block.output + row * block.output_stride, block.output_stride);
    for (int k = 0; k < panel; ++k) {
        scale(block.exponentials + k * block.panel_stride + std::ptrdiff_t{row} * table::panel, table::panel);
        if (block.marks) block.marks[k * block.mark_stride + row] = to;
    }
    scale(block.exponentials + panel * block.panel_stride + std::ptrdiff_t{row} * table::panel, column);
    block.reference[row] = to;
}

} // namespace basin::detail::simd
