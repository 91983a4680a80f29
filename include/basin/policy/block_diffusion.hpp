// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include <basin/policy/block_causal.hpp>

namespace basin {

/// Training of block diffusion: positions [0, length) hold the noisy text, [length, 2 length) the clean one. A noisy
/// block sees itself and the clean blocks before it; a clean block sees the clean blocks up to itself.
struct block_diffusion {
    using lanes = supported;
    /// Tokens of a block, and of the text: the noisy text has as many as the clean one.
    index_t size = 1, length = 0;

    template <class Lane>
    auto visible(basic_site<Lane> const& s) const {
        Lane const half(length), whole(size);
        auto const query_is_clean = s.query >= half;
        auto const key_is_clean = s.key >= half;
        auto const noisy_begin = s.query - s.query % whole;
        auto const clean_query = s.query - half;
        auto const clean_end = clean_query - clean_query % whole + whole + half; // used only where the query is clean
        return (!query_is_clean && !key_is_clean && s.key >= noisy_begin && s.key < noisy_begin + whole) ||
               (!query_is_clean && key_is_clean && s.key < noisy_begin + half) ||
               (query_is_clean && key_is_clean && s.key < clean_end);
    }
    /// Each quarter is one of the simpler masks; a tile across quarters is `some`.
    constexpr coverage cover(tile const& t) const {
        bool const clean_queries = t.query_begin >= length, clean_keys = t.key_begin >= length;
        if ((!clean_queries && t.query_end > length) || (!clean_keys && t.key_end > length)) return coverage::some;
        if (clean_queries && !clean_keys) return coverage::none;
        tile quarter = t;
        if (clean_queries) quarter.query_begin -= length, quarter.query_end -= length;
        if (clean_keys) quarter.key_begin -= length, quarter.key_end -= length;
        if (clean_queries) return block_causal{size}.cover(quarter);
        if (!clean_keys) return blocks{size}.cover(quarter);
        if ((quarter.key_end - 1) / size < quarter.query_begin / size) return coverage::all;
        return quarter.key_begin / size >= (quarter.query_end - 1) / size ? coverage::none : coverage::some;
    }
    block_diffusion bind(shape_facts const& facts) const {
        detail::check_block_size("block_diffusion", size);
        if (length < 0 || facts.keys - length > length || facts.queries - length > length) {
            detail::fail<argument_error>("block_diffusion: length is ", length, ", so positions end at ", 2 * length,
                                         ", but the call has ", facts.queries, " queries and ", facts.keys, " keys");
        }
        return *this;
    }
};

} // namespace basin
