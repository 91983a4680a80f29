// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include "config.hpp"
#include "json_reader.hpp"

#include <algorithm>
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
    static constexpr token_id mask = model_config::mask_token, eos = 1, sink = 2, unknown = 3, specials = 4;

    /// The special tokens alone.
    explicit tokenizer(unit by = unit::characters) : by_(by) {
        for (char const* const name : {"[MASK]", "[EOS]", "[SINK]", "[UNK]"}) add(name);
    }
    /// Every character of the text, or its `most` most frequent words; of equals the first in the alphabet.
    static tokenizer from_text(std::string_view text, unit by, int most = 1000) {
        std::map<std::string, std::size_t, std::less<>> counts;
        for_each_piece(text, by, [&](std::string_view, std::string const& piece) { ++counts[piece]; });
        std::vector<std::pair<std::string, std::size_t>> order(counts.begin(), counts.end());
        if (by == unit::words) {
            std::sort(order.begin(), order.end(), [](auto const& a, auto const& b) {
                return a.second != b.second ? a.second > b.second : a.first < b.first;
            });
            if (order.size() > static_cast<std::size_t>(most)) order.resize(static_cast<std::size_t>(most));
        }
        tokenizer result(by);
        for (auto const& [name, count] : order) result.add(name);
        return result;
    }

    /// Into the metadata of a checkpoint: names in a row, parted by spaces, unusual bytes as \xHH.
    void save(std::map<std::string, std::string>& metadata) const {
        std::string list;
        for (std::string const& name : names_) {
            if (!list.empty()) list += ' ';
            for (char const c : name) {
                constexpr char digits[] = "0123456789abcdef";
                auto const byte = static_cast<unsigned char>(c);
                if (byte > 0x20 && byte < 0x7f && c != '\\')
                    list += c;
                else
                    list += {'\\', 'x', digits[byte >> 4U], digits[byte & 15U]};
            }
        }
        metadata["tokenizer.unit"] = by_ == unit::characters ? "characters" : "words";
        metadata["tokenizer.vocabulary"] = list;
    }
    /// From the metadata of a checkpoint; refuses one that has none, or a damaged one.
    static tokenizer load(std::map<std::string, std::string> const& metadata) {
        auto const unit_at = metadata.find("tokenizer.unit"), list_at = metadata.find("tokenizer.vocabulary");
        if (unit_at == metadata.end() || list_at == metadata.end())
            throw std::runtime_error("the checkpoint has no tokenizer, so it was not written by tiny_dlm");
        bool const words = unit_at->second == "words";
        if (!words && unit_at->second != "characters")
            throw std::runtime_error("the checkpoint's tokenizer goes by " + in_quotes(unit_at->second) +
                                     ", neither characters nor words");
        tokenizer result(words ? unit::words : unit::characters);
        token_id place = 0;
        std::string_view rest = list_at->second;
        while (!rest.empty()) {
            std::size_t const n = std::min(rest.find(' '), rest.size());
            std::string const name = unescaped(rest.substr(0, n));
            if (place < specials ? name != result.names_[static_cast<std::size_t>(place)]
                                 : name.empty() || (!words && name.size() != 1) || !result.add(name))
                throw std::runtime_error("the checkpoint's vocabulary is damaged at entry " + std::to_string(place) +
                                         ", " + in_quotes(name));
            ++place;
            rest.remove_prefix(std::min(n + 1, rest.size()));
        }
        if (place < specials)
            throw std::runtime_error("the checkpoint's vocabulary is damaged: it has no special tokens");
        return result;
    }

    /// The same words in the same places.
    friend bool operator==(tokenizer const& a, tokenizer const& b) { return a.by_ == b.by_ && a.names_ == b.names_; }

    unit by() const { return by_; }
    int size() const { return static_cast<int>(names_.size()); }
    /// "[MASK]", "e", "\n", "lord": as a text has it.
    std::string const& name(token_id t) const {
        if (t < 0 || t >= size()) throw std::runtime_error("there is no token " + std::to_string(t));
        return names_[static_cast<std::size_t>(t)];
    }

    /// A text to learn from: what is not in the vocabulary becomes [UNK].
    std::vector<token_id> encode_text(std::string_view text) const {
        std::vector<token_id> result;
        for_each_piece(text, by_, [&](std::string_view, std::string const& piece) {
            auto const found = numbers_.find(piece);
            result.push_back(found == numbers_.end() ? unknown : found->second);
        });
        return result;
    }
    /// A prompt: what is not in the vocabulary is refused by name; [MASK] and the other special names are understood, and \n as
    /// a newline, so that a prompt fits on one line of a shell.
    std::vector<token_id> encode_prompt(std::string_view text) const {
        std::vector<token_id> result;
        std::size_t plain = 0, at = 0;
        auto const flush = [&] { encode_strictly(text.substr(plain, at - plain), result); };
        while (at < text.size()) {
            std::size_t taken = 0;
            token_id special = 0;
            for (; special < specials && taken == 0; ++special) {
                if (text.substr(at).starts_with(names_[static_cast<std::size_t>(special)])) {
                    flush();
                    taken = names_[static_cast<std::size_t>(special)].size();
                    result.push_back(special);
                }
            }
            if (taken == 0 && text.substr(at).starts_with("\\n")) {
                flush();
                taken = 2;
                encode_strictly("\n", result);
            }
            at += taken == 0 ? 1 : taken;
            if (taken > 0) plain = at;
        }
        flush();
        return result;
    }
    /// The text of tokens. Words are parted by spaces, which punctuation and newline do without.
    std::string decode(std::span<token_id const> tokens) const {
        std::string text;
        for (token_id const t : tokens) {
            std::string const& word = name(t);
            bool const joins =
                word.size() == 1 && std::string_view(".,;:!?)\n").find(word[0]) != std::string_view::npos;
            bool const follows = text.empty() || text.back() == '\n' || text.back() == '(';
            if (by_ == unit::words && !joins && !follows) text += ' ';
            text += word;
        }
        return text;
    }

