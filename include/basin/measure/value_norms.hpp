// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include <basin/core/lift.hpp>
#include <basin/core/math.hpp>

namespace basin {

/// The Euclidean norm of every value, (batch, key-value head, key): sinks tend to have small ones.
template <class V>
auto value_norms(V&& values) {
    using A = accumulation_t<std::remove_const_t<detail::element_of<V>>>;
    auto const v = detail::lift_tensor(detail::describe(values, "v"), "v");
    buffer<A, 3> result(v.extent(0), v.extent(1), v.extent(2));
    for (index_t b = 0; b < v.extent(0); ++b)
        for (index_t h = 0; h < v.extent(1); ++h)
            for (index_t key = 0; key < v.extent(2); ++key) {
                A sum = 0;
                for (index_t c = 0; c < v.extent(3); ++c) {
                    A const x = static_cast<A>(v(b, h, key, c));
                    sum += x * x;
                }
                result(b, h, key) = math::sqrt(sum);
            }
    return result;
}

/// r_j of "One Token Is Enough": the mean over heads, (batch, key).
template <class T>
buffer<T, 2> mean_over_heads(buffer<T, 3> const& x) {
    buffer<T, 2> result(x.extent(0), x.extent(2));
    if (x.extent(1) == 0) detail::fail<argument_error>("mean_over_heads: there are no heads");
    for (index_t b = 0; b < x.extent(0); ++b)
        for (index_t key = 0; key < x.extent(2); ++key) {
            T sum = 0;
            for (index_t h = 0; h < x.extent(1); ++h) sum += x(b, h, key);
            result(b, key) = sum / static_cast<T>(x.extent(1));
        }
    return result;
}

} // namespace basin
