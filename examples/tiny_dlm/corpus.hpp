// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include "random.hpp"
#include "tokenizer.hpp"

#include <basin/core/site.hpp>

#include <cerrno>
#include <cstdio>
#include <cstring>
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

/// The whole of a text file.
inline std::string read_text(std::string const& path) {
    std::unique_ptr<std::FILE, int (*)(std::FILE*)> const file(std::fopen(path.c_str(), "rb"), &std::fclose);
    if (!file) throw std::runtime_error(path + " cannot be read: " + std::strerror(errno));
    std::string text;
    char piece[1 << 16];
    while (std::size_t const n = std::fread(piece, 1, sizeof piece, file.get())) text.append(piece, n);
    if (std::ferror(file.get()) != 0) throw std::runtime_error(path + " cannot be read: " + std::strerror(errno));
    return text;
}

/// One synthetic task: three random words, and what the answer to them is.
struct task {
    static constexpr int letters = 5, words = 3;
    std::string prompt, text; ///< "GGAEI|HGEHF|JDICE\n", and with the answer "... and GGAEI,is FHEGH,is CDEIJ.\n"

    /// Task number `index` of a seed.
    static task make(std::uint64_t seed, std::uint64_t index) {
        random_numbers const random{{seed}};
        std::uint64_t drawn = 0;
        auto const below = [&](std::uint32_t n) { return random.below(n, index, drawn++); };
        static constexpr char const* fillers[] = {"the", "sun", "and", "sea", "is", "red", "it", "was"};
        auto const filler = [&] { return std::string(fillers[below(8)]); };

        task t;
        std::string word[words];
        for (std::string& w : word) {
            for (int i = 0; i < letters; ++i) w += static_cast<char>('A' + below(12));
            t.prompt += (t.prompt.empty() ? "" : "|") + w;
        }
        t.prompt += '\n';
        t.text = t.prompt;
        for (int i = 0; i < words; ++i) {
            t.text += filler() + " " + answer(i, word[i]);
            t.text += i + 1 < words ? std::string(1, below(2) == 0 ? ',' : ';') : ".\n";
        }
        if (std::uint32_t const tail = below(4)) {
            for (std::uint32_t i = 0; i < tail; ++i) t.text += (i == 0 ? "" : " ") + filler();
            t.text += ".\n";
        }
        return t;
    }
    /// The first word is copied, the second reversed, the third sorted.
    static std::string answer(int which, std::string word) {
        if (which == 1) std::reverse(word.begin(), word.end());
        if (which == 2) std::sort(word.begin(), word.end());
        return word;
    }
    /// How many of the three answers of a text are right: answer i is run i of capitals in the line after the prompt.
    static int right_answers(std::string const& text) {
        auto const line_end = std::min(text.find('\n'), text.size());
        auto const asked = capitals(text.substr(0, line_end));
        std::string const rest = line_end < text.size() ? text.substr(line_end + 1) : std::string();
        auto const given = capitals(rest.substr(0, rest.find('\n')));
        int right = 0;
        for (std::size_t i = 0; i < words && i < asked.size() && i < given.size(); ++i)
            right += given[i] == answer(static_cast<int>(i), asked[i]) ? 1 : 0;
        return right;
    }
    /// The longest text there is.
    static constexpr index_t longest = words * (letters + 1) + words * (letters + 5) + 1 + 13;

private:
    static std::vector<std::string> capitals(std::string const& line) {
        std::vector<std::string> runs;
        bool open = false;
        for (char const c : line) {
            bool const capital = c >= 'A' && c <= 'Z';
            if (capital && !open) runs.emplace_back();
            if (capital) runs.back() += c;
            open = capital;
        }
        return runs;
    }
};

/// Where a model learns from: the synthetic tasks, or a text.
class corpus {
public:
    /// Tasks with answers that can be checked, made by code from a seed: three random words, to be copied, reversed and sorted
    /// among filler words and punctuation. "GGAEI|HGEHF|JDICE\nand GGAEI,is FHEGH,is CDEIJ.\n", then [EOS] up to the length.
    static corpus synthetic(index_t length = 64) {
        if (length < task::longest)
            throw std::runtime_error("the synthetic tasks need a length of at least " + std::to_string(task::longest) +
                                     " tokens, not " + std::to_string(length));
        std::string alphabet = "ABCDEFGHIJKL|,;. \nthe sun and sea is red it was";
        return {tokenizer::from_text(alphabet, tokenizer::unit::characters), length, {}};
    }
    /// Windows of a text. The last tenth is kept for validation.
    static corpus from_text(std::string_view text, tokenizer const& words, index_t length) {
        corpus c(words, length, words.encode_text(text));
        if (c.text_.size() / 10 < static_cast<std::size_t>(length))
            throw std::runtime_error("the text has " + std::to_string(c.text_.size()) + " tokens; windows of " +
                                     std::to_string(length) + " need at least " + std::to_string(10LL * length));
        return c;
    }

