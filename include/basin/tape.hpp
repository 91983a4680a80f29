// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include <basin/attention_backward.hpp>
#include <basin/statistic/lse.hpp>

namespace basin {

/// A call of attention that can be run backwards: what `attend` returns. It owns the lse and a copy of the policy and
/// borrows the arrays, which must live, unchanged, until backward. There is no graph: the caller calls tapes in reverse.
template <class Backend, class T, class Policy>
class tape {
public:
    /// What gradients are computed and added up in.
    using accumulation = accumulation_t<T>;

    /// Gradients as attention_backward gives them; may be called several times.
    template <class... Terms, class A>
    void backward(upstream<A, Terms...> const& up, gradients<A> const& into) const {
        attention_backward(backend_, saved{q_, k_, v_, out_, lse_}, up, into, policy_, options_);
    }
    /// The natural logarithms of the rows' sums, (batch, head, query).
    buffer<accumulation, 3> const& lse() const { return lse_; }

private:
    friend struct attend_function;
    tape(Backend const& backend, view<T const, 4> const& q, view<T const, 4> const& k, view<T const, 4> const& v,
         view<T const, 4> const& out, Policy const& policy, options const& o)
        : backend_(backend), q_(q), k_(k), v_(v), out_(out), policy_(policy), options_(o),
          lse_(q.extent(0), q.extent(1), q.extent(2)) {}

    Backend backend_;
    view<T const, 4> q_, k_, v_, out_;
    Policy policy_;
    options options_;
    buffer<accumulation, 3> lse_;
};

/// See attend.
struct attend_function {
    template <class Backend, class Q, class K, class V, class Out, class Policy, class... Rest>
    auto operator()(Backend const& backend, Q&& q, K&& k, V&& v, Out&& out, Policy const& policy,
                    Rest const&... rest) const {
        static_assert(detail::explained_backward<Backend, Policy>::value);
        static_assert(detail::outlives_call<Q> && detail::outlives_call<K> && detail::outlives_call<V> &&
                          detail::outlives_call<Out>,
                      "basin: attend borrows its arrays until backward: keep them in variables");
        using T = detail::plain_element<Q>;
        using detail::lift_array;
        options chosen;
        detail::split_options([&](options const& o, auto const&...) { chosen = o; }, rest...);
        tape<Backend, T, Policy> result(backend, lift_array<T const>(q, "q"), lift_array<T const>(k, "k"),
                                        lift_array<T const>(v, "v"), lift_array<T const>(out, "out"), policy, chosen);
        detail::split_options(
            [&](options const& o, auto const&... statistics) {
                attention(backend, q, k, v, out, policy, o, basin::lse{result.lse_}, statistics...);
            },
            rest...);
        return result;
    }
};

/// attend(backend, q, k, v, out, policy, [options,] statistics...)
/// attention, and a tape of it: `auto tape = attend(...); ... tape.backward(upstream{d_out}, gradients{d_q, d_k, d_v});`
inline constexpr attend_function attend{};

} // namespace basin
