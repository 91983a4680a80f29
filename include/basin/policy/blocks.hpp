// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include <basin/core/policy.hpp>

namespace basin {
namespace detail {
inline void check_block_size(char const* policy_name, index_t size) {
    if (size < 1) fail<argument_error>(policy_name, ": the block size is ", size, "; it must be at least 1");
}
} // namespace detail

/// The text is cut into blocks of `size` tokens; a query sees its own block and nothing else.
struct blocks {
    using lanes = supported;
    /// Tokens of a block.
    index_t size = 1;

    // The block's borders, not its number: one division per row (s.query is the same in all lanes) instead of one per key.
    template <class Lane>
    auto visible(basic_site<Lane> const& s) const {
        auto const begin = s.query - s.query % Lane(size);
        return s.key >= begin && s.key - begin < Lane(size); // a difference: a sum could pass the largest index
    }
    constexpr coverage cover(tile const& t) const {
        index_t const first_query = t.query_begin / size, last_query = (t.query_end - 1) / size;
        index_t const first_key = t.key_begin / size, last_key = (t.key_end - 1) / size;
        if (last_key < first_query || first_key > last_query) return coverage::none;
        return first_query == last_query && first_key == last_key ? coverage::all : coverage::some;
    }
    blocks bind(shape_facts const&) const {
        detail::check_block_size("blocks", size);
        return *this;
    }
};

} // namespace basin
