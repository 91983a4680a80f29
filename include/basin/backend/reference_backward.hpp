// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include <basin/backend/backward_concept.hpp>
#include <basin/core/sinks_backward.hpp>

namespace basin::detail {

/// The backward pass in plain loops, one row after the other: the specification of all others. It keeps one row of scores
/// and reads no output: a row's sum of p dp is really summed.
template <class Task>
class reference_backward {
    using A = typename Task::accumulation;
    using P = typename Task::policy_type;
    static constexpr A hidden = -math::infinity<A>;

public:
    explicit reference_backward(Task const& task)
        : task_(task), before_(task.k.extent(2)), after_(task.k.extent(2)), d_p_(task.k.extent(2)), sums_(task.sums) {}

    void run() {
        for (index_t i = 0; i < task_.where.texts(); ++i) {
            t_ = task_.where.at(i);
            for (head_ = 0; head_ < task_.query_heads(); ++head_) {
                kv_ = task_.key_value_head(head_);
                sums_.fill(0);
                for (index_t query = t_.query_begin; query < t_.query_end; ++query) row(query);
                task_.finish_head(t_, head_, sums_.data());
            }
        }
    }

private:
    site site_of(index_t query, index_t key) const {
        return {t_.number, head_, task_.where.query_at(t_, query), task_.where.key_at(t_, key)};
    }
    value_site value_at(index_t key, index_t c) const { return {t_.number, head_, task_.where.key_at(t_, key), c}; }
    A value(index_t key, index_t c) const { return static_cast<A>(task_.v(t_.entry, kv_, key, c)); }

    /// The gradient of a probability, and the scores before and after the policy.
    void look_at(index_t query, index_t key, A lse) {
        site const s = site_of(query, key);
        after_(key) = hidden;
        if (!facet::visible(task_.policy, s)) return;
        A dot = 0;
        for (index_t c = 0; c < task_.q.extent(3); ++c)
            dot += static_cast<A>(task_.q(t_.entry, head_, query, c)) * static_cast<A>(task_.k(t_.entry, kv_, key, c));
        before_(key) = dot * task_.scale;
        after_(key) = facet::score(task_.policy, before_(key), s);
        if (after_(key) == hidden) return;
        A const log_p = after_(key) - lse, p = math::exp(log_p);
        d_p_(key) = 0;
        if (p == A(0)) return; // a share of nothing is nothing, of an infinite value too
        A d_weight = 0;
        for (index_t c = 0; c < task_.v.extent(3); ++c)
            d_weight +=
                task_.d_out(t_.entry, head_, query, c) * facet::value(task_.policy, value(key, c), value_at(key, c));
        d_p_(key) = facet::weight_pullback(task_.policy, p, d_weight, s);
        if constexpr (Task::through_received) d_p_(key) += task_.received_gradient(t_.entry, head_, query, key);
        if constexpr (Task::through_entropy)
            d_p_(key) -= task_.entropy_gradient(t_.entry, head_, query) * (log_p + A(1));
    }

    void row(index_t query) {
        A const lse = task_.lse(t_.entry, head_, 0, query);
        if (lse == hidden) return; // it saw nothing
        auto const q = [&](index_t c) { return static_cast<A>(task_.q(t_.entry, head_, query, c)); };
        auto const d_out = [&](index_t c) { return task_.d_out(t_.entry, head_, query, c); };
        sink_row<A, decltype(q), decltype(d_out)> const sinks{q,     task_.q.extent(3), task_.scale,
                                                              d_out, task_.v.extent(3), lse};
        sink_share<decltype(sinks), A> share{sinks};
        facet::visit_sinks(task_.policy, task_.heads_of(t_, head_), share);
        A sum = share.sum;
        for (index_t key = t_.key_begin; key < t_.key_end; ++key) {
            look_at(query, key, lse);
            if (after_(key) != hidden) sum += math::exp(after_(key) - lse) * d_p_(key);
        }
        A const centre = task_.lse_gradient(t_.entry, head_, query) - sum;
        auto const add_query = [&](index_t c, A x) { task_.d_q(t_.entry, head_, query, c) += x; };
        parameter_sums learned{sums_.data()};
        sink_pullback<decltype(sinks), A, decltype(add_query), parameter_sums> pull(sinks, centre, add_query, learned);
        facet::visit_sinks(task_.policy, task_.heads_of(t_, head_), pull);
        for (index_t key = t_.key_begin; key < t_.key_end; ++key)
            if (after_(key) != hidden) pass_on(query, key, math::exp(after_(key) - lse), centre);
    }

    void pass_on(index_t query, index_t key, A p, A centre) {
        site const s = site_of(query, key);
        A const weight = facet::weight(task_.policy, p, s);
        for (index_t c = 0; weight != A(0) && c < task_.v.extent(3); ++c) {
            A const d = weight * task_.d_out(t_.entry, head_, query, c);
            task_.d_v(t_.entry, kv_, key, c) += facet::value_pullback(task_.policy, value(key, c), d, value_at(key, c));
        }
        if (p == A(0)) return;
        parameter_sums learned{sums_.data()};
        A const d =
            task_.scale * facet::score_pullback(task_.policy, before_(key), p * (d_p_(key) + centre), s, learned);
        for (index_t c = 0; c < task_.q.extent(3); ++c) {
            task_.d_q(t_.entry, head_, query, c) += d * static_cast<A>(task_.k(t_.entry, kv_, key, c));
            task_.d_k(t_.entry, kv_, key, c) += d * static_cast<A>(task_.q(t_.entry, head_, query, c));
        }
    }

    Task const& task_;
    buffer<A, 1> before_, after_, d_p_; // one row of scores and of gradients of probabilities
    buffer<double, 1> sums_;
    text t_{};
    index_t head_ = 0, kv_ = 0;
};

} // namespace basin::detail
