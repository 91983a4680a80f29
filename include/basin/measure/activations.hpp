// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include <basin/core/lift.hpp>
#include <basin/core/math.hpp>
#include <basin/core/options.hpp>
#include <basin/detect/median.hpp>

namespace basin {

/// The largest magnitude of each token's hidden state, (batch, 1, token), and the median magnitude of each text.
template <class T>
struct activation_facts {
    /// The largest magnitude of each token, (batch, 1, token).
    buffer<T, 3> peaks;
    /// The median magnitude of each text.
    buffer<T, 1> medians;
};

/// From hidden states, (token, channel) or batches(x) of rank 3. `lengths` leaves padding out of the median.
template <class X>
auto activations_of(X&& hidden, counts const& lengths = {}) {
    using A = accumulation_t<std::remove_const_t<detail::element_of<X>>>;
    auto const x = detail::lift_tensor(detail::describe(hidden, "hidden"), "hidden");
    detail::check_extent("hidden", "head", x.extent(1), "a hidden state", 1);
    if (lengths.given() && lengths.size() != x.extent(0))
        detail::fail<shape_error>("lengths: has ", lengths.size(), " entries, but the batch has ", x.extent(0));
    activation_facts<A> result{buffer<A, 3>(x.extent(0), 1, x.extent(2)), buffer<A, 1>(x.extent(0))};
    std::vector<A> magnitudes;
    for (index_t b = 0; b < x.extent(0); ++b) {
        magnitudes.clear();
        index_t const tokens = lengths.given() ? lengths[b] : x.extent(2);
        if (tokens < 0 || tokens > x.extent(2))
            detail::fail<argument_error>("lengths: entry ", b, " is ", tokens, ", outside of 0 ... ", x.extent(2));
        for (index_t i = 0; i < tokens; ++i) {
            for (index_t c = 0; c < x.extent(3); ++c) {
                A const m = math::abs(static_cast<A>(x(b, 0, i, c)));
                if (m != m) detail::fail<argument_error>("hidden: NaN at batch ", b, ", token ", i, ", channel ", c);
                magnitudes.push_back(m);
                result.peaks(b, 0, i) = math::max(result.peaks(b, 0, i), m);
            }
        }
        result.medians(b) = detail::median(magnitudes);
    }
    return result;
}

} // namespace basin
