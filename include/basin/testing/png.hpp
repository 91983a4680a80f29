// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

namespace basin::testing {

using bytes = std::vector<std::uint8_t>;

namespace inner {

inline void append_number(bytes& to, std::uint32_t x) {
    for (unsigned shift : {24U, 16U, 8U, 0U}) to.push_back(static_cast<std::uint8_t>(x >> shift));
}
inline std::uint32_t crc32(std::uint8_t const* data, std::size_t n) {
    std::uint32_t crc = 0xffffffffU;
    for (std::size_t i = 0; i < n; ++i) {
        crc ^= data[i];
        for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1U) ^ ((crc & 1U) != 0U ? 0xedb88320U : 0U);
    }
    return ~crc;
}
inline void append_chunk(bytes& to, char const (&type)[5], bytes const& data) {
    append_number(to, static_cast<std::uint32_t>(data.size()));
    std::size_t const begin = to.size();
    for (int i = 0; i < 4; ++i) to.push_back(static_cast<std::uint8_t>(type[i]));
    to.insert(to.end(), data.begin(), data.end());
    append_number(to, crc32(to.data() + begin, to.size() - begin));
}

} // namespace inner

/// The smallest PNG encoder that is still right: 8-bit red, green, blue, rows from the top, stored without compression.
inline bytes png(std::uint32_t width, std::uint32_t height, bytes const& pixels) {
    bytes raw;
    for (std::uint32_t y = 0; y < height; ++y) {
        raw.push_back(0); // no filter
        auto const bytes_of_row = 3 * static_cast<std::ptrdiff_t>(width);
        auto const row = pixels.begin() + static_cast<std::ptrdiff_t>(y) * bytes_of_row;
        raw.insert(raw.end(), row, row + bytes_of_row);
    }
    bytes stream = {0x78, 0x01}; // zlib, no compression
    std::size_t const block = 65535;
    for (std::size_t at = 0; at == 0 || at < raw.size(); at += block) {
        std::size_t const n = raw.size() - at < block ? raw.size() - at : block;
        stream.push_back(at + n == raw.size() ? 1 : 0);
        for (std::size_t const x : {n, ~n}) {
            stream.push_back(static_cast<std::uint8_t>(x & 255U));
            stream.push_back(static_cast<std::uint8_t>((x >> 8U) & 255U));
        }
        stream.insert(stream.end(), raw.begin() + static_cast<std::ptrdiff_t>(at),
                      raw.begin() + static_cast<std::ptrdiff_t>(at + n));
    }
    std::uint32_t a = 1, b = 0; // Adler-32
    for (std::uint8_t const x : raw) {
        a = (a + x) % 65521U;
        b = (b + a) % 65521U;
    }
    inner::append_number(stream, (b << 16U) | a);

    bytes file = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};
    bytes header;
    inner::append_number(header, width);
    inner::append_number(header, height);
    for (int const x : {8, 2, 0, 0, 0}) header.push_back(static_cast<std::uint8_t>(x)); // 8 bits, colour, the defaults
    inner::append_chunk(file, "IHDR", header);
    inner::append_chunk(file, "IDAT", stream);
    inner::append_chunk(file, "IEND", {});
    return file;
}

} // namespace basin::testing
