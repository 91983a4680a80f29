// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

// Copies of queries, keys and values in the order the tiles read them, widened to the accumulation type on the way.
// Values and queries also say whether everything packed was finite (x * 0 summed: one instruction per vector).
//
//   keys     [panel][channel][tiles::panel], times a factor; channels padded to a multiple of tiles::chunk, slots past the
//            last key 0
//   values   [column group][key][group columns]: groups of tiles::panel columns, the last one rounded up to whole vectors.
//            Whole rows of 512 bytes would compete for the same sets of the first-level cache.
//   queries  [row tile][chunk][row][channel in chunk], rows padded to whole tiles and channels to whole chunks, with 0

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "tiles.hpp"

namespace basin::detail::simd {

// Rows of a matrix in memory. With a list, slot j is row list[j]: hidden keys are simply not in it.
template <class S>
struct row_source {
    S const* data;
    std::ptrdiff_t row_stride, channel_stride;
    std::int32_t const* list; // or null: slot j is row j

    [[nodiscard, gnu::always_inline]] S const* row(std::ptrdiff_t slot) const noexcept {
        return data + (list ? list[slot] : slot) * row_stride;
    }
};

// The load functor for storage that is already of the accumulation type; lets unit-stride rows be read as vectors.
struct load_same {
    template <class T>
    [[gnu::always_inline]] constexpr T operator()(T x) const noexcept {
        return x;
    }
};

// Channels [c, c + lanes) of a row, those past `depth` as 0: any stride, any storage. Not inlined: pack_keys would repeat
// these loops for every register, at a second of compile time.
template <class A, class T, class S, class Load>
[[gnu::noinline]] void gather_channels(S const* row, std::ptrdiff_t stride, int c, int depth, Load const& load,
                                       T* lane) noexcept {
    constexpr int w = tiles<T, A>::lanes;
    int const n = depth - c < w ? depth - c : w;
    if (n == w && stride == 1)
        for (int u = 0; u < w; ++u) lane[u] = load(row[c + u]);
    else
        for (int u = 0; u < w; ++u) lane[u] = u < n ? load(row[(c + u) * stride]) : T(0);
}

// The same as a vector, read directly where the storage allows.
template <class A, class T, class S, class Load>
[[gnu::always_inline]] inline vec<T, A> load_channels(S const* row, std::ptrdiff_t stride, int c, int depth,
                                                      Load const& load) noexcept {
    using v = vec<T, A>;
    constexpr int w = tiles<T, A>::lanes;
    if constexpr (std::is_same_v<S, T> && std::is_same_v<Load, load_same>)
        if (stride == 1 && c + w <= depth) [[likely]]
            return v::load_unaligned(row + c);
    if constexpr (std::is_same_v<T, float> && (std::is_same_v<S, half> || std::is_same_v<S, bfloat16>))
        if (stride == 1 && c + w <= depth) [[likely]]
            return widen<A, S>(row + c);
    alignas(64) T lane[w];
    gather_channels<A, T>(row, stride, c, depth, load, lane);
    return v::load_aligned(lane);
}

// lanes elements side by side, as numbers of the accumulation type.
template <class A, class T, class S, class Load>
[[gnu::always_inline]] inline vec<T, A> load_vector(S const* from, Load const& load) noexcept {
    if constexpr (std::is_same_v<S, T>) {
        return vec<T, A>::load_unaligned(from);
    } else if constexpr (std::is_same_v<T, float> && (std::is_same_v<S, half> || std::is_same_v<S, bfloat16>)) {
        return widen<A, S>(from);
    } else {
        constexpr int w = tiles<T, A>::lanes;
        alignas(64) T lane[w];
        for (int u = 0; u < w; ++u) lane[u] = load(from[u]);
        return vec<T, A>::load_aligned(lane);
    }
}

// lanes slots from `slot` by lanes channels from c: any stride, any list; what lies beyond is 0. Not inlined: pack_keys
// would repeat these loops for every register, at a second of compile time.
template <class A, class T, class S, class Load>
[[gnu::noinline]] void gather_block(row_source<S> const& source, std::ptrdiff_t slot, int slots, int c, int depth,
                                    Load const& load, T* to) noexcept {
    constexpr int w = tiles<T, A>::lanes;
    for (int i = 0; i < w; ++i)
        for (int u = 0; u < w; ++u)
            to[i * w + u] =
                i < slots && c + u < depth ? load(source.row(slot + i)[(c + u) * source.channel_stride]) : T(0);
}

template <class A, class T>
[[nodiscard]] inline bool all_zero(vec<T, A> const& residue) noexcept {
    return xsimd::all(residue == vec<T, A>(T(0)));
}

// Keys of the slots [first, first + count) into consecutive panels from `to`; a panel takes padded depth * tiles::panel elements.
template <class A, class T, class S, class Load>
[[gnu::noinline]] void pack_keys(row_source<S> const& source, std::ptrdiff_t first, int count, int depth, T factor,
                                 Load const& load, T* to) noexcept {
    using table = tiles<T, A>;
    using v = vec<T, A>;
    constexpr int w = table::lanes;
    int const padded = round_up(depth, table::chunk);
    v const scale(factor);
    for (int k = 0; k < count; k += table::panel, to += std::ptrdiff_t{padded} * table::panel)
        for (int j = 0; j < table::panel; j += w)
            for (int c = 0; c < padded; c += w) {
                // Constant indices only: an index known at run time would put r into memory.
                v r[w];
                int const n = count - k - j;
                if (n >= w && source.channel_stride == 1 && c + w <= depth) [[likely]] {
#pragma GCC unroll 16
                    for (int i = 0; i < w; ++i) {
                        S const* const row = source.row(first + k + j + i) + c;
                        // Rows are far apart: the machine's own prefetchers do not see that the next ones follow.
                        prefetch<A>(row + w * source.row_stride);
                        r[i] = scale * load_vector<A, T>(row, load);
                    }
                } else {
                    alignas(64) T lane[w * w];
                    gather_block<A, T>(source, first + k + j, n, c, depth, load, lane);
#pragma GCC unroll 16
                    for (int i = 0; i < w; ++i) r[i] = scale * v::load_aligned(lane + i * w);
                }
                transpose_square<A, T>(r);
                T* const at = to + std::ptrdiff_t{c} * table::panel + j;
                int const live = padded - c;
#pragma GCC unroll 16
                for (int i = 0; i < w; ++i)
                    if (i < live) r[i].store_aligned(at + i * table::panel);
            }
}

// Elements of one key in column group `group` of `width` value columns.
template <class A, class T>
[[nodiscard]] constexpr int group_columns(int width, int group) noexcept {
    int const left = round_up(width - group * tiles<T, A>::panel, tiles<T, A>::lanes);
    return left < tiles<T, A>::panel ? left : tiles<T, A>::panel;
}

// Values of the slots [first, first + count): group g goes to `to + g * group_stride`, key by key. A whole number of key
// blocks may share one group_stride; call it per key block to learn which blocks need the careful variant.
template <class A, class T, class S, class Load>
[[gnu::noinline]] bool pack_values(row_source<S> const& source, std::ptrdiff_t first, int count, int width,
                                   Load const& load, T* to, std::ptrdiff_t group_stride) noexcept {
    using table = tiles<T, A>;
    using v = vec<T, A>;
    v residue(T(0));
    for (int g = 0; g * table::panel < width; ++g) {
        int const columns = group_columns<A, T>(width, g);
        T* at = to + g * group_stride;
        for (int k = 0; k < count; ++k, at += columns) {
            S const* const row = source.row(first + k);
            for (int c = 0; c < columns; c += table::lanes) {
                v const x = load_channels<A, T>(row, source.channel_stride, g * table::panel + c, width, load);
                residue = multiply_add<A, T>(x, v(T(0)), residue);
                x.store_aligned(at + c);
            }
        }
    }
    return all_zero<A, T>(residue);
}

// May the values be read where they are? Same type, one whole column group, rows back to back, no list.
template <class A, class T, class S>
[[nodiscard]] constexpr bool values_in_place(row_source<S> const& source, int width) noexcept {
    return std::is_same_v<S, T> && !source.list && source.channel_stride == 1 && width == tiles<T, A>::panel &&
           source.row_stride == width;
}

// Is every value of the slots [first, first + count) finite? For values read in place.
template <class A, class T>
[[gnu::noinline]] bool finite_values(row_source<T> const& source, std::ptrdiff_t first, int count, int width) noexcept {
    using v = vec<T, A>;
    v residue(T(0));
    for (int k = 0; k < count; ++k)
        for (int c = 0; c < width; c += tiles<T, A>::lanes)
            residue = multiply_add<A, T>(
                load_channels<A, T>(source.row(first + k), source.channel_stride, c, width, load_same{}), v(T(0)),
                residue);
    return all_zero<A, T>(residue);
}

// Queries of the slots [first, first + count) into whole row tiles; each takes tiles::rows * padded depth elements.
template <class A, class T, class S, class Load>
[[gnu::noinline]] bool pack_queries(row_source<S> const& source, std::ptrdiff_t first, int count, int depth,
                                    Load const& load, T* to) noexcept {
    using table = tiles<T, A>;
    constexpr int chunk = table::chunk;
    int const padded = round_up(depth, chunk);
    vec<T, A> const zero(T(0));
    vec<T, A> residue = zero;
    for (int r = 0; r < round_up(count, table::rows); ++r) {
        T* at = to + std::ptrdiff_t{r / table::rows} * table::rows * padded + r % table::rows * chunk;
        constexpr int next = table::rows * chunk;
        if (r >= count) {
            for (int c = 0; c < padded; c += chunk, at += next)
                for (int u = 0; u < chunk; ++u) at[u] = T(0);
            continue;
        }
        S const* const row = source.row(first + r);
        int c = 0;
        if constexpr (std::is_same_v<S, T> && std::is_same_v<Load, load_same>) {
            constexpr int step = table::lanes < chunk ? chunk : table::lanes;
            if (source.channel_stride == 1)
                for (; c + step <= depth; c += step) {
                    for (int u = 0; u < step; u += table::lanes)
                        residue = multiply_add<A, T>(vec<T, A>::load_unaligned(row + c + u), zero, residue);
                    for (int u = 0; u < step; u += chunk, at += next) std::memcpy(at, row + c + u, sizeof(T) * chunk);
                }
        } else if constexpr (table::lanes >= chunk) {
            alignas(64) T lane[table::lanes];
            if (source.channel_stride == 1)
                for (; c + table::lanes <= depth; c += table::lanes) {
                    vec<T, A> const x = load_channels<A, T>(row, 1, c, depth, load);
                    residue = multiply_add<A, T>(x, zero, residue);
                    x.store_aligned(lane);
                    for (int u = 0; u < table::lanes; u += chunk, at += next)
                        std::memcpy(at, lane + u, sizeof(T) * chunk);
                }
        }
        T rest = T(0);
        for (; c < padded; c += chunk, at += next)
            for (int u = 0; u < chunk; ++u) {
                at[u] = c + u < depth ? load(row[(c + u) * source.channel_stride]) : T(0);
                rest += at[u] * T(0);
            }
        residue = residue + vec<T, A>(rest);
    }
    return all_zero<A, T>(residue);
}

} // namespace basin::detail::simd
