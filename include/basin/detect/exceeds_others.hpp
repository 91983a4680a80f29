// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include <basin/detect/rule.hpp>

namespace basin {

/// The leave-one-out rule of "Attention Sinks in Diffusion Language Models": a key is a sink when its mass exceeds the
/// mean mass of the *other* keys by epsilon. In closed form, with C the sum over S keys, that is one threshold for the
/// whole head: c_j > ((S - 1) epsilon + C) / S.
/// As printed, with masses that are means, epsilon = 3 can never be exceeded; the figures of the paper are on another
/// scale. Hence the scale is part of the rule, and one on which epsilon is out of reach is refused.
struct exceeds_others {
    /// By how much a key must exceed the mean of the others, on the rule's scale.
    double epsilon = 3;
    mass_scale scale = mass_scale::sum;

    template <class T>
    verdict<T> operator()(key_facts<T> const& key, head_facts<T> const& head) const {
        T const mass = on_scale(scale, key, head);
        T const limit = threshold(head);
        return {mass > limit, mass, limit, "exceeds_others", false};
    }
    template <class T>
    T threshold(head_facts<T> const& head) const {
        T const n = static_cast<T>(head.keys);
        return ((n - T(1)) * static_cast<T>(epsilon) + on_scale(scale, head).sum) / n;
    }
    /// The epsilon at which this key stops being a sink: what a sweep sorts by.
    template <class T>
    T critical(key_facts<T> const& key, head_facts<T> const& head) const {
        T const n = static_cast<T>(head.keys);
        return (on_scale(scale, key, head) * n - on_scale(scale, head).sum) / (n - T(1));
    }

    template <class T>
    bool can_fire(head_facts<T> const& head) const {
        return static_cast<T>(epsilon) < highest_on_scale(scale, head);
    }
    template <class T>
    void check(head_facts<T> const& head) const {
        if (epsilon != epsilon) detail::fail<argument_error>("exceeds_others: epsilon is NaN");
        double const most = scale == mass_scale::mean ? 1 : 100;
        if ((scale == mass_scale::mean || scale == mass_scale::percent) && epsilon >= most) {
            bool const sum = epsilon < static_cast<double>(head.queries);
            detail::fail<argument_error>("exceeds_others: epsilon = ", epsilon,
                                         " can never be exceeded on mass_scale::", name_of(scale),
                                         ", where a key has at most ", most,
                                         sum             ? "; mass_scale::sum works, where uniform attention gives 1"
                                         : epsilon < 100 ? "; mass_scale::percent works"
                                                         : "; no scale works for so few queries");
        }
        if (scale == mass_scale::uniform_ratio && head.ratio.mean != head.ratio.mean) {
            detail::fail<argument_error>("exceeds_others: mass_scale::uniform_ratio needs the baseline of the mask: "
                                         "evidence{mass}.under(visibility_of(policy, ...))");
        }
    }
};

} // namespace basin
