// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include <basin/core/math.hpp>
#include <basin/testing/report.hpp>

namespace basin::testing {

/// Whether infinities and NaN work in this translation unit. `-ffinite-math-only` is refused by an #error; this catches
/// what macros cannot see: an attribute, a pragma, a linked object that sets the processor to flush to zero.
inline report self_test() {
    report r;
    auto const expect = [&](bool holds, char const* words) { r.expect(holds, [&] { return std::string(words); }); };
    auto const in = [&](auto one, char const* type) {
        using T = decltype(one);
        // volatile: the compiler must not decide these at compile time, where it is always right
        T volatile const zero = T(0), huge = sizeof(T) == 4 ? T(3e38F) : T(1e308);
        T volatile const inf = one / zero;
        T volatile const nan = zero / zero;
        std::string const t = std::string(type) + ": ";
        T const a = inf, b = nan, c = huge;
        expect(a > c && -a < -c, (t + "infinity is greater than every number").c_str());
        expect(b != b && !(b == b) && !(b < a) && !(b > -a),
               (t + "NaN is unequal to itself and compares false").c_str());
        expect(math::exp(-a) == T(0), (t + "exp(-inf) is 0").c_str());
        expect(a - a != a - a, (t + "inf - inf is NaN").c_str());
        expect(math::max(-a, c) == c && math::max(c, -a) == c,
               (t + "a maximum that begins at -inf finds a number").c_str());
        expect(c * T(10) == a, (t + "overflow is infinity").c_str());
        expect(math::log(T(zero)) == -a, (t + "log(0) is -inf").c_str());
        T volatile const tiny = sizeof(T) == 4 ? T(1e-38F) : T(1e-307);
        expect(T(tiny) / T(1024) > T(0), (t + "small numbers are not flushed to zero").c_str());
    };
    in(1.0F, "float");
    in(1.0, "double");
    return r;
}

} // namespace basin::testing
