// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include <basin/core/statistic.hpp>

namespace basin {

/// How many queries see a key. Causal and padded maps are compared fairly only after dividing by it.
template <class T>
struct seen : key_statistic<T> {
    using key_statistic<T>::key_statistic;
    using lanes = supported;
    static constexpr char const* name = "seen";
    static constexpr T identity() { return T(0); }
    template <class X, class Lane, class Site>
    X map(cell<X, Lane, T> const&, Site const&) const {
        return X(1);
    }
    template <class X>
    X combine(X a, X b) const {
        return a + b;
    }
};
template <class Array>
seen(Array&&) -> seen<detail::element_of<Array>>;
template <class Array>
seen(Array&&, query_groups) -> seen<detail::element_of<Array>>;

} // namespace basin
