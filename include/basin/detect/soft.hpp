// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include <basin/detect/rule.hpp>

namespace basin {

/// The soft rule of Sink-Aware Pruning: a weight sigmoid(steepness (m - (mean + z deviation))) instead of a yes or no. As a
/// rule it says yes above `at_least`; `soft_weights` gives the weights themselves. Unlike the hard outlier, the scale
/// matters: the sigmoid is not dimensionless. The paper does not say which it used.
struct soft {
    /// At how many deviations above the mean the weight is 1/2, how fast it rises there, and from which weight on a key is a sink.
    double z = 2, steepness = 5, at_least = 0.5;
    mass_scale scale = mass_scale::sum;

    template <class T>
    verdict<T> operator()(key_facts<T> const& key, head_facts<T> const& head) const {
        T const w = weight(key, head);
        return {w > static_cast<T>(at_least), w, static_cast<T>(at_least), "soft", false};
    }
    /// How much of a sink the key is, in [0, 1].
    template <class T>
    T weight(key_facts<T> const& key, head_facts<T> const& head) const {
        moments<T> const m = on_scale(scale, head);
        T const above = on_scale(scale, key, head) - (m.mean + static_cast<T>(z) * m.deviation);
        return T(1) / (T(1) + math::exp(-static_cast<T>(steepness) * above));
    }
    template <class T>
    T critical(key_facts<T> const& key, head_facts<T> const& head) const {
        return weight(key, head);
    }
    template <class T>
    void check(head_facts<T> const& head) const {
        if (!(at_least >= 0)) detail::fail<argument_error>("soft: at_least is ", at_least, "; weights are in [0, 1]");
        if (at_least >= 1)
            detail::fail<argument_error>("soft: at_least = ", at_least,
                                         " can never be exceeded: weights are at most 1");
        if (!(steepness > 0) || z != z)
            detail::fail<argument_error>("soft: needs a positive steepness and a z that is a number");
        if (scale == mass_scale::uniform_ratio && head.ratio.mean != head.ratio.mean) {
            detail::fail<argument_error>("soft: mass_scale::uniform_ratio needs the baseline of the mask: "
                                         "evidence{mass}.under(visibility_of(policy, ...))");
        }
    }
};

} // namespace basin
