// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include <basin/core/statistic.hpp>

namespace basin {

/// The logarithm of the sum of exponentials of a query's scores, natural, sinks included; -inf for a query that sees
/// nothing. Enough to recompute any probability later (see observe).
template <class T>
struct lse : query_statistic<T> {
    using query_statistic<T>::query_statistic;
    using only_rows = void;
    static constexpr char const* name = "lse";
    static constexpr T identity() { return -math::infinity<T>; }
    T combine(T a, T b) const {
        if (a == identity()) return b; // the rule, unless somebody accumulates: exact, and no logarithm
        if (b == identity()) return a;
        T const high = math::max(a, b);
        if (!(math::abs(high) < math::infinity<T>)) return a != a ? a : b != b ? b : high;
        return high + math::log(math::exp(a - high) + math::exp(b - high));
    }
    T finish(T, row_facts<T> const& row) const { return row.lse; }
};
template <class Array>
lse(Array&&) -> lse<detail::element_of<Array>>;

} // namespace basin
