// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#include "question.hpp"

#include <algorithm>
#include <cmath>

namespace reproduce {

using tiny_dlm::model_kind;

std::vector<double> answers::means(std::vector<double> const& sums) const {
    std::vector<double> result;
    result.reserve(sums.size());
    for (std::size_t i = 0; i < sums.size(); ++i) result.push_back(asked[i] == 0 ? 0 : sums[i] / asked[i]);
    return result;
}

question::question(tiny_dlm::model_config const& c, tiny_dlm::text_batch const& given) : config_(c), texts_(given) {
    index_t const prompt = *std::min_element(given.prompt.begin(), given.prompt.end());
    if (c.kind == model_kind::autoregressive) {
        index_t const first = std::max<index_t>(2, *std::max_element(given.prompt.begin(), given.prompt.end()));
        index_t const count = std::min(beginnings, given.length - first);
        for (index_t i = 0; i < count; ++i) {
            index_t const length = first + i * (given.length - 1 - first) / std::max<index_t>(1, count - 1);
            views_.push_back({beginning(length - 1), length - 1, beginning(length), length});
        }
        return;
    }
    index_t const block = c.kind == model_kind::block_diffusion ? c.block : given.length;
    for (index_t begin = prompt / block * block; begin < given.length; begin += block) {
        index_t const length = std::min(begin + block, given.length);
        auto const now = half_masked(begin, length);
        views_.push_back({now, length, now, length});
    }
}

std::vector<token_id> question::beginning(index_t length) const {
    std::vector<token_id> tokens;
    for (index_t t = 0; t < texts_.texts; ++t) {
        auto const text = texts_.text(t).first(static_cast<std::size_t>(length));
        tokens.insert(tokens.end(), text.begin(), text.end());
    }
    return tokens;
}

std::vector<token_id> question::half_masked(index_t begin, index_t length) const {
    auto tokens = beginning(length);
    for (index_t t = 0; t < texts_.texts; ++t)
        for (index_t i = std::max(begin, texts_.prompt[static_cast<std::size_t>(t)]); i < length; ++i) {
            if (tiny_dlm::random_numbers{{99}}.below(2, t, i) == 0)
                tokens[static_cast<std::size_t>(t) * static_cast<std::size_t>(length) + static_cast<std::size_t>(i)] =
                    tiny_dlm::tokenizer::mask;
        }
    return tokens;
}

void question::judge(view_of_texts const& v, basin::buffer<float, 3> const& logits, answers& to) const {
    bool const causal = config_.kind == model_kind::autoregressive;
    for (index_t t = 0; t < texts_.texts; ++t)
        for (index_t i = causal ? v.length - 1 : 0; i < v.length; ++i) {
            if (!causal &&
                v.now[static_cast<std::size_t>(t) * static_cast<std::size_t>(v.length) + static_cast<std::size_t>(i)] !=
                    tiny_dlm::tokenizer::mask)
                continue;
            token_id const right = texts_.text(t)[static_cast<std::size_t>(causal ? v.length : i)];
            float const* const row = &logits(t, i, 0);
            float const* const likeliest = std::max_element(row, row + config_.vocabulary);
            double const best = static_cast<double>(*likeliest);
            double total = 0;
            for (int token = 0; token < config_.vocabulary; ++token)
                total += std::exp(static_cast<double>(row[token]) - best);
            auto const text = static_cast<std::size_t>(t);
            to.loss[text] += best + std::log(total) - static_cast<double>(row[right]);
            to.guessed[text] += likeliest - row == right ? 1 : 0;
            ++to.asked[text];
        }
}

} // namespace reproduce
