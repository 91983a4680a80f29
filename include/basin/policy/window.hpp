// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include <basin/core/policy.hpp>

namespace basin {

/// A neighbourhood: `before` keys to the left of the query, `after` keys to the right, and the query itself.
struct window {
    using lanes = supported;
    /// How many keys before and after itself a query sees.
    index_t before = 0, after = 0;

    template <class Lane>
    auto visible(basic_site<Lane> const& s) const {
        auto const distance =
            s.key - s.query; // not query - before: that could overflow for a window "as wide as it gets"
        return distance >= Lane(-before) && distance <= Lane(after);
    }
    constexpr coverage cover(tile const& t) const {
        index_t const lowest = t.key_begin - (t.query_end - 1); // distances in the tile
        index_t const highest = t.key_end - 1 - t.query_begin;
        if (highest < -before || lowest > after) return coverage::none;
        return lowest >= -before && highest <= after ? coverage::all : coverage::some;
    }
    window bind(shape_facts const&) const {
        if (before < 0 || after < 0)
            detail::fail<argument_error>("window: before = ", before, ", after = ", after,
                                         "; both count keys and are never negative");
        return *this;
    }
};

} // namespace basin