private:
    static bool in_word(char c) {
        auto const byte = static_cast<unsigned char>(c);
        return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || (byte >= '0' && byte <= '9') ||
               byte >= 0x80;
    }
    /// Calls f(as written, as named) for each character or word. Spaces part words and are lost; an apostrophe inside a word
    /// belongs to it.
    template <class F>
    static void for_each_piece(std::string_view text, unit by, F const& f) {
        for (std::size_t at = 0; at < text.size();) {
            std::size_t n = 1;
            if (by == unit::words) {
                if (text[at] == ' ' || text[at] == '\t' || text[at] == '\r') {
                    ++at;
                    continue;
                }
                auto const inside = [&](std::size_t i) {
                    return i < text.size() &&
                           (in_word(text[i]) || (text[i] == '\'' && i + 1 < text.size() && in_word(text[i + 1])));
                };
                while (in_word(text[at]) && inside(at + n)) ++n;
            }
            std::string piece(text.substr(at, n));
            if (by == unit::words) {
                for (char& c : piece) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
            }
            f(text.substr(at), piece);
            at += n;
        }
    }
    void encode_strictly(std::string_view text, std::vector<token_id>& result) const {
        for_each_piece(text, by_, [&](std::string_view here, std::string const& piece) {
            auto const found = numbers_.find(piece);
            if (found == numbers_.end()) refuse(here, piece);
            result.push_back(found->second);
        });
    }
    [[noreturn]] void refuse(std::string_view here, std::string const& piece) const {
        if (by_ == unit::words)
            throw std::runtime_error("the prompt has the word " + in_quotes(piece) + ", which is not among the " +
                                     std::to_string(size() - specials) + " words of this model");
        std::string known;
        for (std::size_t i = specials; i < names_.size(); ++i) known += names_[i] == "\n" ? "\\n" : names_[i];
        std::size_t const n = utf8_length(here); // the whole character, not its first byte
        throw std::runtime_error("the prompt has the character " +
                                 (n > 1 ? "\"" + std::string(here.substr(0, n)) + "\"" : in_quotes(piece)) +
                                 ", which this model never saw; it knows: " + known);
    }
    static std::string unescaped(std::string_view text) {
        std::string result;
        for (std::size_t i = 0; i < text.size(); ++i) {
            unsigned byte = 0;
            if (text.substr(i, 2) != "\\x") {
                result += text[i];
                continue;
            }
            auto const digits = text.substr(i + 2, 2);
            auto const [end, code] = std::from_chars(digits.data(), digits.data() + digits.size(), byte, 16);
            if (digits.size() != 2 || code != std::errc() || end != digits.data() + 2)
                throw std::runtime_error("the checkpoint's vocabulary is damaged at " + in_quotes(text));
            result += static_cast<char>(byte);
            i += 3;
        }
        return result;
    }
    bool add(std::string const& name) {
        if (!numbers_.emplace(name, size()).second) return false;
        names_.push_back(name);
        return true;
    }

    unit by_;
    std::vector<std::string> names_;
    std::unordered_map<std::string, token_id> numbers_;
};

} // namespace tiny_dlm
