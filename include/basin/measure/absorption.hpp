// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include <basin/core/key_set.hpp>
#include <basin/core/lift.hpp>

namespace basin {

/// The share of received attention that went to a set of keys, in percent, (batch, head); NaN where nothing was received.
/// The set counts places along the key axis, which are positions unless the caller gave others.
template <class Mass>
buffer<double, 2> absorption(Mass&& received, key_set const& keys) {
    auto const mass = detail::lift_statistic(detail::describe(received, "received"), false, "received");
    auto const fits = [](index_t have, index_t need) { return have == 1 || have == need; };
    if (!fits(keys.batch(), mass.extent(0)) || !fits(keys.heads(), mass.extent(1)) || keys.keys() < mass.extent(3)) {
        detail::fail<shape_error>("absorption: the key_set has extents (", keys.batch(), ", ", keys.heads(), ", ",
                                  keys.keys(), "), received has (", mass.extent(0), ", ", mass.extent(1), ", ",
                                  mass.extent(3), ")");
    }
    buffer<double, 2> result(mass.extent(0), mass.extent(1));
    for (index_t b = 0; b < mass.extent(0); ++b)
        for (index_t h = 0; h < mass.extent(1); ++h) {
            double inside = 0, total = 0;
            for (index_t key = 0; key < mass.extent(3); ++key) {
                double const x = static_cast<double>(mass(b, h, 0, key));
                total += x;
                if (keys.bits().contains(b, h, key)) inside += x;
            }
            result(b, h) = total > 0 ? 100 * inside / total : __builtin_nan("");
        }
    return result;
}

} // namespace basin
