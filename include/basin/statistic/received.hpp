// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include <basin/core/statistic.hpp>

namespace basin {

/// The attention a key receives: the sum of its probabilities over all queries. What sinks are found by.
template <class T>
struct received : key_statistic<T> {
    using key_statistic<T>::key_statistic;
    using lanes = supported;
    static constexpr char const* name = "received";
    static constexpr T identity() { return T(0); }
    template <class X, class Lane, class Site>
    X map(cell<X, Lane, T> const& c, Site const&) const {
        return c.p;
    }
    template <class X>
    X combine(X a, X b) const {
        return a + b;
    }
};
template <class Array>
received(Array&&) -> received<detail::element_of<Array>>;
template <class Array>
received(Array&&, query_groups) -> received<detail::element_of<Array>>;

} // namespace basin
