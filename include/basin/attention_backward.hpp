// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include <basin/attention.hpp>
#include <basin/backend/backward_concept.hpp>
#include <basin/detail/backward_checks.hpp>
#include <basin/policy/learned.hpp>

namespace basin {

/// What the forward pass read and wrote: its arrays and the lse of that very call. It borrows them. An lse of other
/// numbers, or of another policy, is not noticed: only its extents are checked.
template <class T>
struct saved {
    view<T const, 4> q, k, v, out;
    view<accumulation_t<T> const, 4> lse;

    template <class Q, class K, class V, class Out, class Lse>
    saved(Q&& q_, K&& k_, V&& v_, Out&& out_, Lse&& lse_)
        : q(detail::lift_array<T const>(q_, "q")), k(detail::lift_array<T const>(k_, "k")),
          v(detail::lift_array<T const>(v_, "v")), out(detail::lift_array<T const>(out_, "out")),
          lse(detail::lift_by_token<accumulation_t<T> const>(lse_, false, "lse")) {
        detail::explain_saved<T, Q, K, V, Out, Lse>();
    }
    template <class Q, class K, class V, class Out>
    saved(Q&&, K&&, V&&, Out&&) {
        static_assert(sizeof(T) == 0, "basin: saved needs the lse of the forward call: attention(..., lse{rows}), then "
                                      "saved{q, k, v, out, rows}");
    }
};
template <class Q, class K, class V, class Out, class... Lse>
saved(Q&&, K&&, V&&, Out&&, Lse&&...) -> saved<detail::plain_element<Q>>;

/// The gradient of a loss by the statistic lse, (batch, head, query).
template <class A>
struct through_lse {
    view<A const, 4> gradient;
    template <class Array>
        requires detail::array_like<std::remove_cvref_t<Array>>
    explicit through_lse(Array&& d) : gradient(detail::lift_by_token<A const>(d, false, "through_lse")) {
        static_assert(detail::outlives_call<Array>, "basin: through_lse borrows its array: keep it in a variable");
    }
};
template <class Array>
through_lse(Array&&) -> through_lse<detail::plain_element<Array>>;

/// The gradient of a loss by the statistic entropy, (batch, head, query).
template <class A>
struct through_entropy {
    view<A const, 4> gradient;
    template <class Array>
        requires detail::array_like<std::remove_cvref_t<Array>>
    explicit through_entropy(Array&& d) : gradient(detail::lift_by_token<A const>(d, false, "through_entropy")) {
        static_assert(detail::outlives_call<Array>, "basin: through_entropy borrows its array: keep it in a variable");
    }
};
template <class Array>
through_entropy(Array&&) -> through_entropy<detail::plain_element<Array>>;

/// The gradient of a loss by the statistic received, (batch, head, key); or, as `through_received{d, by_group(ids, n)}`,
/// (batch, head, group, key).
template <class A>
struct through_received {
    view<A const, 4> gradient;
    query_groups groups{};
    template <class Array>
        requires detail::array_like<std::remove_cvref_t<Array>>
    explicit through_received(Array&& d, query_groups split = {})
        : gradient(detail::lift_by_token<A const>(d, split.given, "through_received")), groups(split) {
        static_assert(detail::outlives_call<Array>, "basin: through_received borrows its array: keep it in a variable");
    }
};
template <class Array>
through_received(Array&&) -> through_received<detail::plain_element<Array>>;
template <class Array>
through_received(Array&&, query_groups) -> through_received<detail::plain_element<Array>>;

/// The gradient of the loss by what the forward pass wrote: d_out, and in any order what goes through its statistics.
template <class A, class... Terms>
struct upstream {
    view<A const, 4> d_out;
    /// What the loss says about statistics: through_lse, through_received, through_entropy.
    several<Terms...> terms;

    template <class DOut>
        requires detail::array_like<std::remove_cvref_t<DOut>>
    explicit upstream(DOut&& d, Terms const&... t) : d_out(detail::lift_array<A const>(d, "d_out")), terms{{t}...} {
        using detail::is_term, detail::terms_of;
        static_assert(detail::outlives_call<DOut>, "basin: upstream borrows d_out: keep it in a variable");
        static_assert(
            ((is_term<through_lse, Terms> || is_term<through_received, Terms> || is_term<through_entropy, Terms>) &&
             ...),
            "basin: upstream takes d_out, then through_lse{...}, through_received{...} and "
            "through_entropy{...}, in any order");
        static_assert(terms_of<through_lse, Terms...> <= 1 && terms_of<through_received, Terms...> <= 1 &&
                          terms_of<through_entropy, Terms...> <= 1,
                      "basin: upstream has the same statistic twice: add the two gradients");
    }
};
template <class DOut, class... Terms>
upstream(DOut&&, Terms...) -> upstream<detail::plain_element<DOut>, Terms...>;

/// Where the gradients of q, k and v go. They are overwritten; `accumulate(gradients{...})` adds to them (and to those of
/// learned parameters).
template <class A>
struct gradients {
    view<A, 4> d_q, d_k, d_v;
    bool adds = false;

