// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include <basin/detail/compiler.hpp>

#include <cstdint>
#include <type_traits>

// Named here so that their arrays are taken without including Eigen.
namespace Eigen {
struct half;
struct bfloat16;
} // namespace Eigen

namespace basin {
namespace detail {

// __builtin_bit_cast instead of <bit>, which is dear to include.
template <class To, class From>
constexpr To bits_of(From const& from) {
    return __builtin_bit_cast(To, from);
}

/// binary32 to binary16, to nearest even; NaN stays NaN (quiet), too large becomes infinity.
constexpr std::uint16_t to_half_bits(float value) {
    std::uint32_t const x = bits_of<std::uint32_t>(value);
    std::uint32_t const sign = (x >> 16U) & 0x8000U;
    std::uint32_t const magnitude = x & 0x7fffffffU;
    std::uint32_t result = 0;
    if (magnitude > 0x7f800000U) {
        result = 0x7e00U | ((magnitude >> 13U) & 0x3ffU);
    } else if (magnitude >= 0x477ff000U) { // 65520 and above round to infinity
        result = 0x7c00U;
    } else if (magnitude >= 0x38800000U) { // normal in half
        std::uint32_t const odd = (magnitude >> 13U) & 1U;
        result = (magnitude - 0x38000000U + 0xfffU + odd) >> 13U;
    } else if (magnitude >
               0x33000000U) { // subnormal in half: shift the whole significand, 2^-25 itself rounds to even (0)
        std::uint32_t const shift = 126U - (magnitude >> 23U);
        std::uint32_t const significand = (magnitude & 0x7fffffU) | 0x800000U;
        std::uint32_t const kept = significand >> shift;
        std::uint32_t const lost = significand & ((1U << shift) - 1U);
        std::uint32_t const middle = 1U << (shift - 1U);
        result = kept + (lost > middle || (lost == middle && (kept & 1U) != 0U) ? 1U : 0U);
    }
    return static_cast<std::uint16_t>(sign | result);
}

constexpr float from_half_bits(std::uint16_t bits) {
    std::uint32_t const sign = (bits & 0x8000U) << 16U;
    std::uint32_t const exponent = (bits >> 10U) & 0x1fU;
    std::uint32_t const significand = bits & 0x3ffU;
    if (exponent == 0x1fU) return bits_of<float>(sign | 0x7f800000U | (significand << 13U));
    if (exponent != 0U) return bits_of<float>(sign | ((exponent + 112U) << 23U) | (significand << 13U));
    float const tiny = static_cast<float>(significand) * 0x1p-24F; // exact
    return sign != 0U ? -tiny : tiny;
}

/// binary32 to bfloat16, to nearest even; a NaN is made quiet so that rounding cannot turn it into infinity.
constexpr std::uint16_t to_bfloat16_bits(float value) {
    std::uint32_t const x = bits_of<std::uint32_t>(value);
    if ((x & 0x7fffffffU) > 0x7f800000U) return static_cast<std::uint16_t>((x >> 16U) | 0x40U);
    return static_cast<std::uint16_t>((x + 0x7fffU + ((x >> 16U) & 1U)) >> 16U);
}

} // namespace detail

/// IEEE binary16 as storage: 16 bits that convert to and from float. Arithmetic happens in float.
/// may_alias: an array of Eigen::half or _Float16 has the same bits and is read in place.
struct [[gnu::may_alias]] half {
    std::uint16_t bits = 0;
    constexpr half() = default;
    constexpr explicit half(float value) : bits(detail::to_half_bits(value)) {}
    constexpr operator float() const { return detail::from_half_bits(bits); } // NOLINT: reads like a number
};

/// bfloat16 as storage: the upper half of a float.
struct [[gnu::may_alias]] bfloat16 {
    std::uint16_t bits = 0;
    constexpr bfloat16() = default;
    constexpr explicit bfloat16(float value) : bits(detail::to_bfloat16_bits(value)) {}
    constexpr operator float() const { // NOLINT: reads like a number
        return detail::bits_of<float>(static_cast<std::uint32_t>(bits) << 16U);
    }
};

/// For each element type: the storage type that kernels see, and the type in which sums are kept.
/// Specialise it for a 16-bit type of your own that has the bits of half or bfloat16.
template <class T>
struct scalar_traits {};
/// Numbers are computed with as they are stored.
template <>
struct scalar_traits<float> {
    using storage = float; ///< what kernels see
    using accumulation = float;
};
/// Numbers are computed with as they are stored.
template <>
struct scalar_traits<double> {
    using storage = double; ///< what kernels see
    using accumulation = double;
};
/// 16 bits are storage; arithmetic is in float.
template <>
struct scalar_traits<half> {
    using storage = half; ///< what kernels see
    using accumulation = float;
};
/// 16 bits are storage; arithmetic is in float.
template <>
struct scalar_traits<bfloat16> {
    using storage = bfloat16; ///< what kernels see
    using accumulation = float;
};
template <>
struct scalar_traits<Eigen::half> : scalar_traits<half> {};
template <>
struct scalar_traits<Eigen::bfloat16> : scalar_traits<bfloat16> {};

// clang below 15 has the type only with AVX512-FP16, GCC below 13 has it in C++ for x86 alone.
#if defined(__FLT16_MAX__) && (defined(__clang__) ? __clang_major__ >= 15 : (__GNUC__ >= 13 || defined(__x86_64__)))
__extension__ typedef _Float16 native_half; // NOLINT: "using" cannot carry __extension__
template <>
struct scalar_traits<native_half> : scalar_traits<half> {};
#endif

/// What arrays may hold: float, double, half, bfloat16, and types that scalar_traits knows.
template <class T>
concept scalar = requires { typename scalar_traits<std::remove_cv_t<T>>::storage; };

/// What numbers stored as T are computed in.
template <class T>
using accumulation_t = typename scalar_traits<std::remove_cv_t<T>>::accumulation;

} // namespace basin
