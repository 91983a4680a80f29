// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include <basin/backend/concept.hpp>

#include <memory>

// An attention_task as kernels take it: every pointer is one that the device can use.
namespace basin::detail::device {

/// x = y, also for policies with lambdas that capture, which cannot be assigned.
template <class X>
void replace(X& x, X const& y) {
    std::destroy_at(&x);
    std::construct_at(&x, y);
}

template <purpose Purpose, class T, class Policy, class... Statistics>
struct task {
    static constexpr bool observing = Purpose == purpose::observe;
    using scalar_type = T;
    using accumulation = accumulation_t<T>;
    using policy_type = Policy;

    view<T const, 4> q, k, v;
    view<T, 4> out;
    view<accumulation const, 4> known_lse;
    accumulation scale;
    Policy policy;
    layout where;
    several<Statistics...> statistics;

    index_t query_heads() const { return q.extent(1); }
    index_t key_value_head(index_t head) const { return head / (q.extent(1) / k.extent(1)); }
    head_site heads_of(text const& t, index_t head) const { return {t.number, head, key_value_head(head)}; }
    /// 1 where nothing but the policy's value facet makes the values of query heads differ, else the size of a group.
    index_t value_heads() const { return detail::has_value<Policy> ? q.extent(1) : k.extent(1); }
    index_t value_head(index_t head) const { return detail::has_value<Policy> ? head : key_value_head(head); }

    static constexpr bool needs_key_weight = (basin::needs_key_weight<Statistics> || ...);
    static constexpr bool needs_favourite = (basin::needs_favourite<Statistics> || ...);
    static constexpr bool by_key = ((Statistics::reduced_to == axis::by_key) || ...);
    /// A statistic by query that looks at pairs.
    static constexpr bool by_query = ((Statistics::reduced_to == axis::by_query && !only_rows<Statistics>) || ...);
    static constexpr bool weighs = detail::has_weight<Policy>;
};

template <purpose Purpose, class T, class Policy, class... S>
task<Purpose, T, Policy, S...> task_of(attention_task<Purpose, T, Policy, S...> const& t) {
    return {t.q, t.k, t.v, t.out, t.known_lse, t.scale, t.policy, t.where, t.statistics};
}

/// What pairs of a query tile and a key tile may see; where positions are listed they are no rectangle, so `some`.
template <class Task>
coverage cover(Task const& x, text const& t, index_t head, index_t query, index_t query_end, index_t key,
               index_t key_end) {
    if (x.where.query_position.listed() || x.where.key_position.listed()) return coverage::some;
    return facet::cover(x.policy,
                        tile{t.number, head, x.where.query_at(t, query), x.where.query_at(t, query_end - 1) + 1,
                             x.where.key_at(t, key), x.where.key_at(t, key_end - 1) + 1});
}

} // namespace basin::detail::device
