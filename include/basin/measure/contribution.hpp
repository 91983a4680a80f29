// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include <basin/core/statistic.hpp>

namespace basin {

/// What a key really puts into the outputs: the sum over queries of A_ij <v_j, o_i> / ||o_i||^2. For each query these sum
/// to 1 over its keys, so that "receives 40 %, contributes 1 %" can be said. A statistic for `observe`, since it needs the output:
///   observe(backend, q, k, lse, policy, contribution{result, v, out})
/// It takes places from positions, so it is for batches with default positions, not for packed texts. Rows of zeros
/// contribute nothing.
template <class A, class T>
struct contribution : key_statistic<A> {
    /// v and the output of the call that is observed.
    view<T const, 4> values{}, outputs{};

    template <class Array, class V, class Out>
    contribution(Array&& array, V const& v, Out const& out)
        : key_statistic<A>(static_cast<Array&&>(array)), values(detail::lift_tensor(detail::describe(v, "v"), "v")),
          outputs(detail::lift_tensor(detail::describe(out, "out"), "out")) {
        detail::check_extent("contribution: v", "batch", values.extent(0), "out", outputs.extent(0));
        detail::check_extent("contribution: v", "channel", values.extent(3), "out", outputs.extent(3));
        detail::check_extent("contribution: v", "token", values.extent(2), "the statistic", this->output.extent(3));
        if (values.extent(1) == 0 || outputs.extent(1) % values.extent(1) != 0)
            detail::fail<shape_error>("contribution: ", values.extent(1), " heads of v do not divide the ",
                                      outputs.extent(1), " of out");
    }

    static constexpr A identity() { return A(0); }
    A map(cell<A, index_t, A> const& c, site const& s) const {
        index_t const kv = s.head / (outputs.extent(1) / values.extent(1));
        A dot = 0, square = 0;
        for (index_t i = 0; i < values.extent(3); ++i) {
            A const o = static_cast<A>(outputs(s.batch, s.head, s.query, i));
            dot += static_cast<A>(values(s.batch, kv, c.place, i)) * o;
            square += o * o;
        }
        return square > A(0) ? c.p * dot / square : A(0);
    }
    A combine(A a, A b) const { return a + b; }
    /// The same statistic with its arrays elsewhere (see facet::carried).
    template <class Carrier>
    contribution carried(Carrier& carrier) const {
        contribution result = *this;
        result.values = carrier(values);
        result.outputs = carrier(outputs);
        return result;
    }
};
template <class Array, class V, class Out>
contribution(Array&&, V const&, Out const&)
    -> contribution<detail::element_of<Array>, std::remove_const_t<detail::element_of<V>>>;

} // namespace basin
