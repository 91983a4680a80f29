// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include <basin/core/statistic.hpp>

namespace basin {

/// How many queries have this key as their favourite (the first of equals).
template <class T>
struct votes : key_statistic<T> {
    using key_statistic<T>::key_statistic;
    using lanes = supported;
    using needs_favourite = void;
    static constexpr char const* name = "votes";
    static constexpr T identity() { return T(0); }
    template <class X, class Lane, class Site>
    X map(cell<X, Lane, T> const& c, Site const&) const {
        return math::select(c.place == Lane(c.row.favourite), X(1), X(0));
    }
    template <class X>
    X combine(X a, X b) const {
        return a + b;
    }
};
template <class Array>
votes(Array&&) -> votes<detail::element_of<Array>>;
template <class Array>
votes(Array&&, query_groups) -> votes<detail::element_of<Array>>;

} // namespace basin
