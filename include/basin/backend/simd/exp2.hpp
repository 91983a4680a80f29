// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

// 2^t for a vector, and the logarithm of sums. -inf gives exactly 0, NaN gives NaN, 0 gives exactly 1. Results below the smallest normal number
// are 0 or denormal (0 under flush_guard). Relative error 1.7e-7 (float), 2e-16 (double); the portable form loses digits
// under flush_guard below 2^-102 (float) and 2^-970 (double), where a product with a fraction is flushed.
// Large t: AVX-512 gives +inf, elsewhere t is cut at 127.4 (float) or 1023.4 (double): finite, and far above any
// threshold of the callers, who test for it.

#include "shim.hpp"

namespace basin::detail::simd {

template <class T>
struct exp2_table;

// Coefficients of f^1 ... f^n, constant term 1, minimax in relative error. `positive` on [0, 1), `centred` on [-1/2, 1/2].
template <>
struct exp2_table<float> {
    static constexpr int degree = 5;
    static constexpr float positive[] = {6.9315131181760979e-1f, 2.4016445003927303e-1f, 5.5799913425224284e-2f,
                                         9.0170299625296128e-3f, 1.8671302119512633e-3f};
    static constexpr float centred[] = {6.9314697760252062e-1f, 2.4022242085495411e-1f, 5.5507337372463386e-2f,
                                        9.6715126398380196e-3f, 1.3264729095861270e-3f};
    static constexpr float low = -127.f, high = 127.4f;
    static constexpr float magic =
        12582912.f + 127.f; // 1.5 * 2^23 + bias: adding it leaves round(t) + bias in the low bits
    static constexpr int mantissa = 23;
};

template <>
struct exp2_table<double> {
    static constexpr int degree = 11;
    static constexpr double positive[] = {6.9314718055994592842e-1, 2.4022650695906330204e-1, 5.5504108665602253297e-2,
                                          9.6181290995507955717e-3, 1.3333558629566755226e-3, 1.5403512309628660399e-4,
                                          1.5253175055562795993e-5, 1.3208367288951140366e-6, 1.0253212435721934234e-7,
                                          6.5595293227705283670e-9, 6.2634661422960210149e-10};
    static constexpr double centred[] = {6.9314718055994532581e-1, 2.4022650695910131259e-1, 5.5504108664820083129e-2,
                                         9.6181291075941206394e-3, 1.3333558146774648946e-3, 1.5403530457111361421e-4,
                                         1.5252733493095939758e-5, 1.3215435282680663139e-6, 1.0178199586447908620e-7,
                                         7.0737831844583162688e-9, 4.4347689286262758828e-10};
    static constexpr double low = -1023., high = 1023.4;
    static constexpr double magic = 6755399441055744. + 1023.;
    static constexpr int mantissa = 52;
};

template <class A, class T>
[[gnu::always_inline]] inline vec<T, A> pow2(vec<T, A> const& t) noexcept {
    using table = exp2_table<T>;
    using v = vec<T, A>;
    if constexpr (has_scalef<A>) {
        v const f = fraction<A, T>(t);
        v p = v(table::positive[table::degree - 1]);
#pragma GCC unroll 16
        for (int k = table::degree - 2; k >= 0; --k) p = multiply_add<A, T>(p, f, v(table::positive[k]));
        return scale_by_floor<A, T>(multiply_add<A, T>(p, f, v(T(1))), t);
    } else {
        v const x = at_least<A, T>(at_most<A, T>(t, v(table::high)), v(table::low));
        v const shifted = x + v(table::magic);
        v const f = x - (shifted - v(table::magic));
        v const s = shift_bits_left<table::mantissa, A, T>(shifted); // 2^round(t); 0 for round(t) = -bias
        v p = v(table::centred[table::degree - 1]);
#pragma GCC unroll 16
        for (int k = table::degree - 2; k >= 0; --k) p = multiply_add<A, T>(p, f, v(table::centred[k]));
        // s + (s f) p, not s (1 + f p): same count, and no bare product that a compiler may contract with the sum
        // that follows, which would make two callers of this function disagree in the last bit.
        return multiply_add<A, T>(s * f, p, s);
    }
}

// log2 of sums of exponentials: positive numbers or +inf, NaN gives NaN, 1 exactly 0. Error 1.6 units of the last place, or 1e-7
// near 0.
template <class A>
[[gnu::always_inline]] inline vec<float, A> log2_of(vec<float, A> const& x) noexcept {
#if defined(__AVX512DQ__)
    if constexpr (has_scalef<A>) { // xsimd 8.1 cannot compile its own for AVX-512 without optimisation
        using v = vec<float, A>;
        v const doubled(_mm512_maskz_getmant_ps(every16, x.data, _MM_MANT_NORM_1_2, _MM_MANT_SIGN_src));
        v const exponent(_mm512_maskz_getexp_ps(every16, x.data));
        auto const large = doubled > v(1.41421356f); // m in [0.707, 1.414), so that results near 0 are not differences
        v const m = xsimd::select(large, doubled * v(0.5f), doubled);
        v const k = xsimd::select(large, exponent + v(1.f), exponent);
        v const s = (m - v(1.f)) / (m + v(1.f)), square = s * s; // log m = 2 artanh s
        v p = multiply_add<A, float>(v(0.4317357965f), square, v(0.5767143882f));
        p = multiply_add<A, float>(p, square, v(0.9617988476f));
        p = multiply_add<A, float>(p, square, v(2.88539008f));
        return multiply_add<A, float>(p, s, k);
    } else
#endif
    {
        return xsimd::log2(x);
    }
}

// x * 2^n for integer-valued n <= 0 (or NaN): exact unless the result is too small. Used for references, off the hot path.
template <class A, class T>
[[gnu::always_inline]] inline vec<T, A> times_power(vec<T, A> const& x, vec<T, A> const& n) noexcept {
    return x * pow2<A, T>(n);
}

} // namespace basin::detail::simd
