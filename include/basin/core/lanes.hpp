// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include <basin/core/math.hpp>
#include <basin/core/site.hpp>

#include <concepts>
#include <cstddef>

namespace basin {

/// `using lanes = basin::supported;` in a policy or statistic says: my members are templates that also take lanes.
/// It is asked for, because trying a template whose body does not take lanes would be a hard error.
struct supported {};

/// A policy or statistic that says `using lanes = supported;`: its members take many keys at once.
template <class P>
concept takes_lanes = std::same_as<typename P::lanes, supported>;

// Lanes are several keys at once. A *family* is what a backend knows about them: the raw types `number`, `index` and
// `mask` (of one lane count `width`), the scalar `number_type`, and the functions named `Family::...` below. The
// wrappers exist to take away what raw SIMD batches offer too freely: `slope * (q - k)` would truncate slope to an integer.

/// A yes or no for each of several keys.
template <class Family>
struct mask_lanes {
    using family = Family;
    typename Family::mask raw;

    friend mask_lanes operator&(mask_lanes a, mask_lanes b) { return {a.raw & b.raw}; }
    friend mask_lanes operator|(mask_lanes a, mask_lanes b) { return {a.raw | b.raw}; }
    // As in scalar code, only that both sides are evaluated.
    friend mask_lanes operator&&(mask_lanes a, mask_lanes b) { return {a.raw & b.raw}; }
    friend mask_lanes operator||(mask_lanes a, mask_lanes b) { return {a.raw | b.raw}; }
    friend mask_lanes operator!(mask_lanes a) { return {~a.raw}; }
    friend mask_lanes operator&&(mask_lanes a, bool b) { return b ? a : mask_lanes{Family::all(false)}; }
    friend mask_lanes operator&&(bool a, mask_lanes b) { return b && a; }
    friend mask_lanes operator||(mask_lanes a, bool b) { return b ? mask_lanes{Family::all(true)} : a; }
    friend mask_lanes operator||(bool a, mask_lanes b) { return b || a; }
};

/// The positions of several keys, or other integers, one for each.
template <class Family>
struct index_lanes {
    using family = Family;
    using mask = mask_lanes<Family>;
    typename Family::index raw;

    index_lanes() = default;
    explicit index_lanes(typename Family::index x) : raw(x) {}
    template <std::integral I>
    index_lanes(I x) : raw(Family::broadcast(static_cast<index_t>(x))) {} // NOLINT: s.key < 4 reads as in scalar code
    template <std::floating_point F>
    index_lanes(F) = delete; // a number would be truncated: use math::convert<X>(index)

    friend index_lanes operator+(index_lanes a, index_lanes b) { return index_lanes(a.raw + b.raw); }
    friend index_lanes operator-(index_lanes a, index_lanes b) { return index_lanes(a.raw - b.raw); }
    friend index_lanes operator*(index_lanes a, index_lanes b) { return index_lanes(a.raw * b.raw); }
    // Lane by lane: no SIMD unit divides integers.
    friend index_lanes operator/(index_lanes a, index_lanes b) {
        return index_lanes(Family::each(a.raw, b.raw, [](auto x, auto y) { return x / y; }));
    }
    friend index_lanes operator%(index_lanes a, index_lanes b) {
        return index_lanes(Family::each(a.raw, b.raw, [](auto x, auto y) { return x % y; }));
    }
    friend index_lanes operator&(index_lanes a, index_lanes b) { return index_lanes(a.raw & b.raw); }
    friend index_lanes operator|(index_lanes a, index_lanes b) { return index_lanes(a.raw | b.raw); }
    friend index_lanes operator^(index_lanes a, index_lanes b) { return index_lanes(a.raw ^ b.raw); }
    friend index_lanes operator-(index_lanes a) { return index_lanes(-a.raw); }
    friend mask operator<(index_lanes a, index_lanes b) { return {Family::as_mask(a.raw < b.raw)}; }
    friend mask operator>(index_lanes a, index_lanes b) { return {Family::as_mask(b.raw < a.raw)}; }
    friend mask operator<=(index_lanes a, index_lanes b) { return !(b < a); }
    friend mask operator>=(index_lanes a, index_lanes b) { return !(a < b); }
    friend mask operator==(index_lanes a, index_lanes b) { return {Family::as_mask(a.raw == b.raw)}; }
    friend mask operator!=(index_lanes a, index_lanes b) { return !(a == b); }
};

/// A number for each of several keys.
template <class Family>
struct number_lanes {
    using family = Family;
    using mask = mask_lanes<Family>;
    typename Family::number raw;

    number_lanes() = default;
    explicit number_lanes(typename Family::number x) : raw(x) {}
    template <class S>
        requires std::is_arithmetic_v<S>
    number_lanes(S x)
        : raw(Family::broadcast(static_cast<typename Family::number_type>(x))) {} // NOLINT: x * 2 as in scalar code

