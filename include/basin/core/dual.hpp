// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include <basin/core/lanes.hpp>

namespace basin {

/// A number and its derivative. A score that is a template is called with it, and so differentiates itself. X is float,
/// double or lanes of them.
template <class X>
struct dual {
    /// The number, and its derivative along one direction.
    X value{}, slope{};

    dual() = default;
    dual(X v, X s) : value(v), slope(s) {}
    template <class S>
        requires std::is_arithmetic_v<S>
    dual(S constant) : value(static_cast<X>(constant)), slope(X(0)) {} // NOLINT: x * 2 as in scalar code
    dual(X constant)                                                   // NOLINT
        requires(!std::is_arithmetic_v<X>)
        : value(constant), slope(X(0)) {}

    /// Only here to say in words what is wrong with std::tanh(x) and static_cast<float>(x) in a score.
    operator double() const { // NOLINT: implicit, so that it is found wherever a number is expected
        static_assert(sizeof(X) == 0,
                      "basin: this score makes a plain number of its argument, so that dual numbers cannot "
                      "differentiate it: use basin::math functions and X(...), or give the policy a member "
                      "score_slope(x, site) (weight_slope, value_slope)");
        return 0;
    }

    friend dual operator+(dual a, dual b) { return {a.value + b.value, a.slope + b.slope}; }
    friend dual operator-(dual a, dual b) { return {a.value - b.value, a.slope - b.slope}; }
    friend dual operator*(dual a, dual b) { return {a.value * b.value, a.slope * b.value + a.value * b.slope}; }
    friend dual operator/(dual a, dual b) {
        X const ratio = a.value / b.value;
        return {ratio, (a.slope - ratio * b.slope) / b.value};
    }
    friend dual operator-(dual a) { return {-a.value, -a.slope}; }
    friend auto operator<(dual a, dual b) { return a.value < b.value; }
    friend auto operator>(dual a, dual b) { return a.value > b.value; }
    friend auto operator<=(dual a, dual b) { return a.value <= b.value; }
    friend auto operator>=(dual a, dual b) { return a.value >= b.value; }
    friend auto operator==(dual a, dual b) { return a.value == b.value; }
    friend auto operator!=(dual a, dual b) { return a.value != b.value; }
    dual& operator+=(dual b) { return *this = *this + b; }
    dual& operator-=(dual b) { return *this = *this - b; }
    dual& operator*=(dual b) { return *this = *this * b; }
    dual& operator/=(dual b) { return *this = *this / b; }
};

namespace detail {
template <class X>
inline constexpr bool is_dual = false;
template <class X>
inline constexpr bool is_dual<dual<X>> = true;
template <class S>
concept plain = std::is_arithmetic_v<S>;

/// A policy without lanes inside one that has them: key by key, with values and slopes.
template <class Family, class Change>
dual<number_lanes<Family>> change_each(dual<number_lanes<Family>> x, basic_site<index_lanes<Family>> const& s,
                                       Change const& change) {
    typename Family::number_type slopes[Family::width];
    int n = 0;
    change_each(x.slope, s, [&](auto slope, site) { return slopes[n++] = slope; });
    n = 0;
    auto const value = change_each(x.value, s, [&](auto v, site one) {
        auto const y = change(dual<decltype(v)>(v, slopes[n]), one);
        slopes[n++] = y.slope;
        return y.value;
    });
    n = 0;
    return {value, change_each(x.slope, s, [&](auto, site) { return slopes[n++]; })};
}
} // namespace detail

// With plain numbers on one side; without these, the conversion to double would compete.
// clang-format off
template <class X, detail::plain S> dual<X> operator+(dual<X> a, S b) { return a + dual<X>(b); }
template <class X, detail::plain S> dual<X> operator-(dual<X> a, S b) { return a - dual<X>(b); }
template <class X, detail::plain S> dual<X> operator*(dual<X> a, S b) { return a * dual<X>(b); }
template <class X, detail::plain S> dual<X> operator/(dual<X> a, S b) { return a / dual<X>(b); }
template <class X, detail::plain S> auto operator<(dual<X> a, S b) { return a < dual<X>(b); }
template <class X, detail::plain S> auto operator>(dual<X> a, S b) { return a > dual<X>(b); }
template <class X, detail::plain S> auto operator<=(dual<X> a, S b) { return a <= dual<X>(b); }
template <class X, detail::plain S> auto operator>=(dual<X> a, S b) { return a >= dual<X>(b); }
template <class X, detail::plain S> auto operator==(dual<X> a, S b) { return a == dual<X>(b); }
template <class X, detail::plain S> auto operator!=(dual<X> a, S b) { return a != dual<X>(b); }
template <class X, detail::plain S> dual<X> operator+(S a, dual<X> b) { return dual<X>(a) + b; }
template <class X, detail::plain S> dual<X> operator-(S a, dual<X> b) { return dual<X>(a) - b; }
template <class X, detail::plain S> dual<X> operator*(S a, dual<X> b) { return dual<X>(a) * b; }
template <class X, detail::plain S> dual<X> operator/(S a, dual<X> b) { return dual<X>(a) / b; }
template <class X, detail::plain S> auto operator<(S a, dual<X> b) { return dual<X>(a) < b; }
template <class X, detail::plain S> auto operator>(S a, dual<X> b) { return dual<X>(a) > b; }
template <class X, detail::plain S> auto operator<=(S a, dual<X> b) { return dual<X>(a) <= b; }
template <class X, detail::plain S> auto operator>=(S a, dual<X> b) { return dual<X>(a) >= b; }
// clang-format on

namespace math {

template <class X>
inline dual<X> exp(dual<X> x) {
    X const y = exp(x.value);
    return {y, y * x.slope};
}
template <class X>
inline dual<X> log(dual<X> x) {
    return {log(x.value), x.slope / x.value};
}
template <class X>
inline dual<X> tanh(dual<X> x) {
    X const y = tanh(x.value);
    return {y, (X(1) - y * y) * x.slope};
}
template <class X>
inline dual<X> soft_cap(dual<X> x, double cap) {
    X const y = soft_cap(x.value, cap);
    X const share = y * X(1 / cap);
    return {y, (X(1) - share * share) * x.slope};
}
template <class X>
inline dual<X> sqrt(dual<X> x) {
    X const y = sqrt(x.value);
    return {y, x.slope / (X(2) * y)};
}
template <number X>
inline dual<X> pow(dual<X> x, dual<X> y) {
    X const z = pow(x.value, y.value);
    X const by_base = x.slope == X(0) ? X(0) : y.value * pow(x.value, y.value - X(1)) * x.slope;
    X const by_exponent = y.slope == X(0) ? X(0) : z * log(x.value) * y.slope;
    return {z, by_base + by_exponent};
}
template <class Mask, class X>
inline dual<X> select(Mask const& condition, dual<X> yes, dual<X> no) {
    return {select(condition, yes.value, no.value), select(condition, yes.slope, no.slope)};
}
template <class X>
inline dual<X> abs(dual<X> x) {
    return select(x.value < X(0), -x, x);
}
template <class X>
inline dual<X> min(dual<X> a, dual<X> b) {
    return select(b.value < a.value, b, a);
}
template <class X>
inline dual<X> max(dual<X> a, dual<X> b) {
    return select(a.value < b.value, b, a);
}
template <class D, class I>
    requires detail::is_dual<D>
inline D convert(I x) {
    return D(convert<decltype(D::value)>(x));
}
template <class D, class T, class I>
    requires detail::is_dual<D>
inline D lookup(T const* base, std::ptrdiff_t stride, I at) {
    return D(lookup<decltype(D::value)>(base, stride, at));
}

} // namespace math
} // namespace basin
