// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include <basin/core/policy.hpp>

namespace basin {

/// The first `length` keys, for every query: a prompt that all may see, or the kept first tokens of a streaming cache.
struct prefix {
    using lanes = supported;
    /// How many keys from the beginning everyone sees.
    index_t length = 0;

    template <class Lane>
    auto visible(basic_site<Lane> const& s) const {
        return s.key < Lane(length);
    }
    constexpr coverage cover(tile const& t) const {
        if (t.key_end <= length) return coverage::all;
        return t.key_begin >= length ? coverage::none : coverage::some;
    }
    constexpr bool hides(head_site const&, index_t key) const { return key >= length; }
    static constexpr coverage cover_unhidden(tile const&) { return coverage::all; }
    prefix bind(shape_facts const&) const {
        if (length < 0)
            detail::fail<argument_error>("prefix: length is ", length, "; it counts keys and is never negative");
        return *this;
    }
};

} // namespace basin
