// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#include <basin/basin.hpp>
#include <support/random.hpp>

#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

// half and bfloat16 against their definitions, spelled out in double: sign, exponent, significand.
namespace {

using basin_test::random_numbers;

/// The number of a bit pattern with `e` exponent and `s` significand bits.
double number(std::uint32_t bits, int e, int s) {
    int const bias = (1 << (e - 1)) - 1;
    double const sign = (bits >> (e + s)) != 0 ? -1 : 1;
    auto const exponent = static_cast<int>((bits >> s) & ((1U << e) - 1U));
    auto const significand = static_cast<double>(bits & ((1U << s) - 1U));
    if (exponent == (1 << e) - 1)
        return significand != 0 ? std::nan("") : sign * std::numeric_limits<double>::infinity();
    if (exponent == 0) return sign * std::ldexp(significand, 1 - bias - s);
    return sign * std::ldexp(std::ldexp(1.0, s) + significand, exponent - bias - s);
}

/// The nearest pattern, ties to the even one, found by comparing with the neighbours: no shifting of bits.
std::uint32_t nearest(double x, int e, int s) {
    std::uint32_t const sign = std::signbit(x) ? 1U << (e + s) : 0U;
    std::uint32_t const infinity = ((1U << e) - 1U) << s;
    double const magnitude = std::abs(x);
    if (magnitude == std::numeric_limits<double>::infinity()) return sign | infinity;
    std::uint32_t low = 0, high = infinity; // patterns are ordered as numbers are
    while (high - low > 1) {
        std::uint32_t const middle = (low + high) / 2;
        (number(middle, e, s) <= magnitude ? low : high) = middle;
    }
    // The place of infinity in rounding is the number that would follow.
    double const above =
        high == infinity ? 2 * number(infinity - 1, e, s) - number(infinity - 2, e, s) : number(high, e, s);
    double const down = magnitude - number(low, e, s), up = above - magnitude;
    return sign | (down < up || (down == up && low % 2 == 0) ? low : high);
}

template <class T>
void check_patterns(int e, int s) {
    int wrong = 0;
    for (std::uint32_t bits = 0; bits < 65536; ++bits) {
        auto const x = std::bit_cast<T>(static_cast<std::uint16_t>(bits));
        auto const value = static_cast<float>(x);
        double const want = number(bits, e, s);
        if (std::isnan(want)) {
            // NaN stays NaN both ways and keeps its sign.
            wrong += std::isnan(value) && std::signbit(value) == (bits >= 0x8000U) &&
                             std::isnan(static_cast<float>(T(value)))
                         ? 0
                         : 1;
            continue;
        }
        wrong += static_cast<double>(value) == want && std::signbit(value) == (bits >= 0x8000U) ? 0 : 1;
        wrong += T(value).bits == bits ? 0 : 1; // and back, exactly
    }
    CHECK(wrong == 0);
}

template <class T>
void check_rounding(int e, int s) {
    int wrong = 0;
    auto const check = [&](float x) {
        if (std::isnan(x)) return;
        std::uint32_t const want = nearest(static_cast<double>(x), e, s);
        if (T(x).bits == want) return;
        if (++wrong == 1) {
            CAPTURE(x);
            CHECK(T(x).bits == want);
        }
    };
    // Every number, the middle to the next one, and the floats on both sides of each.
    std::uint32_t const infinity = ((1U << e) - 1U) << s;
    for (std::uint32_t bits = 0; bits < infinity; ++bits) {
        double const here = number(bits, e, s);
        double const next = bits + 1 == infinity ? here + (here - number(bits - 1, e, s)) : number(bits + 1, e, s);
        auto const middle = static_cast<float>((here + next) / 2);
        for (float const x : {static_cast<float>(here), middle})
            for (float const y :
                 {x, std::nextafter(x, std::numeric_limits<float>::infinity()), std::nextafter(x, 0.F)}) {
                check(y);
                check(-y);
            }
    }
    for (std::uint64_t i = 0; i < 200000; ++i)
        check(std::bit_cast<float>(static_cast<std::uint32_t>(random_numbers::bits(4, i))));
    CHECK(wrong == 0);
}

} // namespace

TEST_CASE("half: all 65536 patterns") { check_patterns<basin::half>(5, 10); }
TEST_CASE("bfloat16: all 65536 patterns") { check_patterns<basin::bfloat16>(8, 7); }
TEST_CASE("half: rounds to nearest, ties to even") { check_rounding<basin::half>(5, 10); }
TEST_CASE("bfloat16: rounds to nearest, ties to even") { check_rounding<basin::bfloat16>(8, 7); }

TEST_CASE("half: borders by name") {
    using basin::half;
    CHECK(half(65504.F).bits == 0x7bff);
    CHECK(half(65519.F).bits == 0x7bff);
    CHECK(half(65520.F).bits == 0x7c00); // the middle goes to infinity, which is even
    CHECK(half(-1e30F).bits == 0xfc00);
    CHECK(half(std::numeric_limits<float>::infinity()).bits == 0x7c00);
    CHECK(half(0x1p-14F).bits == 0x0400); // smallest normal
    CHECK(half(0x1p-24F).bits == 0x0001); // smallest subnormal
    CHECK(half(0x1p-25F).bits == 0x0000);
    CHECK(half(0x1.000002p-25F).bits == 0x0001);
    CHECK(half(-0.F).bits == 0x8000);
    CHECK(half(std::numeric_limits<float>::denorm_min()).bits == 0x0000);
    CHECK(std::isnan(static_cast<float>(half(std::numeric_limits<float>::signaling_NaN()))));
    CHECK(half().bits == 0);
    static_assert(half(1.F).bits == 0x3c00 && static_cast<float>(half(1.5F)) == 1.5F); // at compile time too
    static_assert(sizeof(half) == 2 && alignof(half) == 2 && std::is_trivially_copyable_v<half>);
}

TEST_CASE("bfloat16: borders by name") {
    using basin::bfloat16;
    CHECK(bfloat16(1.F).bits == 0x3f80);
    CHECK(bfloat16(std::numeric_limits<float>::max()).bits == 0x7f80); // rounds to infinity
    CHECK(bfloat16(std::numeric_limits<float>::infinity()).bits == 0x7f80);
    CHECK(bfloat16(std::numeric_limits<float>::denorm_min()).bits == 0x0000);
    CHECK(bfloat16(-0.F).bits == 0x8000);
    // A NaN whose upper bits are those of infinity must not become infinity.
    CHECK(std::isnan(static_cast<float>(bfloat16(std::bit_cast<float>(0x7f800001U)))));
    CHECK(std::isnan(static_cast<float>(bfloat16(std::bit_cast<float>(0xffffffffU)))));
    static_assert(bfloat16(1.F).bits == 0x3f80 && static_cast<float>(bfloat16(-2.F)) == -2.F);
    static_assert(sizeof(bfloat16) == 2 && alignof(bfloat16) == 2 && std::is_trivially_copyable_v<bfloat16>);
}
