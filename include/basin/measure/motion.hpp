// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include <basin/core/key_set.hpp>
#include <basin/core/lift.hpp>
#include <basin/core/math.hpp>

#include <vector>

namespace basin {

/// Do sinks stand or move? Sink-Aware Pruning measures it by two variances over denoising steps, from the mass m_t(i) that
/// each key received (over whatever layers, heads and queries the caller summed):
///   spatial   Var over keys of the mean over steps: high where the same keys always win (autoregressive models)
///   temporal  Var over steps of the mass-weighted centroid of the sinks: high where they move (diffusion models)
/// Both are population variances. Memory grows with keys + steps.
class motion {
public:
    /// One step: mass by key, (key), and the sinks of that step; all heads of batch entry `b` together.
    template <class Mass>
    void add(Mass&& mass, key_set const& sinks, index_t b = 0) {
        auto const m = detail::lift_statistic(detail::describe(mass, "mass"), false, "mass");
        if (m.extent(0) != 1 || m.extent(1) != 1) detail::fail<shape_error>("motion: mass is (key), summed over heads");
        index_t const keys = m.extent(3);
        if (steps_ != 0 && static_cast<std::size_t>(keys) != sums_.size())
            detail::fail<shape_error>("motion: ", keys, " keys, but there were ", static_cast<int>(sums_.size()),
                                      " before");
        if (sinks.keys() < keys || b < 0 || (sinks.batch() != 1 && b >= sinks.batch()))
            detail::fail<shape_error>("motion: the key_set has ", sinks.keys(), " keys in ", sinks.batch(),
                                      " entries; needed are ", keys, " in entry ", b);
        double weight = 0, moment = 0;
        for (index_t key = 0; key < keys; ++key) {
            double const x = static_cast<double>(m(0, 0, 0, key));
            if (!(x >= 0)) detail::fail<argument_error>("motion: mass is ", x, " at key ", key);
            for (index_t h = 0; h < sinks.heads(); ++h) {
                if (!sinks.bits().contains(b, h, key)) continue;
                weight += x;
                moment += x * key;
                break;
            }
        }
        sums_.resize(static_cast<std::size_t>(keys));
        for (index_t key = 0; key < keys; ++key)
            sums_[static_cast<std::size_t>(key)] += static_cast<double>(m(0, 0, 0, key));
        ++steps_;
        if (weight > 0) centroids_.push_back(moment / weight);
    }

    /// The variance over keys of the mass that each received in the mean over steps: large where the same keys stay sinks.
    double spatial_variance() const {
        std::vector<double> means = sums_;
        for (double& x : means) x /= steps_;
        return variance(means);
    }
    /// The variance over steps of the sinks' centroid: large where sinks move.
    double temporal_variance() const { return variance(centroids_); }
    /// Of the steps that had a sink.
    std::vector<double> const& centroids() const { return centroids_; }
    /// The mean distance that the centroid moved between such steps; NaN with fewer than two.
    double drift() const {
        if (centroids_.size() < 2) return __builtin_nan("");
        double sum = 0;
        for (std::size_t i = 1; i < centroids_.size(); ++i) sum += math::abs(centroids_[i] - centroids_[i - 1]);
        return sum / static_cast<double>(centroids_.size() - 1);
    }
    /// How many steps were added.
    index_t steps() const { return steps_; }

private:
    static double variance(std::vector<double> const& x) {
        if (x.empty()) return __builtin_nan("");
        double mean = 0, squares = 0;
        for (double const y : x) mean += y;
        mean /= static_cast<double>(x.size());
        for (double const y : x) squares += (y - mean) * (y - mean);
        return squares / static_cast<double>(x.size());
    }

    index_t steps_ = 0;
    std::vector<double> sums_, centroids_;
};

} // namespace basin
