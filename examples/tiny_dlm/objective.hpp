// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include "corpus.hpp"
#include "model.hpp"

namespace tiny_dlm {

/// What a model learns from some texts. The seed and the step decide everything that is random.
///
/// Masked diffusion: t is uniform in (0, 1) for each text, p = (1 - 0.001) t + 0.001 of its tokens become [MASK], and the
/// cross-entropy of those is divided by p; the sum is divided by the number of tokens that could have been masked. The times
/// of a batch are spread evenly, from one random start: each is still uniform, the loss has less noise.
/// Block diffusion: the same, with a time for each block. Autoregressive: every token from those before it.
inline batch objective(model_config const& c, text_batch const& texts, std::uint64_t seed, std::uint64_t step) {
    batch b;
    b.texts = texts.texts;
    b.length = texts.length;
    b.input.assign(texts.tokens.begin(), texts.tokens.end());
    b.target = b.input;
    b.weight.assign(b.input.size(), 0.0F);
    bool const forward = c.kind == model_kind::autoregressive;
    int const first_learned = forward ? 1 : 0; // nothing stands before the first token

    double count = 0;
    for (int t = 0; t < b.texts; ++t)
        count += b.length - std::max<int>(first_learned, texts.prompt[static_cast<std::size_t>(t)]);

    random_numbers const random{{seed}};
    int const span = c.kind == model_kind::block_diffusion ? c.block : b.length; // tokens that share a time
    int const spans = (b.length + span - 1) / span;
    double const start = random.unit(step, 0);
    for (int t = 0; t < b.texts; ++t) {
        int const prompt = texts.prompt[static_cast<std::size_t>(t)];
        for (int i = 0; i < b.length; ++i) {
            auto const at = static_cast<std::size_t>(t * b.length + i);
            if (forward) {
                b.target[at] = i + 1 < b.length ? b.input[at + 1] : 0;
                if (i + 1 < b.length && i + 1 >= prompt) b.weight[at] = static_cast<float>(1 / count);
                continue;
            }
            if (i < prompt) continue;
            double const place = static_cast<double>((i / span) * b.texts + t) / (b.texts * spans);
            double const time = start + place < 1 ? start + place : start + place - 1;
            double const p = (1 - 1e-3) * time + 1e-3;
            if (random.unit(step, 1, t, i) >= p) continue;
            b.input[at] = model_config::mask_token;
            b.weight[at] = static_cast<float>(1 / (p * count));
        }
    }
    return b;
}

} // namespace tiny_dlm
