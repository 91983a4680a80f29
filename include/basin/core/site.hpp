// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include <basin/detail/compiler.hpp>

#include <cstdint>

// -ffast-math and -ffinite-math-only delete the infinities that say "this key is hidden".
#if defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__
#error "basin needs infinities and NaN: compile without -ffast-math and -ffinite-math-only"
#endif

namespace basin {

/// Positions and counts. Offsets and strides are std::ptrdiff_t.
using index_t = std::int32_t;

/// Where a query meets a key. `query` and `key` are *positions in the text* (see options), never places in memory:
/// a policy gives the same answer whether a text is computed whole, in blocks, or from a cache. `head` is the query
/// head; `batch` counts texts. With `Lane` = index_t this is one pair; kernels also ask for many keys at once.
template <class Lane = index_t>
struct basic_site {
    index_t batch, head;
    /// Positions in the text.
    Lane query, key;
};
/// One pair of a query and a key.
using site = basic_site<>;

/// What a sink in the denominator may depend on.
struct head_site {
    index_t batch, head, key_value_head;
};

/// One element of the value of a key, as a query head reads it.
struct value_site {
    /// The text, the query head, the key's position and the element of its value.
    index_t batch, head, key, channel;
};

/// A rectangle of positions: half-open, never empty.
struct tile {
    index_t batch, head, query_begin, query_end, key_begin, key_end;
};

/// What a tile may see: nothing, something, everything. Only about visibility: scores still run on `all` tiles.
enum class coverage : std::uint8_t { none, some, all };

/// The coverage of both, of either and of neither of two masks: what holds for a tile whatever its pairs do.
constexpr coverage meet(coverage a, coverage b) {
    return a == coverage::none || b == coverage::none ? coverage::none
           : a == coverage::all                       ? b
           : b == coverage::all                       ? a
                                                      : coverage::some;
}
/// The coverage of the opposite mask.
constexpr coverage complement(coverage a) {
    return a == coverage::none ? coverage::all : a == coverage::all ? coverage::none : coverage::some;
}
/// The coverage of either of two masks.
constexpr coverage join(coverage a, coverage b) { return complement(meet(complement(a), complement(b))); }

} // namespace basin
