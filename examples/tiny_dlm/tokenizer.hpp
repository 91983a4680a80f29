// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace tiny_dlm {

/// A word or character by its number.
using token_id = std::int32_t;

/// Texts to numbers and back, by characters (bytes) or by lower-case words, punctuation and newline.
class tokenizer {
public:
    enum class unit : std::uint8_t { characters, words };

    /// The special tokens stand first in every vocabulary.
    static constexpr token_id mask = 0, eos = 1, sink = 2, unknown = 3, specials = 4;

    /// Every character of the text, or its `most` most frequent words.
    static tokenizer from_text(std::string_view text, unit by, int most = 1000);
    /// From the metadata of a checkpoint; refuses one that has none, or a damaged one.
    static tokenizer load(std::map<std::string, std::string> const& metadata);
    /// Into the metadata of a checkpoint.
    void save(std::map<std::string, std::string>& metadata) const;

    unit by() const { return by_; }
    int size() const { return static_cast<int>(names_.size()); }
    /// "[MASK]", "e", "\n", "lord": as a text has it.
    std::string const& name(token_id t) const;

    /// A text to learn from: what is not in the vocabulary becomes [UNK].
    std::vector<token_id> encode_text(std::string_view text) const;
    /// A prompt: what is not in the vocabulary is refused by name; [MASK] and the other special names are understood.
    std::vector<token_id> encode_prompt(std::string_view text) const;
    /// The text of tokens. Words are parted by spaces, which punctuation and newline do without.
    std::string decode(std::span<token_id const> tokens) const;

private:
    unit by_ = unit::characters;
    std::vector<std::string> names_;
    std::unordered_map<std::string, token_id> numbers_;
};

} // namespace tiny_dlm
