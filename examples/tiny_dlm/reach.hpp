// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include "config.hpp"

#include <basin/policy/block_diffusion.hpp>
#include <basin/policy/causal.hpp>
#include <basin/policy/full.hpp>
#include <basin/policy/sink_token.hpp>

namespace tiny_dlm {

/// Who sees whom, by the kind of model: one of the library's policies, chosen when the program runs. A policy of one's own
/// that asks others; with one type for all kinds the kernels are compiled once.
struct reach {
    using lanes = basin::supported;
    model_kind kind = model_kind::masked_diffusion;
    basin::index_t block = 1;
    basin::index_t copy = 0; ///< block diffusion, learning: the clean copy of the text begins at this row; 0: no copy

    template <class Lane>
    auto visible(basin::basic_site<Lane> const& s) const -> decltype(basin::causal{}.visible(s)) {
        if (kind == model_kind::autoregressive) return basin::causal{}.visible(s);
        if (kind == model_kind::masked_diffusion) return basin::full{}.visible(s);
        return copy > 0 ? basin::block_diffusion{block, copy}.visible(s) : basin::block_causal{block}.visible(s);
    }
    basin::coverage cover(basin::tile const& t) const {
        if (kind == model_kind::autoregressive) return basin::causal::cover(t);
        if (kind == model_kind::masked_diffusion) return basin::coverage::all;
        return copy > 0 ? basin::block_diffusion{block, copy}.cover(t) : basin::block_causal{block}.cover(t);
    }
};

/// The model's mask: reach, and sink tokens where there are some.
inline basin::sink_token<reach> mask_of(model_config const& c, bool with_copy) {
    basin::token_list tokens(std::initializer_list<basin::index_t>{});
    if (c.sinks.kind == sink_kind::token) {
        for (int i = 0; i < c.sinks.count; ++i) tokens.positions[tokens.count++] = c.extra_begin() + i;
    }
    return {tokens, {c.kind, c.block, with_copy ? c.length : 0}};
}

} // namespace tiny_dlm
