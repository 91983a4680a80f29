// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include "treated.hpp"

namespace reproduce {

/// What a model sees when it is asked about texts that are there, in the way it writes: what stands to the right of a block, or of the next
/// token, is not there, and what stands to the left is clean.
struct view_of_texts {
    std::vector<token_id> before; ///< (text, token) the step before, on whose map keys are chosen
    index_t before_length = 0;
    std::vector<token_id> now; ///< (text, token) when asked
    index_t length = 0;
};

/// What a model says of some texts.
struct answers {
    std::vector<double> loss, guessed, asked; ///< by text: sums over the tokens asked for

    explicit answers(index_t texts)
        : loss(static_cast<std::size_t>(texts)), guessed(static_cast<std::size_t>(texts)),
          asked(static_cast<std::size_t>(texts)) {}
    /// By text: cross-entropy per token asked for; share of them whose likeliest token is the right one.
    std::vector<double> mean_loss() const { return means(loss); }
    std::vector<double> share_guessed() const { return means(guessed); }

private:
    std::vector<double> means(std::vector<double> const& sums) const;
};

/// The questions that a model is asked about texts:
/// Masked diffusion: a seeded half of the tokens, all at once. Block diffusion: half of the tokens of each block, behind clean
/// blocks. Autoregressive: the next token of a spread of beginnings; the step before had one token less.
class question {
public:
    /// How many beginnings of each text the twin goes on from.
    static constexpr index_t beginnings = 16;

    question(tiny_dlm::model_config const& c, tiny_dlm::text_batch const& given);

    std::vector<view_of_texts> const& views() const { return views_; }
    /// Adds what these logits say to the answers.
    void judge(view_of_texts const& v, basin::buffer<float, 3> const& logits, answers& to) const;

private:
    /// Half of the tokens from `begin` on are masked.
    std::vector<token_id> half_masked(index_t begin, index_t length) const;
    std::vector<token_id> beginning(index_t length) const;

    tiny_dlm::model_config config_;
    tiny_dlm::text_batch const& texts_;
    std::vector<view_of_texts> views_;
};

} // namespace reproduce
