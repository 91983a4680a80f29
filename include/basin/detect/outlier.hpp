// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include <basin/detect/rule.hpp>

namespace basin {

/// Mass above mean + z standard deviations (population) of the head's keys. z = 2 in Sink-Aware Pruning, 3 in Attention
/// Floating. The scale changes nothing in the answer but uniform_ratio, which compares with the mask's own baseline.
struct outlier {
    /// How many standard deviations above the mean.
    double z = 2;
    mass_scale scale = mass_scale::sum;

    template <class T>
    verdict<T> operator()(key_facts<T> const& key, head_facts<T> const& head) const {
        T const mass = on_scale(scale, key, head);
        T const limit = threshold(head);
        return {mass > limit, mass, limit, "outlier", false};
    }
    template <class T>
    T threshold(head_facts<T> const& head) const {
        moments<T> const m = on_scale(scale, head);
        return m.mean + static_cast<T>(z) * m.deviation;
    }
    template <class T>
    T critical(key_facts<T> const& key, head_facts<T> const& head) const {
        moments<T> const m = on_scale(scale, head);
        return m.deviation > T(0) ? (on_scale(scale, key, head) - m.mean) / m.deviation : T(0);
    }
    /// Of n numbers, none lies sqrt(n - 1) deviations or more above the mean.
    template <class T>
    bool can_fire(head_facts<T> const& head) const {
        return z < 0 || static_cast<T>(z * z) < static_cast<T>(head.keys - 1);
    }
    template <class T>
    void check(head_facts<T> const& head) const {
        if (z != z) detail::fail<argument_error>("outlier: z is NaN");
        if (scale == mass_scale::uniform_ratio && head.ratio.mean != head.ratio.mean) {
            detail::fail<argument_error>("outlier: mass_scale::uniform_ratio needs the baseline of the mask: "
                                         "evidence{mass}.under(visibility_of(policy, ...))");
        }
    }
};

} // namespace basin
