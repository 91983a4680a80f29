// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

// The one file of the backend that knows instruction sets: what xsimd 8.1 lacks, does slowly, or spells
// differently from xsimd 14. Everything is a template on the architecture, so translation units compiled with
// different -march flags never share a symbol. For the same reason no small inline function of the standard library is
// called from the kernels (std::bit_cast, std::ceil, std::array): unoptimised, those would be shared symbols.

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include <basin/core/scalar.hpp>

#include <xsimd/xsimd.hpp>

// The whole of immintrin.h takes a third of a second to parse: only where xsimd includes it anyway.
#if defined(__AVX__)
#include <immintrin.h>
#elif defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace basin::detail::simd {

template <class T, class A>
using vec = xsimd::batch<T, A>;

// "A or anything built upon it": avx512bw counts as avx512f.
template <class A, class Base>
inline constexpr bool has_arch = std::is_base_of_v<Base, A>;

template <class A>
inline constexpr bool has_avx512 = has_arch<A, xsimd::avx512f>;

// 256-bit registers without AVX-512; fma3<avx2> derives from avx2, which derives from avx.
template <class A>
inline constexpr bool has_avx = has_arch<A, xsimd::avx> && !has_avx512<A>;

template <class A>
inline constexpr bool has_sse = has_arch<A, xsimd::sse2> && !has_avx<A> && !has_avx512<A>;

#if defined(__AVX512F__)
// The plain forms of some intrinsics read an undefined register under GCC 12, which warns about it wherever they are
// inlined; with a mask of all lanes they are the same instruction, and quiet.
inline constexpr __mmask16 every16 = 0xffff;
inline constexpr __mmask8 every8 = 0xff;
#endif

// Names differ from xsimd's on purpose: an argument-dependent lookup would try theirs with our template arguments.

// a * b + c, fused where the machine can. xsimd 8.1 has no fused form for AVX-512: it multiplies, then adds. GCC
// contracts that, clang does not, and would run at half speed.
template <class A, class T>
[[gnu::always_inline]] inline vec<T, A> multiply_add(vec<T, A> const& a, vec<T, A> const& b,
                                                     vec<T, A> const& c) noexcept {
#if defined(__AVX512F__)
    if constexpr (has_avx512<A> && std::is_same_v<T, float>) {
        return vec<T, A>(_mm512_fmadd_ps(a.data, b.data, c.data));
    } else if constexpr (has_avx512<A>) {
        return vec<T, A>(_mm512_fmadd_pd(a.data, b.data, c.data));
    } else
#endif
    {
        return xsimd::fma(a, b, c);
    }
}

// min(bound, x) and max(bound, x) that return x when x is NaN. xsimd's own order of operands changed in 14.0; the
// generic select costs two to four instructions where this is one.
template <class A, class T>
[[gnu::always_inline]] inline vec<T, A> at_most(vec<T, A> const& x, vec<T, A> const& bound) noexcept {
#if defined(__AVX512F__)
    if constexpr (has_avx512<A> && std::is_same_v<T, float>) {
        return vec<T, A>(_mm512_maskz_min_ps(every16, bound.data, x.data));
    } else if constexpr (has_avx512<A>) {
        return vec<T, A>(_mm512_maskz_min_pd(every8, bound.data, x.data));
    } else
#endif
#if defined(__SSE2__)
        if constexpr (has_sse<A> && std::is_same_v<T, float>) {
        return vec<T, A>(_mm_min_ps(bound.data, x.data));
    } else if constexpr (has_sse<A>) {
        return vec<T, A>(_mm_min_pd(bound.data, x.data));
    } else
#endif
#if defined(__AVX__)
        if constexpr (has_avx<A> && std::is_same_v<T, float>) {
        return vec<T, A>(_mm256_min_ps(bound.data, x.data));
    } else if constexpr (has_avx<A>) {
        return vec<T, A>(_mm256_min_pd(bound.data, x.data));
    } else
#endif
    {
        return xsimd::select(x > bound, bound, x);
    }
}

