// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

// The hyperbolic tangent for soft caps. xsimd's has branches on all lanes and takes 60 cycles or more a vector; this one is a
// straight line that a processor can overlap with its neighbours.

#include "exp2.hpp"

namespace basin::detail::simd {

// An odd rational function of degree 13 over 6, cut where tanh is 1 in float: 2 ulp. double goes to xsimd.
template <class A, class T>
[[gnu::always_inline]] inline vec<T, A> hyperbolic_tangent(vec<T, A> const& x) noexcept {
    if constexpr (sizeof(T) == 8) {
        return xsimd::tanh(x);
    } else {
        using v = vec<T, A>;
        v const t = at_least<A, T>(at_most<A, T>(x, v(7.90531110763549805F)), v(-7.90531110763549805F));
        v const s = t * t;
        v p = multiply_add<A, T>(s, v(-2.76076847742355e-16F), v(2.00018790482477e-13F));
        p = multiply_add<A, T>(s, p, v(-8.60467152213735e-11F));
        p = multiply_add<A, T>(s, p, v(5.12229709037114e-08F));
        p = multiply_add<A, T>(s, p, v(1.48572235717979e-05F));
        p = multiply_add<A, T>(s, p, v(6.37261928875436e-04F));
        p = multiply_add<A, T>(s, p, v(4.89352455891786e-03F));
        v q = multiply_add<A, T>(s, v(1.19825839466702e-06F), v(1.18534705686654e-04F));
        q = multiply_add<A, T>(s, q, v(2.26843463243900e-03F));
        q = multiply_add<A, T>(s, q, v(4.89352518554385e-03F));
        return quotient<A>(t * p, q);
    }
}

} // namespace basin::detail::simd
