// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include <basin/core/policy.hpp>

namespace basin {

/// Scores are bent towards +-cap: cap * tanh(score / cap). Small scores hardly change, none passes the cap. A score of -inf
/// stays what it is: a key that a bias has hidden is not opened again as -cap.
struct softcap {
    using lanes = supported;
    /// What no score exceeds; positive.
    double cap = 1;

    template <class X, class Lane>
    X score(X x, basic_site<Lane> const&) const {
        return math::select(x == X(-math::infinity<double>), x, math::soft_cap(x, cap));
    }
    softcap in_units(double unit) const { return {cap * unit}; }
    softcap bind(shape_facts const&) const {
        if (!(cap > 0 && cap < math::infinity<double>))
            detail::fail<argument_error>("softcap: the cap is ", cap, "; it must be greater than 0 and finite");
        return {math::min(cap, 1e30)}; // kernels multiply it, and it must stay a float; no score of a model is so large
    }
};

} // namespace basin
