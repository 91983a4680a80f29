// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include "objective.hpp"
#include "sampler.hpp"

#include <basin/backend/thread_pool.hpp>

namespace tiny_dlm {

/// How good a model is on texts that no training saw.
struct evaluation {
    double loss = 0;          ///< nats per token; for diffusion models a bound
    int right = 0, asked = 0; ///< answers of the synthetic tasks; elsewhere hidden tokens that were guessed
    double accuracy() const { return asked == 0 ? 0 : static_cast<double>(right) / asked; }
};

/// Writes the answers to the prompts of synthetic texts, greedily, and returns how many are right.
inline int write_answers(model<float> const& net, corpus const& texts, text_batch const& tasks, int steps,
                         observer<float> const& watch = {}) {
    model_config const& c = net.config();
    std::vector<token_id> tokens = tasks.tokens;
    for (int t = 0; t < tasks.texts; ++t) {
        for (int i = tasks.prompt[static_cast<std::size_t>(t)]; i < tasks.length; ++i)
            tokens[static_cast<std::size_t>(t * tasks.length + i)] = model_config::mask_token;
    }
    sampling how;
    how.steps = steps;
    how.block = c.kind == model_kind::block_diffusion ? c.block : 0;
    basin::buffer<float, 3> kept;
    auto const all = [&](std::vector<token_id> const& now) { return net.logits(now, tasks.length, watch); };
    auto const masked = [&](std::vector<token_id> const& now) -> auto const& {
        net.masked_logits(now, tasks.length, kept, watch);
        return kept;
    };
    auto const nothing = [](sampling_step const&) {};
    if (c.kind == model_kind::autoregressive)
        continue_text(tokens, tasks.texts, c.vocabulary, how, all, nothing);
    else
        denoise(tokens, tasks.texts, c.vocabulary, how, masked, nothing, net.threads());
    int right = 0;
    for (int t = 0; t < tasks.texts; ++t) {
        auto const begin = static_cast<std::size_t>(t * tasks.length);
        right += texts.right_answers(std::span(tokens).subspan(begin, static_cast<std::size_t>(tasks.length)));
    }
    return right;
}

/// Hidden tokens whose likeliest token is the right one. Block diffusion guesses block by block, each behind clean ones, as it learns
/// and writes.
inline int guessed(model<float> const& net, batch const& b) {
    model_config const& c = net.config();
    bool const blocks = c.kind == model_kind::block_diffusion;
    int const width = blocks ? c.block : b.length;
    int right = 0;
    for (int begin = 0; begin < b.length; begin += width) {
        int const end = std::min(begin + width, b.length);
        std::vector<token_id> seen; // (text, token) up to the end of the block
        for (int t = 0; t < b.texts; ++t)
            for (int i = 0; i < end; ++i) {
                auto const at = static_cast<std::size_t>(t * b.length + i);
                seen.push_back(i < begin ? b.target[at]
                                         : b.input[at]); // begin is 0 but for blocks, whose targets are the text
            }
        auto const logits = net.logits(seen, end);
        for (int t = 0; t < b.texts; ++t)
            for (int i = begin; i < end; ++i) {
                auto const at = static_cast<std::size_t>(t * b.length + i);
                if (b.weight[at] == 0) continue;
                float const* const row = &logits(t, i, 0);
                right += std::max_element(row, row + c.vocabulary) - row == b.target[at] ? 1 : 0;
            }
    }
    return right;
}

/// Loss and accuracy on the first `count` validation texts. The noise is the same at every call.
inline evaluation evaluate(model<float> const& net, corpus const& texts, int count, int steps = 32) {
    constexpr int at_once = 32;
    evaluation e;
    for (int first = 0; first < count; first += at_once) {
        text_batch const some = texts.validation(first, std::min(at_once, count - first));
        batch const b = objective(net.config(), some, 0, static_cast<std::uint64_t>(first));
        e.loss += net.loss(b) * some.texts / count;
        if (texts.has_answers()) {
            e.asked += task::words * some.texts;
            e.right += write_answers(net, texts, some, steps);
        } else {
            e.asked +=
                static_cast<int>(std::count_if(b.weight.begin(), b.weight.end(), [](float w) { return w != 0; }));
            e.right += guessed(net, b);
        }
    }
    return e;
}

} // namespace tiny_dlm
