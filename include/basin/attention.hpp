// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include <basin/backend/concept.hpp>
#include <basin/core/options.hpp>
#include <basin/detail/checks.hpp>

namespace basin {
namespace detail {

// Functions of their own: inside a generic lambda the backend is no template any more, and clang looks at branches not taken.
template <class Backend, class Task>
void let_refuse(Backend const& backend, Task const& task) {
    if constexpr (requires { backend.check(task); }) backend.check(task);
}
template <class Backend, class Task>
void let_run(Backend const& backend, Task const& task) {
    backend.run(task);
}
/// Zeroes the outputs of padded queries and fills the statistics with their identities. A backend whose arrays may lie
/// where the host cannot write does that itself and says so: `using clears_outputs = void;`.
template <class Backend, class Task>
void clear_outputs(Backend const&, Task const& task) {
    if constexpr (!requires { typename Backend::clears_outputs; }) {
        if constexpr (!Task::observing) zero_padding(task.where, task.out);
        task.for_each_statistic([](auto const& s) { reset(s); });
    }
}
template <class Backend, class Task>
std::size_t ask_workspace(Backend const& backend, Task const& task) {
    constexpr bool says = requires { backend.workspace_bytes(task); };
    static_assert(says, "basin: this backend does not say how much workspace it needs; simd_backend does");
    if constexpr (says)
        return backend.workspace_bytes(task);
    else
        return 0;
}

/// Everything after the policy: options, if the caller gave them, then statistics.
template <class F>
void split_options(F const& run) {
    run(options{});
}
template <class F, class First, class... Rest>
void split_options(F const& run, First const& first, Rest const&... rest) {
    if constexpr (std::same_as<First, options>)
        run(first, rest...);
    else
        run(options{}, first, rest...);
}

/// Lifts and checks the arguments of a call, binds the policy and hands the task to `use`; nothing is written here. A call
/// without a batch, a head or a query has no task.
struct prepare_attention {
    template <class Use, class Backend, class Q, class K, class V, class Out, class Policy, class... Rest>
    static void with(Use const& use, Backend const&, Q&& q, K&& k, V&& v, Out&& out, Policy const& policy,
                     Rest const&... rest) {
        static_assert(explained<Backend, Policy>::value);
        static_assert(outlives_call<Out>,
                      "basin: out is a temporary: its result would be lost; give attention a named array");
        constexpr bool writes = !std::is_const_v<element_of<Out>>;
        static_assert(writes, "basin: out is const: attention writes into it");
        using T = std::remove_const_t<element_of<Q>>;
        static_assert(explained_numbers<T>::value);
        constexpr bool alike = std::same_as<T, std::remove_const_t<element_of<K>>> &&
                               std::same_as<T, std::remove_const_t<element_of<V>>> &&
                               std::same_as<T, std::remove_const_t<element_of<Out>>>;
        static_assert(alike, "basin: q, k, v and out must have the same scalar type: convert one side, basin mixes no "
                             "precisions silently");
        if constexpr (basin::backend<Backend> && scalar<T> && writes && alike) { // else its words have been said
            view<T const, 4> const query = lift_tensor(describe(q, "q"), "q"), key = lift_tensor(describe(k, "k"), "k"),
                                   value = lift_tensor(describe(v, "v"), "v");
            view<T, 4> const output = lift_tensor(describe(out, "out"), "out");
            split_options(
                [&]<class... S>(options const& o, S const&... s) {
                    if constexpr (explain_statistics<accumulation_t<T>, S...>())
                        run(use, query, key, value, output, policy, o, s...);
                },
                rest...);
        }
    }

private:
    template <class Use, class T, class Policy, class... Statistics>
    static void run(Use const& use, view<T const, 4> const& q, view<T const, 4> const& k, view<T const, 4> const& v,
                    view<T, 4> const& out, Policy const& policy, options const& o, Statistics const&... statistics) {
        check_shapes(q, k);
        check_values(q, k, v, out);
        (check_statistic(statistics, q, k), ...);
        (check_statistic_alias(statistics, q.data(), k.data(), v.data(), out.data()), ...);
        layout const where = make_layout(o, q.extent(0), q.extent(2), k.extent(2));
        auto const bound = basin::bind(policy, facts_of(where, q, k, v.extent(3)));
        if (q.extent(0) == 0 || q.extent(1) == 0 || q.extent(2) == 0) return;
        use(attention_task<purpose::attend, T, std::remove_const_t<decltype(bound)>, Statistics...>{
            q, k, v, out, {}, scale_of(o, q), bound, where, {{statistics}...}});
    }
};

struct attention_function {
    template <class Backend, class Q, class K, class V, class Out, class Policy, class... Rest>
    void operator()(Backend const& backend, Q&& q, K&& k, V&& v, Out&& out, Policy const& policy,
                    Rest const&... rest) const {
        static_assert(explained<Backend, Policy>::value);
        prepare_attention::with(
            [&](auto const& task) {
                let_refuse(backend, task);
                clear_outputs(backend, task);
                let_run(backend, task);
            },
            backend, static_cast<Q&&>(q), static_cast<K&&>(k), static_cast<V&&>(v), static_cast<Out&&>(out), policy,
            rest...);
    }
};

struct workspace_bytes_function {
    template <class Backend, class Q, class K, class V, class Out, class Policy, class... Rest>
    std::size_t operator()(Backend const& backend, Q&& q, K&& k, V&& v, Out&& out, Policy const& policy,
                           Rest const&... rest) const {
        static_assert(explained<Backend, Policy>::value);
        std::size_t bytes = 0;
        prepare_attention::with([&](auto const& task) { bytes = ask_workspace(backend, task); }, backend,
                                static_cast<Q&&>(q), static_cast<K&&>(k), static_cast<V&&>(v), static_cast<Out&&>(out),
                                policy, rest...);
        return bytes;
    }
};

struct observe_function {
    template <class Backend, class Q, class K, class Lse, class Policy, class... Rest>
    void operator()(Backend const& backend, Q&& q, K&& k, Lse&& lse, Policy const& policy, Rest const&... rest) const {
        static_assert(explained<Backend, Policy>::value);
        using T = std::remove_const_t<element_of<Q>>;
        static_assert(explained_numbers<T>::value);
        using A = accumulation_t<T>;
        constexpr bool alike = std::same_as<T, std::remove_const_t<element_of<K>>>;
        static_assert(alike, "basin: q and k must have the same scalar type");
        constexpr bool fits = std::same_as<A, std::remove_const_t<element_of<Lse>>>;
        static_assert(fits, "basin: lse must be in the accumulation type: float, or double for double arrays");
        if constexpr (basin::backend<Backend> && alike && fits) {
            view<T const, 4> const query = lift_tensor(describe(q, "q"), "q"), key = lift_tensor(describe(k, "k"), "k");
            view<A const, 4> const known = lift_statistic(describe(lse, "lse"), false, "lse");
            split_options(
                [&]<class... S>(options const& o, S const&... s) {
                    if constexpr (explain_statistics<A, S...>()) run(backend, query, key, known, policy, o, s...);
                },
                rest...);
        }
    }

private:
    template <class Backend, class T, class A, class Policy, class... Statistics>
    static void run(Backend const& backend, view<T const, 4> const& q, view<T const, 4> const& k,
                    view<A const, 4> const& lse, Policy const& policy, options const& o,
                    Statistics const&... statistics) {
        static_assert(!(needs_key_weight<Statistics> || ...),
                      "basin: this statistic needs the values: ask attention for it, observe has no v");
        check_shapes(q, k);
        check_known_lse(lse, q);
        (check_statistic(statistics, q, k), ...);
        (check_statistic_alias(statistics, q.data(), k.data(), lse.data()), ...);
        layout const where = make_layout(o, q.extent(0), q.extent(2), k.extent(2));
        auto const bound = basin::bind(policy, facts_of(where, q, k, 0));
        if (q.extent(0) == 0 || q.extent(1) == 0 || q.extent(2) == 0) return;
        attention_task<purpose::observe, T, std::remove_const_t<decltype(bound)>, Statistics...> const task{
            q, k, {}, {}, lse, scale_of(o, q), bound, where, {{statistics}...}};
        let_refuse(backend, task);
        clear_outputs(backend, task);
        backend.run(task);
    }
};

} // namespace detail

/// attention(backend, q, k, v, out, policy, [options,] statistics...)
/// Writes softmax(scale q.k, changed and masked by the policy) v into out, and the statistics into their arrays, in one
/// pass. Arrays are (batch, head, token, channel) with any strides; (token, channel) is one head; rank 3 is named by
/// heads() or batches(). The heads of q are a multiple of those of k and v. On an error nothing is written.
inline constexpr detail::attention_function attention{};

/// observe(backend, q, k, lse, policy, [options,] statistics...)
/// The statistics alone, from the lse of an earlier call under the same policy: no values are read, no output is made.
inline constexpr detail::observe_function observe{};

/// workspace_bytes(backend, q, k, v, out, policy, [options,] statistics...)
/// How much memory that call of attention needs beside its arguments: what simd_backend allocates, or takes from the
/// caller's workspace.
inline constexpr detail::workspace_bytes_function workspace_bytes{};

} // namespace basin
