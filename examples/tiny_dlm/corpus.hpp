// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include "random.hpp"
#include "tokenizer.hpp"

#include <basin/core/site.hpp>

#include <memory>

namespace tiny_dlm {

using basin::index_t;

/// Sequences of one length in a row. The first prompt[i] tokens of text i are given: never masked, no loss on them.
struct text_batch {
    index_t texts = 0, length = 0;
    std::vector<token_id> tokens; ///< (text, token)
    std::vector<index_t> prompt;

    std::span<token_id const> text(index_t i) const {
        return {tokens.data() + static_cast<std::ptrdiff_t>(i) * length, static_cast<std::size_t>(length)};
    }
};

/// Where a model learns from: the synthetic tasks, or a text.
class corpus {
public:
    /// Tasks with answers that can be checked, made by code from a seed: three random words, to be copied, reversed and sorted
    /// among filler words and punctuation. "GGAEI|HGEHF|JDICE\nand GGAEI,is FHEGH,is CDEIJ.\n", then [EOS] up to the length.
    static corpus synthetic(index_t length = 64);
    /// Windows of a text file. The last tenth is kept for validation.
    static corpus from_file(std::string const& path, tokenizer const& words, index_t length);

    tokenizer const& words() const { return words_; }
    index_t length() const { return length_; }
    bool has_answers() const { return text_.empty(); }

    /// Batch number `step` of the training with that seed: the same for the same arguments, whatever was asked for before.
    text_batch training(std::uint64_t seed, std::uint64_t step, index_t texts) const;
    /// Sequences first ... first + texts - 1 of those that no training sees.
    text_batch validation(index_t first, index_t texts) const;
    /// How many different validation sequences there are.
    index_t validation_count() const;

    /// Of the three answers of a synthetic sequence, how many are right in `written`, which has the same prompt.
    static int right_answers(tokenizer const& words, std::span<token_id const> written);
    static constexpr int answers = 3;

private:
    tokenizer words_;
    index_t length_ = 0;
    std::vector<token_id> text_; // empty: synthetic
};

} // namespace tiny_dlm