    friend number_lanes operator+(number_lanes a, number_lanes b) { return number_lanes(a.raw + b.raw); }
    friend number_lanes operator-(number_lanes a, number_lanes b) { return number_lanes(a.raw - b.raw); }
    friend number_lanes operator*(number_lanes a, number_lanes b) { return number_lanes(a.raw * b.raw); }
    friend number_lanes operator/(number_lanes a, number_lanes b) { return number_lanes(a.raw / b.raw); }
    friend number_lanes operator-(number_lanes a) { return number_lanes(-a.raw); }
    friend mask operator<(number_lanes a, number_lanes b) { return {a.raw < b.raw}; }
    friend mask operator>(number_lanes a, number_lanes b) { return {b.raw < a.raw}; }
    friend mask operator<=(number_lanes a, number_lanes b) { return {a.raw <= b.raw}; }
    friend mask operator>=(number_lanes a, number_lanes b) { return {b.raw <= a.raw}; }
    friend mask operator==(number_lanes a, number_lanes b) { return {a.raw == b.raw}; }
    friend mask operator!=(number_lanes a, number_lanes b) { return {a.raw != b.raw}; }
};

namespace math {

template <class F>
inline number_lanes<F> exp(number_lanes<F> x) {
    return number_lanes<F>(F::exp(x.raw));
}
template <class F>
inline number_lanes<F> log(number_lanes<F> x) {
    return number_lanes<F>(F::log(x.raw));
}
template <class F>
inline number_lanes<F> tanh(number_lanes<F> x) {
    return number_lanes<F>(F::tanh(x.raw));
}
template <class F>
inline number_lanes<F> soft_cap(number_lanes<F> x, double cap) {
    using X = number_lanes<F>;
    if constexpr (requires { F::soft_cap(x.raw, cap); })
        return X(F::soft_cap(x.raw, cap)); // for less than a tangent and two products
    else
        return X(cap) * tanh(x * X(1 / cap));
}
template <class F>
inline number_lanes<F> sqrt(number_lanes<F> x) {
    return number_lanes<F>(F::sqrt(x.raw));
}
template <class F>
inline number_lanes<F> abs(number_lanes<F> x) {
    return number_lanes<F>(F::abs(x.raw));
}
template <class F>
inline index_lanes<F> abs(index_lanes<F> x) {
    return index_lanes<F>(F::abs(x.raw));
}
template <class F>
inline number_lanes<F> select(mask_lanes<F> condition, number_lanes<F> yes, number_lanes<F> no) {
    return number_lanes<F>(F::select(condition.raw, yes.raw, no.raw));
}
template <class F>
inline number_lanes<F> min(number_lanes<F> a, number_lanes<F> b) {
    return select(b < a, b, a);
}
template <class F>
inline number_lanes<F> max(number_lanes<F> a, number_lanes<F> b) {
    return select(a < b, b, a);
}
template <class X, class F>
    requires std::same_as<X, number_lanes<F>>
inline X convert(index_lanes<F> x) {
    return X(F::to_number(x.raw));
}

/// base[at * stride] as a number X: the one way for a policy to read a table, for one key and for lanes of keys.
template <class X, class T>
    requires std::is_arithmetic_v<X>
inline X lookup(T const* base, std::ptrdiff_t stride, index_t at) {
    return static_cast<X>(base[at * stride]);
}
template <class X, class T, class F>
    requires std::same_as<X, number_lanes<F>>
inline X lookup(T const* base, std::ptrdiff_t stride, index_lanes<F> at) {
    return X(F::gather(base, stride, at.raw));
}

/// Bit `at` of an array of words: what masks kept as bits are read by.
inline bool lookup_bit(std::uint64_t const* words, index_t at) {
    return ((words[at >> 6] >> (static_cast<unsigned>(at) & 63U)) & 1U) != 0U;
}
template <class F>
inline mask_lanes<F> lookup_bit(std::uint64_t const* words, index_lanes<F> at) {
    return {F::bits(words, at.raw)};
}
/// The first of the keys (or queries) of a lane; all queries of a lane are the same.
inline index_t first_of(index_t x) { return x; }
template <class F>
inline index_t first_of(index_lanes<F> x) {
    return F::first(x.raw);
}

} // namespace math

namespace detail {

template <class Lane>
inline constexpr bool is_lane = false;
template <class Family>
inline constexpr bool is_lane<index_lanes<Family>> = true;

/// A mask that is the same for every key of the lane (bool for one key).
template <class Lane>
constexpr auto uniform_mask(bool answer) {
    if constexpr (is_lane<Lane>)
        return typename Lane::mask{Lane::family::all(answer)};
    else
        return answer;
}

/// Asks a question about plain sites for each key of a lane.
template <class Family, class Ask>
mask_lanes<Family> ask_each(basic_site<index_lanes<Family>> const& s, Ask const& ask) {
    return {Family::mask_of(s.query.raw, s.key.raw,
                            [&](index_t query, index_t key) { return ask(site{s.batch, s.head, query, key}); })};
}
template <class Family, class Change>
number_lanes<Family> change_each(number_lanes<Family> x, basic_site<index_lanes<Family>> const& s,
                                 Change const& change) {
    return number_lanes<Family>(
        Family::number_of(x.raw, s.query.raw, s.key.raw, [&](auto y, index_t query, index_t key) {
            return change(y, site{s.batch, s.head, query, key});
        }));
}

} // namespace detail
} // namespace basin
