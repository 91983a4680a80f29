// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include <basin/export/csv.hpp>

namespace basin {
namespace detail {

inline std::string json_text(std::string const& text) {
    std::string quoted = "\"";
    for (char const c : text) {
        if (c == '"' || c == '\\')
            (quoted += '\\') += c;
        else if (static_cast<unsigned char>(c) < 0x20) {
            char code[8];
            std::snprintf(code, sizeof code, "\\u%04x", static_cast<unsigned>(static_cast<unsigned char>(c)));
            quoted += code;
        } else
            quoted += c;
    }
    return quoted + '"';
}

} // namespace detail

/// One JSON object per row. NaN is null; JSON has no infinity, so that one is refused. Texts are taken to be UTF-8.
/// pandas: read_json(path, lines=True, precise_float=True), which refuses subnormal numbers; Python's json takes all.
inline void write_jsonl(std::string const& path, table const& t) {
    for (auto const& c : t.columns())
        for (double const x : c.numbers) {
            if (x - x != 0 && x == x)
                detail::fail<argument_error>("write_jsonl: column ", c.name.c_str(),
                                             " has an infinite number, which JSON cannot say; write CSV or NPY");
        }
    atomic_file file(path);
    char text[40];
    for (std::size_t row = 0; row < t.rows(); ++row) {
        bool first = true;
        for (auto const& c : t.columns()) {
            file.write((first ? "{" : ", ") + detail::json_text(c.name) + ": ");
            first = false;
            if (c.type == table::kind::integer)
                file.write(std::to_string(c.integers[row]));
            else if (c.type == table::kind::text)
                file.write(detail::json_text(c.texts[row]));
            else if (c.numbers[row] != c.numbers[row])
                file.write("null");
            else {
                detail::print_number(text, c.numbers[row]);
                file.write(text);
            }
        }
        file.write("}\n");
    }
    file.commit();
}

} // namespace basin
