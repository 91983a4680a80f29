// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include <basin/core/error.hpp>
#include <basin/core/site.hpp>
#include <basin/intervene/normal.hpp>
#include <basin/intervene/random.hpp>

#include <algorithm>
#include <vector>

namespace basin {

/// Percentiles of the resampled means, or the same corrected for bias and skewness (BCa).
enum class interval_kind : std::uint8_t { percentile, bca };

/// How intervals and tests are made from the differences that were seen.
struct resampling {
    /// Which interval.
    interval_kind kind = interval_kind::percentile;
    /// How often the sample is drawn anew; at least 1,000.
    index_t resamples = 10000;
    std::uint64_t seed = 1;
    /// How often such intervals hold the truth.
    double confidence = 0.95;
    /// Plain bootstrap intervals of few pairs are too narrow: they know neither the n - 1 nor Student's t. This widens their
    /// percentiles accordingly (Hesterberg 2015).
    bool widened = true;
};

/// A closed interval.
struct interval {
    /// Its ends.
    double low = 0, high = 0;
    /// Whether x lies between the ends or on one of them.
    bool covers(double x) const { return low <= x && x <= high; }
};

namespace detail {

inline void check_sample(std::vector<double> const& x, resampling const& how) {
    if (x.size() < 5)
        fail<argument_error>("bootstrap: ", static_cast<int>(x.size()),
                             " pairs; an interval from fewer than 5 means nothing");
    if (how.resamples < 1000)
        fail<argument_error>("bootstrap: ", how.resamples,
                             " resamples; at least 1,000 are needed to see the tails, 10,000 to report them");
    if (!(how.confidence > 0 && how.confidence < 1))
        fail<argument_error>("bootstrap: a confidence of ", how.confidence);
    for (double const y : x) {
        if (!(__builtin_fabs(y) < __builtin_inf())) fail<argument_error>("bootstrap: one of the differences is ", y);
    }
}
inline double mean_of(std::vector<double> const& x) {
    double sum = 0;
    for (double const y : x) sum += y;
    return sum / static_cast<double>(x.size());
}
/// The quantile of a sample, between its members by a straight line.
inline double quantile(std::vector<double>& x, double p) {
    double const at = p * static_cast<double>(x.size() - 1);
    auto const low = static_cast<std::ptrdiff_t>(at);
    std::nth_element(x.begin(), x.begin() + low, x.end());
    double const a = x[static_cast<std::size_t>(low)];
    if (low + 1 == static_cast<std::ptrdiff_t>(x.size())) return a;
    double const b = *std::min_element(x.begin() + low + 1, x.end());
    return a + (at - static_cast<double>(low)) * (b - a);
}

} // namespace detail

/// The interval of the mean of paired differences.
inline interval bootstrap_mean(std::vector<double> const& x, resampling const& how = {}) {
    detail::check_sample(x, how);
    auto const n = static_cast<std::uint32_t>(x.size());
    double const mean = detail::mean_of(x);
    std::vector<double> means(static_cast<std::size_t>(how.resamples));
    random_stream random(how.seed);
    for (double& m : means) {
        double sum = 0;
        for (std::uint32_t i = 0; i + 1 < n; i += 2) { // two draws of 32 bits each
            std::uint64_t const r = random.next();
            sum += x[static_cast<std::size_t>(((r >> 32U) * n) >> 32U)] +
                   x[static_cast<std::size_t>(((r & 0xffffffffU) * n) >> 32U)];
        }
        if (n % 2 == 1) sum += x[random.below(n)];
        m = sum / n;
    }

    double const tail = (1 - how.confidence) / 2;
    double const z = how.widened
                         ? __builtin_sqrt(n / (n - 1.0)) * detail::student_quantile(1 - tail, static_cast<int>(n) - 1)
                         : detail::normal_quantile(1 - tail);
    double bias = 0, acceleration = 0;
    if (how.kind == interval_kind::bca) {
        double below = 0, squares = 0, cubes = 0;
        for (double const m : means) below += m < mean ? 1 : m == mean ? 0.5 : 0;
        double const share = below / how.resamples;
        for (double const y : x) {
            double const d = y - mean;
            squares += d * d;
            cubes += d * d * d;
        }
        if (squares > 0 && share > 0 && share < 1) {
            bias = detail::normal_quantile(share);
            acceleration = cubes / (6 * squares * __builtin_sqrt(squares));
        }
    }
    auto const level = [&](double side) {
        double const w = bias + side;
        return detail::normal_share(bias + w / (1 - acceleration * w));
    };
    double const low = detail::quantile(means, level(-z));
    return {low, detail::quantile(means, level(z))};
}

/// Two-sided sign test of "as often up as down", exact; pairs without a difference leave.
inline double sign_test(std::vector<double> const& x) {
    int up = 0, n = 0;
    for (double const y : x) {
        up += y > 0 ? 1 : 0;
        n += y != 0 ? 1 : 0;
    }
    int const extreme = std::min(up, n - up);
    double p = 0;
    for (int i = 0; i <= extreme; ++i)
        p += __builtin_exp(__builtin_lgamma(n + 1.0) - __builtin_lgamma(i + 1.0) - __builtin_lgamma(n - i + 1.0) -
                           n * 0.6931471805599453);
    return std::min(1.0, 2 * p);
}

/// Two-sided randomisation test of the mean of paired differences: under "no effect" every difference could as well have had
/// the other sign.
inline double sign_flip_test(std::vector<double> const& x, resampling const& how = {}) {
    detail::check_sample(x, how);
    double observed = 0, size = 0;
    for (double const y : x) {
        observed += y;
        size += __builtin_fabs(y);
    }
    double const limit = __builtin_fabs(observed) - 1e-12 * size; // equal sums in another order are as extreme
    random_stream random(how.seed ^ 0x5157a11dU);
    int reached = 0;
    for (index_t i = 0; i < how.resamples; ++i) {
        double sum = 0;
        std::uint64_t bits = 0;
        for (std::size_t j = 0; j < x.size(); ++j, bits >>= 1U) {
            if (j % 64 == 0) bits = random.next();
            sum += (bits & 1U) != 0U ? x[j] : -x[j];
        }
        reached += __builtin_fabs(sum) >= limit ? 1 : 0;
    }
    return (1.0 + reached) / (1.0 + how.resamples);
}

/// Holm's correction: what each p is worth when all of them were looked at. In the order given.
inline std::vector<double> holm(std::vector<double> const& p) {
    std::vector<std::size_t> order(p.size());
    for (std::size_t i = 0; i < p.size(); ++i) {
        if (!(p[i] >= 0 && p[i] <= 1)) detail::fail<argument_error>("holm: a p of ", p[i]);
        order[i] = i;
    }
    std::sort(order.begin(), order.end(),
              [&](std::size_t a, std::size_t b) { return p[a] != p[b] ? p[a] < p[b] : a < b; });
    std::vector<double> result(p.size());
    double least = 0;
    for (std::size_t i = 0; i < order.size(); ++i) {
        least = std::max(least, std::min(1.0, p[order[i]] * static_cast<double>(p.size() - i)));
        result[order[i]] = least;
    }
    return result;
}

} // namespace basin
