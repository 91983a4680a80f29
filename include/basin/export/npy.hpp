// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include <basin/core/key_set.hpp>
#include <basin/core/strided.hpp>
#include <basin/export/atomic_file.hpp>

#include <cstdio>

namespace basin {
namespace detail {

template <class T>
constexpr char const* npy_type() {
    static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "basin: NPY files are written on little-endian machines");
    if constexpr (std::is_same_v<T, half>)
        return "<f2";
    else if constexpr (std::is_same_v<T, bool>)
        return "|b1";
    else if constexpr (std::is_floating_point_v<T>)
        return sizeof(T) == 4 ? "<f4" : "<f8";
    else if constexpr (std::is_enum_v<T> || std::is_unsigned_v<T>)
        return sizeof(T) == 1 ? "|u1" : sizeof(T) == 2 ? "<u2" : sizeof(T) == 4 ? "<u4" : "<u8";
    else {
        static_assert(std::is_integral_v<T>,
                      "basin: write_npy takes float, double, half, integers and bool; convert bfloat16 to float first");
        return sizeof(T) == 1 ? "|i1" : sizeof(T) == 2 ? "<i2" : sizeof(T) == 4 ? "<i4" : "<i8";
    }
}

inline void write_npy_header(atomic_file& file, char const* type, int rank, index_t const* extents) {
    std::string header = std::string("{'descr': '") + type + "', 'fortran_order': False, 'shape': (";
    for (int i = 0; i < rank; ++i) header += std::to_string(extents[i]) + (rank == 1 || i + 1 < rank ? "," : "");
    header += "), }";
    std::size_t const before = 10; // magic, version, length of the header
    while ((before + header.size() + 1) % 64 != 0) header += ' ';
    header += '\n';
    char const start[before] = {'\x93',
                                'N',
                                'U',
                                'M',
                                'P',
                                'Y',
                                1,
                                0,
                                static_cast<char>(header.size() & 0xffU),
                                static_cast<char>(header.size() >> 8U)};
    file.write(start, before);
    file.write(header);
}

} // namespace detail

/// Any array, in row-major order. numpy: load(path).
template <class Array>
    requires detail::array_like<Array>
void write_npy(std::string const& path, Array const& array) {
    auto const x = detail::describe(array, "write_npy");
    using T = std::remove_cv_t<std::remove_reference_t<decltype(*x.data)>>;
    atomic_file file(path);
    detail::write_npy_header(file, detail::npy_type<T>(), x.rank, x.extents);
    index_t n[4] = {1, 1, 1, 1};
    std::ptrdiff_t s[4] = {};
    for (int i = 0; i < x.rank; ++i) {
        n[4 - x.rank + i] = x.extents[i];
        s[4 - x.rank + i] = x.strides[i];
    }
    for (index_t a = 0; a < n[0]; ++a)
        for (index_t b = 0; b < n[1]; ++b)
            for (index_t c = 0; c < n[2]; ++c)
                for (index_t d = 0; d < n[3]; ++d) {
                    T const value = x.data[a * s[0] + b * s[1] + c * s[2] + d * s[3]];
                    file.write(reinterpret_cast<char const*>(&value), sizeof value);
                }
    file.commit();
}

/// A set as booleans, (batch, head, key).
inline void write_npy(std::string const& path, key_set const& keys) {
    atomic_file file(path);
    index_t const extents[3] = {keys.batch(), keys.heads(), keys.keys()};
    detail::write_npy_header(file, "|b1", 3, extents);
    for (index_t b = 0; b < keys.batch(); ++b)
        for (index_t h = 0; h < keys.heads(); ++h)
            for (index_t key = 0; key < keys.keys(); ++key) {
                char const bit = keys.contains(b, h, key) ? 1 : 0;
                file.write(&bit, 1);
            }
    file.commit();
}

} // namespace basin