    tokenizer const& words() const { return words_; }
    index_t length() const { return length_; }
    bool has_answers() const { return text_.empty(); }

    /// Batch number `step` of the training with that seed: the same for the same arguments, whatever was asked for before.
    text_batch training(std::uint64_t seed, std::uint64_t step, index_t texts) const {
        text_batch b = empty(texts);
        for (index_t i = 0; i < texts; ++i) {
            std::uint64_t const number = step * static_cast<std::uint64_t>(texts) + static_cast<std::uint64_t>(i);
            if (has_answers())
                append(b, task::make(2 * seed + 1, number)); // odd: validation has an even one
            else {
                auto const places = static_cast<std::uint32_t>(split() - static_cast<std::size_t>(length_) + 1);
                append(b, random_numbers{{seed}}.below(places, number));
            }
        }
        return b;
    }
    /// Texts first ... first + texts - 1 of those that no training sees.
    text_batch validation(index_t first, index_t texts) const {
        if (first < 0 || texts < 0 || texts > validation_count() - first)
            throw std::runtime_error("validation has " + std::to_string(validation_count()) + " texts, not " +
                                     std::to_string(static_cast<std::int64_t>(first) + texts));
        text_batch b = empty(texts);
        for (index_t i = first; i < first + texts; ++i) {
            if (has_answers())
                append(b, task::make(0, static_cast<std::uint64_t>(i)));
            else
                append(b, split() + static_cast<std::size_t>(i) * static_cast<std::size_t>(length_));
        }
        return b;
    }
    /// How many different validation texts there are.
    index_t validation_count() const {
        if (has_answers()) return 1 << 20;
        return static_cast<index_t>((text_.size() - split()) / static_cast<std::size_t>(length_));
    }
    /// How many of the three answers of a synthetic text are right.
    int right_answers(std::span<token_id const> written) const { return task::right_answers(words_.decode(written)); }
    /// What training reads: all but the last tenth of a text; nothing for the synthetic tasks.
    std::span<token_id const> training_tokens() const { return std::span(text_).first(split()); }

private:
    corpus(tokenizer words, index_t length, std::vector<token_id> text)
        : words_(std::move(words)), length_(length), text_(std::move(text)) {}

    std::size_t split() const { return text_.size() - text_.size() / 10; }
    text_batch empty(index_t texts) const {
        text_batch b{texts, length_, {}, {}};
        b.tokens.reserve(static_cast<std::size_t>(texts) * static_cast<std::size_t>(length_));
        return b;
    }
    void append(text_batch& b, task const& t) const {
        auto tokens = words_.encode_text(t.text);
        tokens.resize(static_cast<std::size_t>(length_), tokenizer::eos);
        b.tokens.insert(b.tokens.end(), tokens.begin(), tokens.end());
        b.prompt.push_back(static_cast<index_t>(t.prompt.size()));
    }
    void append(text_batch& b, std::size_t place) const {
        auto const begin = text_.begin() + static_cast<std::ptrdiff_t>(place);
        b.tokens.insert(b.tokens.end(), begin, begin + length_);
        b.prompt.push_back(0);
    }

    tokenizer words_;
    index_t length_ = 0;
    std::vector<token_id> text_; // empty: synthetic
};

/// What a training learns from, as 16 hexadecimal digits: FNV-1a, 64 bits, over the words of the vocabulary, each with a zero
/// byte after it, and the tokens of training, each as 4 bytes, the lowest first. States of trainings keep it as "corpus".
inline std::string corpus_hash(corpus const& texts) {
    std::uint64_t hash = 0xcbf29ce484222325U;
    auto const add = [&hash](std::uint32_t byte) { hash = (hash ^ (byte & 0xffU)) * 0x100000001b3U; };
    for (token_id t = 0; t < texts.words().size(); ++t) {
        for (char const c : texts.words().name(t)) add(static_cast<unsigned char>(c));
        add(0);
    }
    for (token_id const t : texts.training_tokens()) {
        for (unsigned shift = 0; shift < 32; shift += 8) add(static_cast<std::uint32_t>(t) >> shift);
    }
    char digits[17];
    std::snprintf(digits, sizeof digits, "%016llx", static_cast<unsigned long long>(hash));
    return digits;
}

} // namespace tiny_dlm