    template <class DQ, class DK, class DV>
    gradients(DQ&& q, DK&& k, DV&& v)
        : d_q(detail::lift_array<A>(q, "d_q")), d_k(detail::lift_array<A>(k, "d_k")),
          d_v(detail::lift_array<A>(v, "d_v")) {
        detail::explain_gradients<A, DQ, DK, DV>();
    }
};
template <class DQ, class DK, class DV>
gradients(DQ&&, DK&&, DV&&) -> gradients<detail::plain_element<DQ>>;

namespace detail {

/// Checks a call, binds the policy and hands the task to `use`; nothing is written here. A call without a batch, a head or
/// a query has a task too: its gradients are zero.
class prepare_backward {
public:
    template <class Use, class T, class A, class... Terms, class G, class Policy>
    static void with(Use const& use, saved<T> const& from, upstream<A, Terms...> const& up, gradients<G> const& into,
                     Policy const& policy, options const& o) {
        using X = accumulation_t<T>;
        constexpr bool alike = std::same_as<A, X> && std::same_as<G, X> && (is_scalar<X, Terms> && ...);
        static_assert(alike, "basin: all gradients, d_out among them, are in the accumulation type: float for float "
                             "and 16-bit arrays, double for double");
        if constexpr (alike) run(use, from, up, into, policy, o);
    }

private:
    template <class Use, class T, class X, class... Terms, class Policy>
    static void run(Use const& use, saved<T> const& from, upstream<X, Terms...> const& up, gradients<X> const& into,
                    Policy const& policy, options const& o) {
        constexpr bool lse = terms_of<through_lse, Terms...> > 0, received = terms_of<through_received, Terms...> > 0,
                       entropy = terms_of<through_entropy, Terms...> > 0;
        check_arrays(from, up.d_out, into);
        view<X const, 4> d_lse, d_entropy, d_received;
        query_groups groups;
        auto const take = [&](auto const& term) {
            using Term = std::remove_cvref_t<decltype(term)>;
            if constexpr (is_term<through_lse, Term>) {
                d_lse = term.gradient;
                check_like(d_lse, "through_lse", from.lse.extents(), "lse", row_axes);
            } else if constexpr (is_term<through_entropy, Term>) {
                d_entropy = term.gradient;
                check_like(d_entropy, "through_entropy", from.lse.extents(), "lse", row_axes);
            } else {
                d_received = term.gradient;
                groups = term.groups;
                check_received(d_received, groups, from.q, from.k);
            }
        };
        up.terms.each([&](auto, auto const& term) { take(term); });

        layout const where = make_layout(o, from.q.extent(0), from.q.extent(2), from.k.extent(2));
        shape_facts const facts = facts_of(where, from.q, from.k, from.v.extent(3));
        auto bound = basin::bind(policy, facts);
        index_t sums = 0;
        bool in_order = false;
        facet::visit_learned(bound, [&](auto& node) {
            node.first_sum = sums;
            sums += node.sums;
            in_order = in_order || node.shared(facts) || where.query_position.listed() || where.key_position.listed();
            node.adds = node.adds || into.adds;
            check_distinct(node.gradient, "a learned gradient");
            check_distinct(node.second, "a learned gradient");
        });
        named_pointer const read[] = {{from.q.data(), "q"},           {from.k.data(), "k"},
                                      {from.v.data(), "v"},           {from.out.data(), "out"},
                                      {from.lse.data(), "lse"},       {up.d_out.data(), "d_out"},
                                      {d_lse.data(), "d_lse"},        {d_received.data(), "d_received"},
                                      {d_entropy.data(), "d_entropy"}};
        auto const for_each_written = [&](auto const& f) {
            f(named_pointer{into.d_q.data(), "d_q"});
            f(named_pointer{into.d_k.data(), "d_k"});
            f(named_pointer{into.d_v.data(), "d_v"});
            facet::visit_learned(bound, [&](auto const& node) {
                f(named_pointer{node.gradient.data(), "a learned gradient"});
                f(named_pointer{node.second.data(), "a learned gradient"});
            });
        };
        check_aliases(for_each_written, read);
        use(backward_task<T, decltype(bound), lse, received, entropy>{
            from.q, from.k, from.v, from.out, from.lse, up.d_out, d_lse, d_entropy, d_received, groups, into.d_q,
            into.d_k, into.d_v, scale_of(o, from.q), bound, where, sums, in_order, into.adds});
    }