template <class A, class T>
[[gnu::always_inline]] inline vec<T, A> at_least(vec<T, A> const& x, vec<T, A> const& bound) noexcept {
#if defined(__AVX512F__)
    if constexpr (has_avx512<A> && std::is_same_v<T, float>) {
        return vec<T, A>(_mm512_maskz_max_ps(every16, bound.data, x.data));
    } else if constexpr (has_avx512<A>) {
        return vec<T, A>(_mm512_maskz_max_pd(every8, bound.data, x.data));
    } else
#endif
#if defined(__SSE2__)
        if constexpr (has_sse<A> && std::is_same_v<T, float>) {
        return vec<T, A>(_mm_max_ps(bound.data, x.data));
    } else if constexpr (has_sse<A>) {
        return vec<T, A>(_mm_max_pd(bound.data, x.data));
    } else
#endif
#if defined(__AVX__)
        if constexpr (has_avx<A> && std::is_same_v<T, float>) {
        return vec<T, A>(_mm256_max_ps(bound.data, x.data));
    } else if constexpr (has_avx<A>) {
        return vec<T, A>(_mm256_max_pd(bound.data, x.data));
    } else
#endif
    {
        return xsimd::select(x < bound, bound, x);
    }
}

// Integers as numbers; xsimd's own is the plain form that GCC 12 warns about.
template <class A, class T, class I>
[[gnu::always_inline]] inline vec<T, A> converted(vec<I, A> const& x) noexcept {
#if defined(__AVX512F__)
    if constexpr (has_avx512<A> && std::is_same_v<T, float>) {
        return vec<T, A>(_mm512_maskz_cvtepi32_ps(every16, x.data));
    } else
#endif
    {
        return xsimd::to_float(x);
    }
}

// AVX-512DQ does 2^t in reduce, polynomial, scalef: 7 instructions for float where the portable form takes 12.
template <class A>
inline constexpr bool has_scalef = has_arch<A, xsimd::avx512dq>;

// t - floor(t), 0 for infinities.
template <class A, class T>
[[gnu::always_inline]] inline vec<T, A> fraction(vec<T, A> const& t) noexcept {
#if defined(__AVX512DQ__)
    if constexpr (std::is_same_v<T, float>) {
        return vec<T, A>(_mm512_reduce_ps(t.data, 9));
    } else {
        return vec<T, A>(_mm512_reduce_pd(t.data, 9));
    }
#else
    return t; // never called: has_scalef is false
#endif
}

// p * 2^floor(t), with 0 for t = -inf. The masked form with a constant full mask is the same instruction, without the
// uninitialised operand that g++ 12 warns about.
template <class A, class T>
[[gnu::always_inline]] inline vec<T, A> scale_by_floor(vec<T, A> const& p, vec<T, A> const& t) noexcept {
#if defined(__AVX512DQ__)
    if constexpr (std::is_same_v<T, float>) {
        return vec<T, A>(_mm512_maskz_scalef_ps(every16, p.data, t.data));
    } else {
        return vec<T, A>(_mm512_maskz_scalef_pd(every8, p.data, t.data));
    }
#else
    return p + t; // never called: has_scalef is false
#endif
}

// The bits of x as integers, shifted left, as floating point again. xsimd 8 and 14 name their bit casts differently.
template <int Shift, class A, class T>
[[gnu::always_inline]] inline vec<T, A> shift_bits_left(vec<T, A> const& x) noexcept {
    using integer = std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>;
    using source = typename vec<T, A>::register_type;
    using target = typename vec<integer, A>::register_type;
    vec<integer, A> const bits(__builtin_bit_cast(target, static_cast<source>(x.data)));
    vec<integer, A> const moved = bits << Shift;
    return vec<T, A>(__builtin_bit_cast(source, static_cast<target>(moved.data)));
}

