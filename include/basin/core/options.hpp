// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include <basin/core/lift.hpp>

namespace basin {

/// Where tokens stand in their text: the position of the first one, or a list, (token) or (batch, token). The default is
/// 0, 1, 2, ... Nothing is aligned silently: PyTorch would align a causal rectangle to the top left, FlashAttention to
/// the bottom right; here a block of queries says where it begins.
class positions {
public:
    positions() = default;
    positions(index_t first) : first_(first) {} // NOLINT: options{.query_position = 32}
    template <class Array>
        requires(detail::array_like<std::remove_cvref_t<Array>> && !std::is_arithmetic_v<std::remove_cvref_t<Array>>)
    positions(Array&& list) { // NOLINT: options{.query_position = scattered}
        static_assert(detail::outlives_call<Array>, "basin: positions borrow their list: keep it in a variable");
        auto const x = detail::describe(list, "positions");
        constexpr bool fits = std::is_same_v<std::remove_const_t<detail::element_of<Array>>, index_t>;
        static_assert(fits, "basin: a list of positions holds basin::index_t (32-bit)");
        if (x.rank != 1 && x.rank != 2)
            detail::fail<shape_error>("positions: a list has rank 1 (token) or 2 (batch, token), not ", x.rank);
        listed_ = true;
        if constexpr (fits)
            list_ =
                x.rank == 1
                    ? view<index_t const, 2>{x.data, {{1, x.extents[0]}}, {{0, x.strides[0]}}}
                    : view<index_t const, 2>{x.data, {{x.extents[0], x.extents[1]}}, {{x.strides[0], x.strides[1]}}};
    }

    /// Whether positions were given one by one.
    bool listed() const { return listed_; }
    /// The position of the first token of each text, where they are not listed.
    index_t first() const { return first_; }
    /// The position of every token, (batch or 1, token).
    view<index_t const, 2> list() const { return list_; }
    /// The same positions with their list elsewhere (see facet::carried).
    template <class Carrier>
    positions carried(Carrier& carrier) const {
        positions result = *this;
        if (listed_) result.list_ = carrier(list_);
        return result;
    }

private:
    index_t first_ = 0;
    bool listed_ = false;
    view<index_t const, 2> list_{};
};

/// A borrowed list of counts: one per batch entry (lengths), or the borders of packed texts (offsets).
class counts {
public:
    counts() = default;
    template <class Array>
        requires detail::array_like<std::remove_cvref_t<Array>>
    counts(Array&& list) { // NOLINT: options{.lengths = lengths}
        static_assert(detail::outlives_call<Array>, "basin: lengths and offsets are borrowed: keep them in a variable");
        auto const x = detail::describe(list, "counts");
        constexpr bool fits = std::is_same_v<std::remove_const_t<detail::element_of<Array>>, index_t>;
        static_assert(fits, "basin: lengths and offsets hold basin::index_t (32-bit)");
        if (x.rank != 1) detail::fail<shape_error>("lengths and offsets have rank 1, not ", x.rank);
        given_ = true;
        if constexpr (fits) list_ = {x.data, {{x.extents[0]}}, {{x.strides[0]}}};
    }
    bool given() const { return given_; }
    index_t size() const { return list_.extent(0); }
    index_t operator[](index_t i) const { return list_(i); }
    /// The same counts with their list elsewhere (see facet::carried).
    template <class Carrier>
    counts carried(Carrier& carrier) const {
        counts result = *this;
        if (given_) result.list_ = carrier(list_);
        return result;
    }

private:
    bool given_ = false;
    view<index_t const, 1> list_{};
};

/// How the arrays of a call are to be read. These are not masks: `padding | x` would open padded keys again.
struct options {
    /// Scores are scale * q.k; NaN, the default, means 1 / sqrt(channels).
    double scale = __builtin_nan("");
    /// Padded batches: how many tokens of each entry are real, for queries and keys alike, or apart where they differ.
    /// Padded queries have output 0 and leave the statistics.
    counts lengths{}, query_lengths{}, key_lengths{};
    /// Packed texts, one after the other in a single batch entry: n + 1 borders, the first one 0. Each text sees itself
    /// alone, its positions start again, and policies know it as batch 0 ... n - 1.
    counts offsets{}, query_offsets{}, key_offsets{};
    /// Where the first query (key) stands in its text, or where each of them does: a block of a longer text, a cache.
    positions query_position{}, key_position{};
};

} // namespace basin
