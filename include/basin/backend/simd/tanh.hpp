// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

// The hyperbolic tangent for soft caps. xsimd's has branches on all lanes and takes 60 cycles or more a vector; these are
// straight lines that a processor can overlap with their neighbours.

#include "exp2.hpp"

namespace basin::detail::simd {

// tanh on [0, 9.01] in 16 pieces, one per lane of AVX-512: where a piece is centred, then the coefficients of a polynomial of degree
// 5 about it, minimax in relative error, 4e-8. Pieces are told apart by the highest bits of |x| + 5/8, so that they are short where
// tanh bends. 5 multiply-adds instead of the 12 of a rational function; what chooses the coefficients, and |x|, sign and cut, run
// beside them.
struct tanh_pieces {
    static constexpr float shift = 0.625F, end = 9.0109F;
    static constexpr int discarded_bits = 21;
    alignas(64) static constexpr float table[7][16] = {
        {1.625F, 2.125F, 2.625F, 3.125F, 3.875F, 4.875F, 5.875F, 6.875F, 8.19295025F, 0.F, 0.1875F, 0.3125F, 0.5F,
         0.75F, 1.F, 1.25F},
        {0.925346255F, 0.971872747F, 0.98955977F, 0.9961465F, 0.999138832F, 0.999883413F, 0.999984205F, 0.999997854F,
         0.999999821F, 0.F, 0.185333207F, 0.302709728F, 0.462117165F, 0.635148942F, 0.761594176F, 0.848283648F},
        {0.143734202F, 0.0554633513F, 0.020771509F, 0.00769209303F, 0.00172154931F, 0.000233160346F, 3.1558011e-05F,
         4.27097075e-06F, 3.06259381e-07F, 1.F, 0.965651631F, 0.908366799F, 0.786447823F, 0.59658581F, 0.419974327F,
         0.28041485F},
        {-0.133013234F, -0.0539021492F, -0.0205532461F, -0.00766178267F, -0.0017173196F, -0.000232751307F,
         -3.15056495e-05F, -4.26393945e-06F, -3.02337099e-07F, 4.44367629e-07F, -0.17896679F, -0.274970859F,
         -0.363424152F, -0.378920704F, -0.319852591F, -0.23787342F},
        {0.0751785487F, 0.0339008011F, 0.0134157119F, 0.00506853918F, 0.00114311918F, 0.00015515594F, 2.10063554e-05F,
         2.8430527e-06F, 2.01796169e-07F, -0.33335948F, -0.288717777F, -0.219554499F, -0.0942230821F, 0.0418033898F,
         0.1036053F, 0.10831286F},
        {-0.0248274878F, -0.0150294537F, -0.00648430455F, -0.00252358266F, -0.000598836574F, -8.16058164e-05F,
         -1.10544697e-05F, -1.49624896e-06F, -1.16438493e-07F, 0.000513691397F, 0.11281693F, 0.157693759F, 0.163501218F,
         0.0997265279F, 0.0281527694F, -0.012232082F},
        {0.0010887977F, 0.00445078034F, 0.00236014393F, 0.000976306328F, 0.000237105036F, 3.25313813e-05F,
         4.41078373e-06F, 5.97083783e-07F, 4.62898733e-08F, 0.129841045F, 0.0971129313F, 0.0459346436F, -0.0256542061F,
         -0.0633771494F, -0.0463101976F, -0.0193785932F}};
};

// factor * tanh(x), factor >= 0.
template <class A>
[[gnu::always_inline]] inline vec<float, A> tanh_by_pieces(vec<float, A> const& x,
                                                           vec<float, A> const& factor) noexcept {
    using pieces = tanh_pieces;
    using v = vec<float, A>;
    v const u = at_most<A, float>(xsimd::abs(x), v(pieces::end));
    auto const piece = piece_of<pieces::discarded_bits, A>(u + v(pieces::shift));
    v const z = u - look_up<A>(v::load_aligned(pieces::table[0]), piece);
    v p = look_up<A>(v::load_aligned(pieces::table[6]) * factor, piece);
#pragma GCC unroll 5
    for (int k = 5; k >= 1; --k)
        p = multiply_add<A, float>(p, z, look_up<A>(v::load_aligned(pieces::table[k]) * factor, piece));
    return p | xsimd::bitofsign(x);
}

// 1.5 ulp on AVX-512; elsewhere an odd rational function of degree 13 over 6, cut where tanh is 1 in float, 4.4 ulp. double goes to
// xsimd.
template <class A, class T>
[[gnu::always_inline]] inline vec<T, A> hyperbolic_tangent(vec<T, A> const& x) noexcept {
    using v = vec<T, A>;
    if constexpr (sizeof(T) == 8) {
        return xsimd::tanh(x);
    } else if constexpr (has_avx512<A>) {
        return tanh_by_pieces<A>(x, v(1.F));
    } else {
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
        return t * p / q;
    }
}

// cap * tanh(x / cap). In pieces, the cap is in the coefficients, which a loop computes once.
template <class A, class T>
[[gnu::always_inline]] inline vec<T, A> bent_towards(vec<T, A> const& x, double cap) noexcept {
    using v = vec<T, A>;
    v const share = x * v(static_cast<T>(1 / cap));
    if constexpr (sizeof(T) == 4 && has_avx512<A>)
        return tanh_by_pieces<A>(share, v(static_cast<T>(cap)));
    else
        return v(static_cast<T>(cap)) * hyperbolic_tangent<A, T>(share);
}

} // namespace basin::detail::simd
