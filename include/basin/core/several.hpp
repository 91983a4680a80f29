// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

namespace basin {
namespace detail {

template <std::size_t, class T>
struct numbered {
    T value;
};
template <class Numbers, class... T>
struct several_numbered;
template <std::size_t... I, class... T>
struct several_numbered<std::index_sequence<I...>, T...> : numbered<I, T>... {
    /// How many there are.
    static constexpr std::size_t count = sizeof...(T);

    /// f(first, second, ...).
    template <class F>
    [[gnu::always_inline]] constexpr decltype(auto) apply(F&& f) const {
        return f(static_cast<numbered<I, T> const&>(*this).value...);
    }
    /// f(number, value) for each in turn, with the number known to the compiler.
    template <class F>
    [[gnu::always_inline]] constexpr void each(F&& f) const {
        (f(std::integral_constant<std::size_t, I>{}, static_cast<numbered<I, T> const&>(*this).value), ...);
    }
    /// What f makes of each.
    template <class F>
    constexpr auto map(F&& f) const {
        return several_numbered<std::index_sequence<I...>, decltype(f(std::declval<T const&>()))...>{
            {f(static_cast<numbered<I, T> const&>(*this).value)}...};
    }
};

} // namespace detail

/// Values of several types, made by `several<T...>{{value}...}`. A std::tuple is not trivially copyable, so that devices do not
/// take it, and clang 17 cannot make one of a single value in C++23 with the libstdc++ of g++ 14.
template <class... T>
using several = detail::several_numbered<std::index_sequence_for<T...>, T...>;

} // namespace basin
