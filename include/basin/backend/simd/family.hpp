// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

// The lanes of core/lanes.hpp on xsimd: what a policy's templates compute with. The type carries the architecture, so that
// a policy's lane code, too, is a different function for each.

#include <basin/core/lanes.hpp>

#include "tanh.hpp"

namespace basin::detail::simd {

template <class T, class A>
struct family {
    using number_type = T;
    using index_type = std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>;
    using number = vec<T, A>;
    using index = vec<index_type, A>;
    using mask = xsimd::batch_bool<T, A>;
    static constexpr int width = static_cast<int>(number::size);

    static number broadcast(T x) { return number(x); }
    static index broadcast(index_t x) { return index(static_cast<index_type>(x)); }
    static mask all(bool x) { return number(T(0)) == number(x ? T(0) : T(1)); }
    // Masks of integers and of numbers are the same bits; xsimd 8.1 has no cast between them.
    static mask as_mask(xsimd::batch_bool<index_type, A> x) {
        using from = typename xsimd::batch_bool<index_type, A>::register_type;
        return mask(__builtin_bit_cast(typename mask::register_type, static_cast<from>(x.data)));
    }
    static number select(mask m, number yes, number no) { return xsimd::select(m, yes, no); }
    static number to_number(index x) { return converted<A, T>(x); }

    static number exp(number x) { return xsimd::exp(x); }
    static number log(number x) { return xsimd::log(x); }
    static number tanh(number x) { return hyperbolic_tangent<A, T>(x); }
    static number soft_cap(number x, double cap) { return bent_towards<A, T>(x, cap); }
    static number sqrt(number x) { return xsimd::sqrt(x); }
    static number abs(number x) { return xsimd::abs(x); }
    // Chosen among numbers: xsimd 8.1 cannot choose among integers of AVX-512 without optimisation.
    static index abs(index x) {
        number const chosen = xsimd::select(as_mask(x < index(index_type(0))), as_number(-x), as_number(x));
        return index(__builtin_bit_cast(typename index::register_type, chosen.data));
    }
    static number as_number(index x) { return number(__builtin_bit_cast(typename number::register_type, x.data)); }
    static index_t first(index x) {
        alignas(64) index_type lane[static_cast<std::size_t>(width)];
        x.store_aligned(lane);
        return static_cast<index_t>(lane[0]);
    }

    // What no SIMD unit does: lane by lane, through memory.
    template <class F>
    static index each(index a, index b, F const& f) {
        alignas(64) index_type x[static_cast<std::size_t>(width)], y[static_cast<std::size_t>(width)];
        a.store_aligned(x);
        b.store_aligned(y);
        for (int i = 0; i < width; ++i) x[i] = f(x[i], y[i]);
        return index::load_aligned(x);
    }
    template <class F>
    static mask mask_of(index query, index key, F const& ask) {
        alignas(64) index_type x[static_cast<std::size_t>(width)], y[static_cast<std::size_t>(width)];
        alignas(64) T answer[static_cast<std::size_t>(width)];
        query.store_aligned(x);
        key.store_aligned(y);
        for (int i = 0; i < width; ++i)
            answer[i] = ask(static_cast<index_t>(x[i]), static_cast<index_t>(y[i])) ? T(1) : T(0);
        return number::load_aligned(answer) != number(T(0));
    }
    template <class F>
    static number number_of(number value, index query, index key, F const& change) {
        alignas(64) index_type x[static_cast<std::size_t>(width)], y[static_cast<std::size_t>(width)];
        alignas(64) T v[static_cast<std::size_t>(width)];
        query.store_aligned(x);
        key.store_aligned(y);
        value.store_aligned(v);
        for (int i = 0; i < width; ++i) v[i] = change(v[i], static_cast<index_t>(x[i]), static_cast<index_t>(y[i]));
        return number::load_aligned(v);
    }
    /// Keys usually stand side by side: a table is then read as one piece.
    static bool side_by_side(index at, index_t start) {
        alignas(64) index_type x[static_cast<std::size_t>(width)];
        for (int i = 0; i < width; ++i) x[i] = start + i;
        return xsimd::all(at == index::load_aligned(x));
    }
    static mask bits(std::uint64_t const* words, index at) {
        index_t const start = first(at);
        if (side_by_side(at, start)) {
            unsigned const shift = static_cast<unsigned>(start) & 63U;
            std::uint64_t piece = words[start >> 6] >> shift;
            if (shift + width > 64) piece |= words[(start >> 6) + 1] << (64 - shift);
            return lowest_bits<A, T>(piece);
        }
        return mask_of(at, at, [&](index_t, index_t key) { return math::lookup_bit(words, key); });
    }
    template <class S>
    static number gather(S const* base, std::ptrdiff_t stride, index at) {
        if constexpr (std::is_same_v<S, T>) {
            index_t const start = first(at);
            if (stride == 1 && side_by_side(at, start)) return number::load_unaligned(base + start);
        }
        alignas(64) index_type x[static_cast<std::size_t>(width)];
        alignas(64) T v[static_cast<std::size_t>(width)];
        at.store_aligned(x);
        for (int i = 0; i < width; ++i) v[i] = static_cast<T>(base[static_cast<std::ptrdiff_t>(x[i]) * stride]);
        return number::load_aligned(v);
    }
};

} // namespace basin::detail::simd
