// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include <basin/core/layout.hpp>

#include <algorithm>
#include <vector>

namespace basin {

/// Five numbers about many. `counted` leaves NaN out.
struct summary {
    /// How many numbers there were, NaN left out.
    index_t counted = 0;
    /// Their mean, the smallest, the median and the largest; NaN where nothing was counted.
    double mean = __builtin_nan(""), min = mean, median = mean, max = mean;
};

/// The summary of a statistic by query (entropy, say) in one head of one batch entry.
template <class Array>
summary summarise(Array&& by_query, index_t b, index_t h, counts const& lengths = {}) {
    auto const x = detail::lift_statistic(detail::describe(by_query, "statistic"), false, "statistic");
    if (b < 0 || b >= x.extent(0) || h < 0 || h >= x.extent(1))
        detail::fail<argument_error>("summarise: (", b, ", ", h, ") is outside of extents (", x.extent(0), ", ",
                                     x.extent(1), ")");
    detail::check_lengths(lengths, "lengths", x.extent(0), x.extent(3));
    std::vector<double> values;
    for (index_t i = 0; i < (lengths.given() ? lengths[b] : x.extent(3)); ++i) {
        double const y = static_cast<double>(x(b, h, 0, i));
        if (y == y) values.push_back(y);
    }
    summary result;
    result.counted = static_cast<index_t>(values.size());
    if (values.empty()) return result;
    std::sort(values.begin(), values.end());
    double sum = 0;
    for (double const y : values) sum += y;
    std::size_t const n = values.size();
    result.mean = sum / static_cast<double>(n);
    result.min = values.front();
    result.max = values.back();
    result.median = n % 2 == 1 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
    return result;
}

} // namespace basin
