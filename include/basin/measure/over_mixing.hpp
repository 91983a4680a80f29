// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include <basin/core/lift.hpp>
#include <basin/core/math.hpp>

namespace basin {

/// mu(V) of Barbero et al.: the Frobenius norm of V minus the mean of its rows, (batch, head). 0 means that all tokens
/// have become the same; sinks keep it from falling.
template <class V>
buffer<double, 2> over_mixing(V&& values) {
    auto const v = detail::lift_tensor(detail::describe(values, "values"), "values");
    if (v.extent(2) == 0) detail::fail<argument_error>("over_mixing: there are no tokens");
    buffer<double, 2> result(v.extent(0), v.extent(1));
    for (index_t b = 0; b < v.extent(0); ++b)
        for (index_t h = 0; h < v.extent(1); ++h) {
            double squares = 0;
            for (index_t c = 0; c < v.extent(3); ++c) {
                double mean = 0;
                for (index_t i = 0; i < v.extent(2); ++i) mean += static_cast<double>(v(b, h, i, c));
                mean /= v.extent(2);
                for (index_t i = 0; i < v.extent(2); ++i) {
                    double const x = static_cast<double>(v(b, h, i, c)) - mean;
                    squares += x * x;
                }
            }
            result(b, h) = math::sqrt(squares);
        }
    return result;
}

} // namespace basin