    template <class X, class Term>
    static constexpr bool is_scalar = std::same_as<view<X const, 4>, decltype(Term::gradient)>;

    template <class T, class A>
    static void check_arrays(saved<T> const& from, view<A const, 4> const& d_out, gradients<A> const& into) {
        check_shapes(from.q, from.k);
        check_value_extents(from.q, from.k, from.v, from.out);
        check_known_lse(from.lse, from.q);
        check_like(d_out, "d_out", from.out.extents(), "out", tensor_axes);
        check_like(into.d_q, "d_q", from.q.extents(), "q", tensor_axes);
        check_like(into.d_k, "d_k", from.k.extents(), "k", tensor_axes);
        check_like(into.d_v, "d_v", from.v.extents(), "v", tensor_axes);
        check_distinct(into.d_q, "d_q");
        check_distinct(into.d_k, "d_k");
        check_distinct(into.d_v, "d_v");
    }
    template <class A, class T>
    static void check_received(view<A const, 4> const& d, query_groups const& groups, view<T const, 4> const& q,
                               view<T const, 4> const& k) {
        check_like(d, "through_received", {{q.extent(0), q.extent(1), groups.given ? groups.count : 1, k.extent(2)}},
                   "the call", row_axes);
        check_groups(groups, q);
    }
};

struct attention_backward_function {
    template <class Backend, class T, class A, class... Terms, class G, class Policy>
    void operator()(Backend const& backend, saved<T> const& from, upstream<A, Terms...> const& up,
                    gradients<G> const& into, Policy const& policy, options const& o = {}) const {
        static_assert(explained_backward<Backend, Policy>::value);
        if constexpr (backward_backend<Backend>)
            prepare_backward::with([&](auto const& task) { run(backend, task); }, from, up, into, policy, o);
    }

private:
    template <class Backend, class Task>
    static void run(Backend const& backend, Task const& task) {
        if constexpr (requires { backend.check_backward(task); }) backend.check_backward(task);
        constexpr bool clears = requires { typename Backend::clears_gradients; };
        if constexpr (!clears) {
            if (!task.adds) {
                fill(task.d_q, 0);
                fill(task.d_k, 0);
                fill(task.d_v, 0);
            }
            facet::visit_learned(task.policy, [](auto const& node) {
                if (node.adds) return;
                fill(node.gradient, 0);
                fill(node.second, 0);
            });
            if (task.q.extent(0) == 0 || task.q.extent(1) == 0 || task.q.extent(2) == 0) return;
        }
        backend.run_backward(task);
    }
};

struct backward_workspace_bytes_function {
    template <class Backend, class T, class A, class... Terms, class G, class Policy>
    std::size_t operator()(Backend const& backend, saved<T> const& from, upstream<A, Terms...> const& up,
                           gradients<G> const& into, Policy const& policy, options const& o = {}) const {
        static_assert(explained_backward<Backend, Policy>::value);
        std::size_t bytes = 0;
        prepare_backward::with([&](auto const& task) { bytes = ask(backend, task); }, from, up, into, policy, o);
        return bytes;
    }

private:
    template <class Backend, class Task>
    static std::size_t ask(Backend const& backend, Task const& task) {
        constexpr bool says = requires { backend.backward_workspace_bytes(task); };
        static_assert(says, "basin: this backend does not say how much workspace its backward pass needs; "
                            "simd_backend does");
        if constexpr (says)
            return backend.backward_workspace_bytes(task);
        else
            return 0;
    }
};

} // namespace detail

/// attention_backward(backend, saved{q, k, v, out, lse}, upstream{d_out}, gradients{d_q, d_k, d_v}, policy [, options])
/// The gradients of a loss by q, k, v and what the policy learns, from its gradient by the output (and by statistics) of
/// attention under the same policy and options. No token-by-token matrix is made: probabilities come again from lse.
inline constexpr detail::attention_backward_function attention_backward{};

/// backward_workspace_bytes(backend, saved, upstream, gradients, policy [, options])
/// How much memory that call of attention_backward needs beside its arguments.
inline constexpr detail::backward_workspace_bytes_function backward_workspace_bytes{};

} // namespace basin
