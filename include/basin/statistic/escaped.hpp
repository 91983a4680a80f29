// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include <basin/core/statistic.hpp>

namespace basin {

/// The share of a query's mass that went to sinks in the denominator (sink_logit, kv_sink) instead of keys of the text. A
/// live row's probabilities sum to 1 minus this.
template <class T>
struct escaped : query_statistic<T> {
    using query_statistic<T>::query_statistic;
    using only_rows = void;
    static constexpr char const* name = "escaped";
    static constexpr T identity() { return T(0); }
    T combine(T a, T b) const { return a + b; }
    T finish(T, row_facts<T> const& row) const { return row.escaped; }
};
template <class Array>
escaped(Array&&) -> escaped<detail::element_of<Array>>;

} // namespace basin
