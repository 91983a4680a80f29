// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include <basin/detect/rule.hpp>

namespace basin {

/// Massive activations (2402.17762): the largest magnitude in a token's hidden state is above 100 and above 1,000 times the
/// median magnitude of all hidden states of that text. The evidence brings both: `activations(activations_of(hidden))`.
struct massive {
    /// What the largest magnitude of a hidden state must exceed: in itself, and as a multiple of the median.
    double above = 100, times_median = 1000;

    template <class T>
    verdict<T> operator()(key_facts<T> const& key, head_facts<T> const& head) const {
        T const limit = math::max(static_cast<T>(above), static_cast<T>(times_median) * head.median_activation);
        return {key.activation > limit, key.activation, limit, "massive", false};
    }
    template <class T>
    void check(head_facts<T> const& head) const {
        if (above != above || times_median != times_median) detail::fail<argument_error>("massive: a threshold is NaN");
        if (head.median_activation != head.median_activation) {
            detail::fail<argument_error>("massive: the evidence has no activations, or NaN among them; give them: "
                                         "evidence{mass}.activations(activations_of(hidden))");
        }
    }
};

} // namespace basin
