// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include "random.hpp"
#include "tokenizer.hpp"

#include <basin/core/site.hpp>

#include <span>
#include <vector>

namespace tiny_dlm {

using basin::index_t;

/// Which masked position is decided first.
enum class commit_order : std::uint8_t {
    confidence, ///< the highest probability of the chosen token (low-confidence remasking)
    entropy,    ///< the LOWEST entropy
    margin,     ///< the largest distance between the two best tokens
    random,
};

/// How a text is written.
struct sampling {
    commit_order order = commit_order::confidence;
    index_t steps = 32;     ///< denoising steps over the whole text
    double threshold = 0;   ///< above 0: each step decides all positions whose probability reaches it, at least one
    index_t block = 0;      ///< above 0: blocks of so many positions are finished from left to right
    double temperature = 0; ///< 0: always the best token
    std::uint64_t seed = 0;
};

/// What a step did, for all sequences of the batch.
struct sampling_step {
    index_t step, batch, length;
    std::span<token_id const> before;    ///< (batch, length) what the model saw
    std::span<token_id const> tokens;    ///< (batch, length) after the step
    std::span<std::uint8_t const> fresh; ///< (batch, length) 1 where this step decided a position
    std::span<float const> confidence;   ///< (batch, length) of the chosen token where it was masked, 1 elsewhere
};

/// Replaces every [MASK] of `tokens` (batch, length) step by step. `logits(tokens)` is called once per step and gives an array
/// with data(): (batch, length, vocabulary), row i for position i. `on_step(sampling_step)` sees what happened. Special tokens
/// except [EOS] are never written. Deterministic; the sequences of a batch do not see each other.
template <class Logits, class OnStep>
void denoise(std::vector<token_id>& tokens, index_t batch, index_t vocabulary, sampling const& how, Logits&& logits,
             OnStep&& on_step);

/// The same for the autoregressive twin, left to right, one position per step: row i of the logits is for position i + 1. The
/// first token of a text must be given.
template <class Logits, class OnStep>
void continue_text(std::vector<token_id>& tokens, index_t batch, index_t vocabulary, sampling const& how,
                   Logits&& logits, OnStep&& on_step);

} // namespace tiny_dlm
