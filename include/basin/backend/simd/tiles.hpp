// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

// The sizes of everything, one table per scalar and architecture. Vendor tuning is a number here, not another kernel.
//
//   row tile     `rows` queries: what one register tile holds
//   panel        `panel` keys or value columns: the width of a register tile, `vectors` registers of `lanes`
//   query block  `block_rows` queries share one trip of K and V through the caches
//   key block    `block_panels` panels: their exponentials and values stay near while the values are summed

#include <cstddef>

#include "shim.hpp"

namespace basin::detail::simd {

template <class T, class A>
struct tiles {
    static constexpr int lanes = static_cast<int>(vec<T, A>::size);
    static constexpr int rows = 6;
    // 6 x 4 accumulators + 4 + 1 need 32 registers (AVX-512, AArch64); 6 x 2 + 2 + 1 fit the 16 of AVX2 and SSE.
    static constexpr bool many_registers = has_avx512<A> || has_arch<A, xsimd::neon64>;
    static constexpr int vectors = many_registers ? 4 : 2;
    static constexpr int panel = vectors * lanes;
    // Flat from 96 to 192; 48 loses 3 to 8 points of peak once K and V come from the third-level cache.
    static constexpr int block_rows = 96;
    static constexpr int block_tiles = block_rows / rows;
    static constexpr int block_keys = 128;
    static constexpr int block_panels = block_keys / panel;
    static_assert(block_rows % rows == 0 && block_keys % panel == 0);

    // Channels are packed in chunks: queries as [row tile][chunk][row][channel], so that every offset inside a chunk
    // is a constant and the depth may be a run-time value.
    static constexpr int chunk = 4;
    static constexpr std::size_t alignment = 64;
};

// The register tile itself, V vectors wide.
template <class T, class A, int V>
using accumulators = vec<T, A>[tiles<T, A>::rows][V];

// f.template operator()<V>(column) over less than a panel of columns, a multiple of lanes: in pairs of vectors, then one by
// one. A tile that is one vector wide waits for its coefficients, which a second vector uses too.
template <class A, class T, class F>
[[gnu::always_inline]] inline void each_part(int columns, F const& f) noexcept {
    using table = tiles<T, A>;
    int column = 0;
    if constexpr (table::vectors > 2) {
        for (; column + 2 * table::lanes <= columns; column += 2 * table::lanes) f.template operator()<2>(column);
    }
    for (; column < columns; column += table::lanes) f.template operator()<1>(column);
}

// Always inlined: not a template on the architecture, so it must not become a symbol.
[[nodiscard, gnu::always_inline]] constexpr int round_up(int n, int step) noexcept {
    return (n + step - 1) / step * step;
}

} // namespace basin::detail::simd
