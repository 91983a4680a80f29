// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include <basin/export/atomic_file.hpp>
#include <basin/export/table.hpp>

#include <cstdio>
#include <cstring>

namespace basin {
namespace detail {

/// 17 digits bring every double back exactly, and a point keeps it from being read as an integer (-0 would lose its sign);
/// NaN and infinities as pandas and numpy read them.
inline void print_number(char (&text)[40], double x) {
    if (x != x)
        std::snprintf(text, sizeof text, "nan");
    else
        std::snprintf(text, sizeof text, "%.17g", x);
    if (std::strpbrk(text, ".en") == nullptr) std::strcat(text, ".0");
}

inline std::string csv_text(std::string const& text) {
    if (text.find_first_of(",\"\r\n") == std::string::npos && !text.empty()) return text;
    std::string quoted = "\"";
    for (char const c : text) {
        if (c == '"') quoted += '"';
        quoted += c;
    }
    return quoted + '"';
}

} // namespace detail

/// Comma-separated values with a header. pandas: read_csv(path, float_precision="round_trip").
inline void write_csv(std::string const& path, table const& t) {
    atomic_file file(path);
    char text[40];
    bool first = true;
    for (auto const& c : t.columns()) {
        if (!first) file.write(",");
        file.write(detail::csv_text(c.name));
        first = false;
    }
    file.write("\n");
    for (std::size_t row = 0; row < t.rows(); ++row) {
        first = true;
        for (auto const& c : t.columns()) {
            if (!first) file.write(",");
            first = false;
            if (c.type == table::kind::integer)
                file.write(std::to_string(c.integers[row]));
            else if (c.type == table::kind::text)
                file.write(detail::csv_text(c.texts[row]));
            else {
                detail::print_number(text, c.numbers[row]);
                file.write(text);
            }
        }
        file.write("\n");
    }
    file.commit();
}

} // namespace basin
