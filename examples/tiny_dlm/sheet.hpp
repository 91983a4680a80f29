// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include "config.hpp"

#include <span>
#include <vector>

namespace tiny_dlm {

/// What a group of texts looks like to the layers: one row per token, extra tokens and copies included.
struct sheet {
    int texts = 0, rows = 0;   ///< rows of each text
    std::vector<int> token;    ///< (text, row); vocabulary + e is extra token e
    std::vector<int> position; ///< (row), for RoPE
    std::vector<int> wanted;   ///< rows of the whole sheet whose logits are asked for
    std::vector<int> target;   ///< of the wanted rows
    std::vector<float> weight; ///< likewise: the loss is the sum of weight x cross-entropy
    bool has_copy = false;     ///< block diffusion, learning: the clean text follows the noisy one

    /// `tokens` (text, token) with the model's extra tokens among them; all their logits are wanted. `clean` is the copy that
    /// follows, or empty.
    sheet(model_config const& c, std::span<int const> tokens, std::span<int const> clean = {})
        : texts(static_cast<int>(tokens.size()) / c.length), has_copy(!clean.empty()) {
        rows = has_copy ? 2 * c.length : c.rows();
        token.reserve(static_cast<std::size_t>(texts) * static_cast<std::size_t>(rows));
        for (int t = 0; t < texts; ++t) {
            auto const of = [&](std::span<int const> all) {
                return all.subspan(static_cast<std::size_t>(t * c.length), static_cast<std::size_t>(c.length));
            };
            for (int i = 0; i < c.length; ++i) {
                if (i == c.extra_begin()) add_extra(c);
                wanted.push_back(t * rows + c.row_of(i));
                token.push_back(of(tokens)[static_cast<std::size_t>(i)]);
            }
            if (c.length == c.extra_begin()) add_extra(c);
            if (has_copy) token.insert(token.end(), of(clean).begin(), of(clean).end());
        }
        for (int i = 0; i < rows; ++i) position.push_back(has_copy ? i % c.length : i);
    }

    /// Keeps the wanted rows of tokens that are masked.
    void want_masked() {
        std::erase_if(wanted,
                      [&](int row) { return token[static_cast<std::size_t>(row)] != model_config::mask_token; });
    }

    /// Keeps the wanted rows whose weight is not 0, with what they are to predict.
    void learn(std::span<int const> all_targets, std::span<float const> all_weights) {
        std::vector<int> const all = std::move(wanted);
        wanted.clear();
        for (std::size_t i = 0; i < all.size(); ++i) {
            if (all_weights[i] == 0) continue;
            wanted.push_back(all[i]);
            target.push_back(all_targets[i]);
            weight.push_back(all_weights[i]);
        }
    }

private:
    void add_extra(model_config const& c) {
        for (int e = 0; e < c.extra_tokens(); ++e) token.push_back(c.vocabulary + e);
    }
};

} // namespace tiny_dlm
