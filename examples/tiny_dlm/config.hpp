// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include <map>
#include <string>

// What a tiny model is: its shape, who sees whom, and what it has for sinks.
namespace tiny_dlm {

enum class model_kind {
    masked_diffusion, ///< everyone sees everyone; [MASK] tokens are predicted in any order
    block_diffusion,  ///< the same inside a block, causal between blocks
    autoregressive,   ///< causal; row i predicts token i + 1: the twin that diffusion is compared with
};

enum class sink_kind {
    none,
    token,      ///< learned tokens that see only themselves and are seen by all
    zero_value, ///< learned keys of each layer whose value is 0
    logit,      ///< a learned extra column of the softmax, one logit per head and layer
    off_by_one, ///< an extra column with logit 0
    registers,  ///< learned tokens that see and are seen
    gate,       ///< no sink: attention's output times sigmoid(x W)
};

enum class sink_place { front, middle, end };

struct sink_config {
    sink_kind kind = sink_kind::none;
    int count = 1;                        ///< of token, registers and zero_value
    sink_place place = sink_place::front; ///< of token and registers
};

struct model_config {
    model_kind kind = model_kind::masked_diffusion;
    int layers = 4, width = 64, heads = 4, key_value_heads = 4, hidden = 192;
    bool gated = false; ///< MLP: silu(x A) * (x B) instead of relu(x A)^2
    int vocabulary = 0, length = 64;
    static constexpr int mask_token = 0; ///< the id of [MASK]: samplers know no other
    double rope_base = 100;
    int block = 16; ///< tokens of a block, for block diffusion
    sink_config sinks;

    int channels() const { return width / heads; }
    /// Tokens that the model adds to every text: sink tokens or registers.
    int extra_tokens() const {
        return sinks.kind == sink_kind::token || sinks.kind == sink_kind::registers ? sinks.count : 0;
    }
    /// Rows of every layer: the text and what was added. Keys and queries of statistics are counted in rows.
    int rows() const { return length + extra_tokens(); }
    /// The row of the first extra token.
    int extra_begin() const {
        if (sinks.place == sink_place::front) return 0;
        return sinks.place == sink_place::end ? length : length / 2;
    }
    /// The row in which token i of the text stands.
    int row_of(int i) const { return i < extra_begin() ? i : i + extra_tokens(); }
};

/// As the checkpoint's header stores it: {"kind": "masked_diffusion", "layers": "4", ...}.
std::map<std::string, std::string> to_text(model_config const& config);
/// Throws std::runtime_error, one sentence, for a missing or impossible entry. Other entries are ignored.
model_config config_from_text(std::map<std::string, std::string> const& text);
/// Throws std::runtime_error, one sentence, if no such model can be.
void check(model_config const& config);

char const* name_of(model_kind kind);
char const* name_of(sink_kind kind);
char const* name_of(sink_place place);

} // namespace tiny_dlm
