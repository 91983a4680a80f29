// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include <charconv>
#include <cstdint>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace tiny_dlm {

/// Printable on one line of a terminal, whatever the bytes are; long texts are cut.
inline std::string in_quotes(std::string_view text) {
    std::string result = "\"";
    for (char const c : text.substr(0, 60)) {
        auto const byte = static_cast<unsigned char>(c);
        if (byte >= 0x20 && byte < 0x7f)
            result += c;
        else {
            constexpr char digits[] = "0123456789abcdef";
            result += {'\\', 'x', digits[byte >> 4U], digits[byte & 15U]};
        }
    }
    return result + (text.size() > 60 ? "...\"" : "\"");
}

/// The length of the UTF-8 character at the start of a text, 0 if there is none.
inline std::size_t utf8_length(std::string_view text) {
    auto const at = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U; };
    unsigned const first = at(0);
    if (text.empty()) return 0;
    if (first < 0x80) return 1;
    std::size_t const n = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
    if (first < 0xc2 || first > 0xf4) return 0;
    for (std::size_t i = 1; i < n; ++i) {
        if ((at(i) & 0xc0U) != 0x80U) return 0;
    }
    bool const overlong = (first == 0xe0 && at(1) < 0xa0) || (first == 0xf0 && at(1) < 0x90);
    bool const beyond = (first == 0xed && at(1) > 0x9f) || (first == 0xf4 && at(1) > 0x8f);
    return overlong || beyond ? 0 : n;
}
inline bool is_utf8(std::string_view text) {
    while (!text.empty()) {
        std::size_t const n = utf8_length(text);
        if (n == 0) return false;
        text.remove_prefix(n);
    }
    return true;
}

/// Reads the JSON that is expected and nothing else, piece by piece and without recursion: the caller says what must come. What
/// does not fit is a std::runtime_error of a few words.
class json_reader {
public:
    explicit json_reader(std::string_view text) : text_(text) {}

    /// {"key": value, ...}: calls entry(key), which must read the value. Two equal keys are refused.
    template <class Entry>
    void object(Entry const& entry) {
        std::set<std::string> keys;
        expect('{', "an object");
        if (next() == '}') {
            ++at_;
            return;
        }
        for (;;) {
            std::string const key = string();
            if (!keys.insert(key).second) fail("the key " + in_quotes(key) + " stands there twice");
            expect(':', "a colon");
            entry(key);
            if (next() == '}') break;
            expect(',', "a comma or the end of the object");
        }
        ++at_;
    }
    /// [1, 2, ...]: whole numbers that are not negative, at most `most` of them.
    std::vector<std::int64_t> numbers(std::size_t most) {
        std::vector<std::int64_t> result;
        expect('[', "a list of numbers");
        if (next() == ']') {
            ++at_;
            return result;
        }
        for (;;) {
            if (result.size() == most) fail("a list has more than " + std::to_string(most) + " numbers");
            result.push_back(number());
            if (next() == ']') break;
            expect(',', "a comma or the end of the list");
        }
        ++at_;
        return result;
    }
    /// A whole number that is not negative, below 2^63.
    std::int64_t number() {
        next();
        std::string_view const rest = text_.substr(at_);
        std::int64_t value = 0;
        auto const [end, code] = std::from_chars(rest.data(), rest.data() + rest.size(), value);
        auto const used = static_cast<std::size_t>(end - rest.data());
        bool const more = used < rest.size() && (rest[used] == '.' || rest[used] == 'e' || rest[used] == 'E');
        if (code != std::errc() || value < 0 || rest[0] == '-' || more || (used > 1 && rest[0] == '0'))
            fail("expected a whole number");
        at_ += used;
        return value;
    }
    std::string string() {
        expect('"', "a text in quotes");
        std::string result;
        for (;;) {
            if (at_ >= text_.size()) fail("a text in quotes has no end");
            char const c = text_[at_];
            if (c == '"') break;
            if (static_cast<unsigned char>(c) < 0x20) fail("a text in quotes has a control character");
            if (c == '\\') {
                escaped(result);
                continue;
            }
            std::size_t const n = utf8_length(text_.substr(at_));
            if (n == 0) fail("a text in quotes is not UTF-8");
            result += text_.substr(at_, n);
            at_ += n;
        }
        ++at_;
        return result;
    }
    /// Nothing but spaces may follow.
    void end() {
        if (next() != '\0' || at_ < text_.size()) fail("something follows the end of the object");
    }

private:
    [[noreturn]] void fail(std::string const& why) const {
        throw std::runtime_error(why + " (byte " + std::to_string(at_) + ")");
    }
    /// The next character that is no space, not taken yet; 0 at the end.
    char next() {
        while (at_ < text_.size() &&
               (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t' || text_[at_] == '\r'))
            ++at_;
        return at_ < text_.size() ? text_[at_] : '\0';
    }
    void expect(char c, char const* what) {
        if (next() != c) fail(std::string("expected ") + what);
        ++at_;
    }
    unsigned hex4() {
        unsigned value = 0;
        auto const four = text_.substr(at_, 4);
        auto const [end, code] = std::from_chars(four.data(), four.data() + four.size(), value, 16);
        if (four.size() < 4 || code != std::errc() || end != four.data() + 4) fail("\\u needs four hexadecimal digits");
        at_ += 4;
        return value;
    }
    void escaped(std::string& result) {
        ++at_;
        char const c = at_ < text_.size() ? text_[at_++] : '\0';
        constexpr std::string_view from = "\"\\/bfnrt", to = "\"\\/\b\f\n\r\t";
        if (std::size_t const i = from.find(c); c != '\0' && i != from.npos) {
            result += to[i];
            return;
        }
        if (c != 'u') fail("an unknown \\ in a text");
        unsigned code = hex4();
        if (code >= 0xd800 && code < 0xdc00) { // the first half of a character beyond 16 bits
            if (text_.substr(at_, 2) != "\\u") fail("half a character");
            at_ += 2;
            unsigned const low = hex4();
            if (low < 0xdc00 || low > 0xdfff) fail("half a character");
            code = 0x10000U + ((code - 0xd800U) << 10U) + (low - 0xdc00U);
        } else if (code >= 0xdc00 && code <= 0xdfff)
            fail("half a character");
        auto const byte = [&](unsigned x) { result += static_cast<char>(x); };
        if (code < 0x80)
            byte(code);
        else if (code < 0x800) {
            byte(0xc0U | (code >> 6U));
            byte(0x80U | (code & 0x3fU));
        } else {
            if (code < 0x10000)
                byte(0xe0U | (code >> 12U));
            else {
                byte(0xf0U | (code >> 18U));
                byte(0x80U | ((code >> 12U) & 0x3fU));
            }
            byte(0x80U | ((code >> 6U) & 0x3fU));
            byte(0x80U | (code & 0x3fU));
        }
    }

    std::string_view text_;
    std::size_t at_ = 0;
};

} // namespace tiny_dlm
