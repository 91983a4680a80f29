// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include <basin/core/statistic.hpp>

namespace basin {

/// How spread a query's attention is, in nats: the sum of -p log p over the keys of the text. Mass that escaped to a sink
/// is left out.
template <class T>
struct entropy : query_statistic<T> {
    using query_statistic<T>::query_statistic;
    using lanes = supported;
    static constexpr char const* name = "entropy";
    static constexpr T identity() { return T(0); }
    // -log p is lse - score; a probability that underflowed counts 0, not 0 x inf.
    template <class X, class Lane, class Site>
    X map(cell<X, Lane, T> const& c, Site const&) const {
        return math::select(c.p == X(0), X(0), c.p * (X(c.row.lse) - c.score));
    }
    template <class X>
    X combine(X a, X b) const {
        return a + b;
    }
};
template <class Array>
entropy(Array&&) -> entropy<detail::element_of<Array>>;

} // namespace basin