// One stage of a square transpose: lane k of the first result is a[k] or b[k - S], of the second a[k + S] or b[k],
// by bit S of k. xsimd 8.1 has no transpose, and its zips are three instructions each on AVX-512.
template <int S, class A, class T, std::size_t... K>
[[gnu::always_inline]] inline void exchange(vec<T, A>& a, vec<T, A>& b, std::index_sequence<K...>) noexcept {
    constexpr int w = static_cast<int>(sizeof...(K));
    auto const lo = __builtin_shufflevector(
        a.data, b.data, ((static_cast<int>(K) & S) ? w + static_cast<int>(K) - S : static_cast<int>(K))...);
    auto const hi = __builtin_shufflevector(
        a.data, b.data, ((static_cast<int>(K) & S) ? w + static_cast<int>(K) : static_cast<int>(K) + S)...);
    a = vec<T, A>(lo);
    b = vec<T, A>(hi);
}

template <int S, class A, class T, std::size_t W>
[[gnu::always_inline]] inline void exchange_all(vec<T, A> (&r)[W]) noexcept {
    if constexpr (S < static_cast<int>(W)) {
#pragma GCC unroll 16
        for (int i = 0; i < static_cast<int>(W); ++i)
            if ((i & S) == 0) exchange<S, A, T>(r[i], r[i + S], std::make_index_sequence<W>{});
    }
}

// r[i] lane k <-> r[k] lane i; one, two, three or four stages for 2, 4, 8 or 16 lanes.
template <class A, class T, std::size_t W>
[[gnu::always_inline]] inline void transpose_square(vec<T, A> (&r)[W]) noexcept {
    static_assert(W <= 16 && (W & (W - 1)) == 0);
    exchange_all<1>(r);
    exchange_all<2>(r);
    exchange_all<4>(r);
    exchange_all<8>(r);
}

// Horizontal reductions in a fixed order (halves added pairwise): `hadd` became `reduce_add`, `reduce_max` is new in
// xsimd 10. Off the hot path, so memory is good enough and the order is the same in every version.
template <class A, class T>
[[nodiscard]] inline T sum_lanes(vec<T, A> const& x) noexcept {
#if defined(__AVX512F__)
    // The same order in registers: short texts notice two of these per row.
    if constexpr (has_avx512<A> && std::is_same_v<T, float>) {
        __m512d const all = _mm512_castps_pd(x.data);
        __m256 const half = _mm256_add_ps(_mm256_castpd_ps(_mm512_maskz_extractf64x4_pd(every8, all, 0)),
                                          _mm256_castpd_ps(_mm512_maskz_extractf64x4_pd(every8, all, 1)));
        __m128 const four = _mm_add_ps(_mm256_castps256_ps128(half), _mm256_extractf128_ps(half, 1));
        __m128 const two = _mm_add_ps(four, _mm_movehl_ps(four, four));
        return _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)));
    }
#endif
    constexpr std::size_t w = vec<T, A>::size;
    alignas(64) T lane[w];
    x.store_aligned(lane);
    for (std::size_t half = w / 2; half > 0; half /= 2)
        for (std::size_t i = 0; i < half; ++i) lane[i] += lane[i + half];
    return lane[0];
}

// The largest lane; a NaN lane may or may not show.
template <class A, class T>
[[nodiscard]] inline T max_lanes(vec<T, A> const& x) noexcept {
    constexpr std::size_t w = vec<T, A>::size;
    alignas(64) T lane[w];
    x.store_aligned(lane);
    T best = lane[0];
    for (std::size_t i = 1; i < w; ++i) best = lane[i] > best ? lane[i] : best;
    return best;
}

template <class A, class T>
[[nodiscard, gnu::always_inline]] inline T ceiling(T x) noexcept {
    if constexpr (std::is_same_v<T, float>)
        return __builtin_ceilf(x);
    else
        return __builtin_ceil(x);
}

// Bit i of a number as lane i of a mask. On AVX-512 a mask is such a number.
template <class A, class T>
[[gnu::always_inline]] inline xsimd::batch_bool<T, A> lowest_bits(std::uint64_t bits) noexcept {
    using mask = xsimd::batch_bool<T, A>;
    if constexpr (has_avx512<A>) {
        return mask(static_cast<typename mask::register_type>(bits));
    } else {
        constexpr std::size_t w = vec<T, A>::size;
        alignas(64) T lane[w];
        for (std::size_t i = 0; i < w; ++i) lane[i] = static_cast<T>((bits >> i) & 1U);
        return vec<T, A>::load_aligned(lane) != vec<T, A>(T(0));
    }
}

