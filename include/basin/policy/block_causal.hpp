// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include <basin/policy/blocks.hpp>

namespace basin {

/// Bidirectional inside a block of `size` tokens, causal between blocks: the shape of semi-autoregressive diffusion
/// language models, which denoise one block after the other.
struct block_causal {
    using lanes = supported;
    /// Tokens of a block.
    index_t size = 1;

    template <class Lane>
    auto visible(basic_site<Lane> const& s) const {
        return s.key - (s.query - s.query % Lane(size)) <
               Lane(size); // a difference: a sum could pass the largest index
    }
    constexpr coverage cover(tile const& t) const {
        if ((t.key_end - 1) / size <= t.query_begin / size) return coverage::all;
        return t.key_begin / size > (t.query_end - 1) / size ? coverage::none : coverage::some;
    }
    block_causal bind(shape_facts const&) const {
        detail::check_block_size("block_causal", size);
        return *this;
    }
};

} // namespace basin
