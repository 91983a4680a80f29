// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include <basin/core/policy.hpp>

namespace basin {

/// Scores divided by a temperature: above 1 attention spreads, below 1 it sharpens. Sinks in the denominator are not
/// touched: they are in natural units.
struct temperature {
    using lanes = supported;
    /// What scores are divided by; positive.
    double value = 1;

    template <class X, class Lane>
    X score(X x, basic_site<Lane> const&) const {
        return x * X(1 / value);
    }
    temperature in_units(double) const { return *this; }
    /// For `learned`: the derivative by the temperature.
    template <class X, class Lane, class Add>
    void score_parameters(X x, basic_site<Lane> const&, Add const& add) const {
        add(0, x * X(-1 / (value * value)));
    }
    /// How many numbers of it can be learned.
    static index_t parameters(shape_facts const&) { return 1; }
    temperature bind(shape_facts const&) const {
        if (!(value > 0)) detail::fail<argument_error>("temperature: is ", value, "; it must be greater than 0");
        return *this;
    }
};

} // namespace basin
