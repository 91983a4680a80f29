// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include <basin/detail/compiler.hpp>

#include <type_traits>

namespace basin::math {

// The functions a score may use, for plain numbers here and for lanes in core/lanes.hpp: one definition of a policy
// serves both. Compiler builtins are the same functions as std:: without the price of <cmath>.
/// A scalar that functions of numbers take; lanes and dual numbers have overloads of their own.
template <class T>
concept number = std::is_floating_point_v<T>;

template <number T>
inline T exp(T x) {
    if constexpr (sizeof(T) == sizeof(float))
        return __builtin_expf(x);
    else
        return __builtin_exp(x);
}
template <number T>
inline T log(T x) {
    if constexpr (sizeof(T) == sizeof(float))
        return __builtin_logf(x);
    else
        return __builtin_log(x);
}
template <number T>
inline T tanh(T x) {
    if constexpr (sizeof(T) == sizeof(float))
        return __builtin_tanhf(x);
    else
        return __builtin_tanh(x);
}
/// cap * tanh(x / cap): x bent towards +-cap, as `softcap` does it. The cap is positive.
template <number T>
inline T soft_cap(T x, double cap) {
    return static_cast<T>(cap) * tanh(x * static_cast<T>(1 / cap));
}
template <number T>
inline T sqrt(T x) {
    if constexpr (sizeof(T) == sizeof(float))
        return __builtin_sqrtf(x);
    else
        return __builtin_sqrt(x);
}
template <number T>
inline T pow(T x, T y) {
    if constexpr (sizeof(T) == sizeof(float))
        return __builtin_powf(x, y);
    else
        return __builtin_pow(x, y);
}
template <class T>
    requires std::is_arithmetic_v<T>
constexpr T abs(T x) {
    return x < T(0) ? -x : x;
}
template <class T>
    requires std::is_arithmetic_v<T>
constexpr T min(T a, T b) {
    return b < a ? b : a;
}
template <class T>
    requires std::is_arithmetic_v<T>
constexpr T max(T a, T b) {
    return a < b ? b : a;
}
template <class T>
    requires std::is_arithmetic_v<T>
constexpr T select(bool condition, T yes, T no) {
    return condition ? yes : no;
}
/// A position as a number: convert<X>(s.query - s.key). Lanes have no implicit mixture of integers and numbers.
template <class X, class T>
    requires(std::is_arithmetic_v<X> && std::is_arithmetic_v<T>)
constexpr X convert(T x) {
    return static_cast<X>(x);
}

template <class T>
inline constexpr T infinity = static_cast<T>(__builtin_inff());

} // namespace basin::math
