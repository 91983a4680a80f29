// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include <basin/core/statistic.hpp>

namespace basin {

/// The largest probability that any query gives to a key.
template <class T>
struct peak : key_statistic<T> {
    using key_statistic<T>::key_statistic;
    using lanes = supported;
    static constexpr char const* name = "peak";
    static constexpr T identity() { return T(0); }
    template <class X, class Lane, class Site>
    X map(cell<X, Lane, T> const& c, Site const&) const {
        return c.p;
    }
    template <class X>
    X combine(X a, X b) const {
        return math::max(a, b);
    }
};
template <class Array>
peak(Array&&) -> peak<detail::element_of<Array>>;
template <class Array>
peak(Array&&, query_groups) -> peak<detail::element_of<Array>>;

} // namespace basin
