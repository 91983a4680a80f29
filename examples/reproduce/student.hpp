// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>
#include <numbers>
#include <vector>

namespace reproduce {

/// The share of Student's t with so many degrees of freedom that lies between -t and t, exact (Abramowitz and Stegun 26.7.3, 26.7.4).
inline double student_within(double t, int freedom) {
    double const angle = std::atan(std::fabs(t) / std::sqrt(freedom)), c = std::cos(angle), s = std::sin(angle);
    bool const odd = freedom % 2 == 1;
    double term = odd ? c : 1, sum = freedom > 1 ? term : 0;
    for (int i = odd ? 3 : 2; i < freedom; i += 2) {
        term *= c * c * (i - 1) / i;
        sum += term;
    }
    return odd ? 2 / std::numbers::pi * (angle + s * sum) : s * sum;
}
/// The t that so large a share lies within.
inline double student_quantile(double share, int freedom) {
    double low = 0, high = 1;
    while (student_within(high, freedom) < share) high *= 2;
    for (int i = 0; i < 100; ++i) {
        double const middle = (low + high) / 2;
        (student_within(middle, freedom) < share ? low : high) = middle;
    }
    return high;
}

/// Student's test of the mean of paired differences against 0, and its 95 % interval. With fewer than two pairs there is neither.
struct paired_test {
    double mean = 0, low = 0, high = 0, p = 1;
    int pairs = 0;

    explicit paired_test(std::vector<double> const& x) : pairs(static_cast<int>(x.size())) {
        if (pairs == 0) return;
        double squares = 0;
        for (double const y : x) mean += y / pairs;
        for (double const y : x) squares += (y - mean) * (y - mean);
        low = high = mean;
        if (pairs < 2) return;
        double const error = std::sqrt(squares / (pairs - 1) / pairs);
        double const reach = student_quantile(0.95, pairs - 1) * error;
        low = mean - reach;
        high = mean + reach;
        p = error > 0 ? 1 - student_within(mean / error, pairs - 1) : mean == 0 ? 1 : 0;
    }
    /// The interval lies within -margin ... margin.
    bool within(double margin) const { return pairs > 1 && low > -margin && high < margin; }
};

} // namespace reproduce
