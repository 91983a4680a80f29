// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include <basin/core/statistic.hpp>

namespace basin {

/// Attention weighted by what it carries: probability times the Euclidean norm of the key's value. A sink that receives much
/// and carries little is a no-op.
template <class T>
struct received_value : key_statistic<T> {
    using key_statistic<T>::key_statistic;
    using lanes = supported;
    using needs_key_weight = void;
    static constexpr char const* name = "received_value";
    static constexpr T identity() { return T(0); }
    template <class X, class Lane, class Site>
    X map(cell<X, Lane, T> const& c, Site const&) const {
        return c.p * c.key_weight;
    }
    template <class X>
    X combine(X a, X b) const {
        return a + b;
    }
};
template <class Array>
received_value(Array&&) -> received_value<detail::element_of<Array>>;
template <class Array>
received_value(Array&&, query_groups) -> received_value<detail::element_of<Array>>;

} // namespace basin