// One of 16 numbers for each lane, by the lowest four of the bits that are left when `Discarded` are shifted out: a table
// inside a register, which occupies none of the pipes that multiply. Narrower machines have no such table: has_avx512 is false
// there, and nobody calls these.
template <int Discarded, class A>
[[gnu::always_inline]] inline vec<std::int32_t, A> piece_of([[maybe_unused]] vec<float, A> const& x) noexcept {
#if defined(__AVX512F__)
    return vec<std::int32_t, A>(_mm512_maskz_srli_epi32(every16, _mm512_castps_si512(x.data), Discarded));
#else
    return vec<std::int32_t, A>(std::int32_t{0});
#endif
}
template <class A>
[[gnu::always_inline]] inline vec<float, A> look_up(vec<float, A> const& table,
                                                    [[maybe_unused]] vec<std::int32_t, A> const& piece) noexcept {
#if defined(__AVX512F__)
    return vec<float, A>(_mm512_maskz_permutexvar_ps(every16, piece.data, table.data));
#else
    return table;
#endif
}

// 16-bit storage as a vector of float: one or two instructions where the machine has them, instead of a dozen per number.
// Without them the loop has a fixed length and no branch that a compiler could not turn into a select.
template <class A, class S>
[[gnu::always_inline]] inline vec<float, A> widen(S const* from) noexcept {
    [[maybe_unused]] constexpr bool is_half = std::is_same_v<S, half>;
#if defined(__AVX512F__)
    if constexpr (has_avx512<A>) {
        __m256i const bits = _mm256_loadu_si256(reinterpret_cast<__m256i const*>(from));
        if constexpr (is_half)
            return vec<float, A>(_mm512_maskz_cvtph_ps(every16, bits));
        else
            return vec<float, A>(
                _mm512_castsi512_ps(_mm512_maskz_slli_epi32(every16, _mm512_maskz_cvtepu16_epi32(every16, bits), 16)));
    } else
#endif
#if defined(__AVX2__) && defined(__F16C__)
        if constexpr (has_arch<A, xsimd::avx2>) {
        __m128i const bits = _mm_loadu_si128(reinterpret_cast<__m128i const*>(from));
        if constexpr (is_half)
            return vec<float, A>(_mm256_cvtph_ps(bits));
        else
            return vec<float, A>(_mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(bits), 16)));
    } else
#endif
    {
        constexpr std::size_t w = vec<float, A>::size;
        alignas(64) float lane[w];
        for (std::size_t i = 0; i < w; ++i) lane[i] = static_cast<float>(from[i]);
        return vec<float, A>::load_aligned(lane);
    }
}

// Into the second-level cache. Never faults, whatever the address.
template <class A>
[[gnu::always_inline]] inline void prefetch(void const* address) noexcept {
    __builtin_prefetch(address, 0, 2);
}

// Denormal numbers as zero while it lives: exponentials far below the maximum are denormal, and without this peaked
// attention runs 20 to 30 times slower. Restores the caller's control register.
template <class A>
class flush_guard {
public:
    flush_guard() noexcept {
#if defined(__SSE2__)
        saved_ = _mm_getcsr();
        _mm_setcsr(saved_ | 0x8040u); // FTZ, DAZ
#elif defined(__aarch64__)
        asm volatile("mrs %0, fpcr" : "=r"(saved_));
        asm volatile("msr fpcr, %0" ::"r"(saved_ | (std::uint64_t{1} << 24))); // FZ
#endif
    }
    ~flush_guard() {
#if defined(__SSE2__)
        _mm_setcsr(saved_);
#elif defined(__aarch64__)
        asm volatile("msr fpcr, %0" ::"r"(saved_));
#endif
    }
    flush_guard(flush_guard const&) = delete;
    flush_guard& operator=(flush_guard const&) = delete;

private:
#if defined(__SSE2__)
    unsigned saved_{};
#elif defined(__aarch64__)
    std::uint64_t saved_{};
#endif
};

} // namespace basin::detail::simd
