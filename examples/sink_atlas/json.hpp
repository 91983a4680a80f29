// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// JSON as text: just what the page needs.
namespace sink_atlas::json {

inline std::string text(std::string_view plain) {
    std::string result = "\"";
    for (char const c : plain) {
        auto const code = static_cast<unsigned char>(c);
        if (c == '"' || c == '\\' || code < 0x20 || c == '<') { // '<': no text may end the script element
            char escaped[8];
            std::snprintf(escaped, sizeof escaped, "\\u%04x", static_cast<unsigned>(code));
            result += escaped;
        } else
            result += c;
    }
    return result + '"';
}
/// NaN and infinity are null.
inline std::string number(double x) {
    if (!std::isfinite(x)) return "null";
    char result[40];
    std::snprintf(result, sizeof result, "%.7g", x);
    return result;
}
template <class List, class F>
std::string list(List const& all, F const& f) {
    std::string result = "[";
    for (auto const& x : all) result += (result.size() > 1 ? "," : "") + f(x);
    return result + "]";
}
inline std::string numbers(std::vector<double> const& all) { return list(all, number); }
inline std::string texts(std::vector<std::string> const& all) {
    return list(all, [](std::string const& x) { return text(x); });
}
/// Values are JSON already.
inline std::string object(std::vector<std::pair<std::string, std::string>> const& members) {
    std::string result = "{";
    for (auto const& [name, value] : members) result += (result.size() > 1 ? "," : "") + text(name) + ":" + value;
    return result + "}";
}
/// The bytes of numbers, in base 64.
template <class T>
std::string bytes(std::vector<T> const& values) {
    static constexpr char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    auto const* const data = reinterpret_cast<unsigned char const*>(values.data());
    std::size_t const n = values.size() * sizeof(T);
    std::string result = "\"";
    for (std::size_t i = 0; i < n; i += 3) {
        std::uint32_t const group = static_cast<std::uint32_t>(data[i]) << 16U |
                                    (i + 1 < n ? static_cast<std::uint32_t>(data[i + 1]) << 8U : 0U) |
                                    (i + 2 < n ? static_cast<std::uint32_t>(data[i + 2]) : 0U);
        for (unsigned j = 0; j < 4; ++j) result += i + j <= n ? digits[(group >> (18U - 6U * j)) & 63U] : '=';
    }
    return result + '"';
}

} // namespace sink_atlas::json
