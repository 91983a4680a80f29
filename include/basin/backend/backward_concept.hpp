// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include <basin/backend/concept.hpp>
#include <basin/core/pullback.hpp>

// What a backend gets for the backward pass. A backend that has one has a member
//   template <class Task> void run_backward(Task const&) const;
// for every backward_task below. The entry has checked every extent and alias, bound the policy and zeroed the gradients
// (unless they accumulate); the backend *adds* to d_q, d_k, d_v and to the gradients of what the policy learns. With y the
// score of a pair after the policy, x before it, p = exp(y - lse) its probability:
//   dp = weight'(p) (d_out . value(v)) + d_received - d_entropy (log p + 1)
//   D  = the row's sum of p dp, sinks included; where only d_out counts, d_out . out
//   dy = p (dp - D + d_lse),  dx = score_pullback(dy),  d_q += scale dx k,  d_k += scale dx q,  d_v += weight(p) d_out
// A row whose lse is -inf saw nothing and passes nothing on. A backend whose arrays may lie where the host cannot write
// zeroes all gradients itself, where task.adds (for learned ones: adds of the node) is false, and says so:
// `using clears_gradients = void;`. It is then asked as well where there is no batch, head or query. A backend that may
// refuse a task has a member check_backward(task) as well, and one with a workspace says backward_workspace_bytes(task).
namespace basin {

/// One call of attention_backward. T: storage scalar.
template <class T, class Policy, bool ThroughLse, bool ThroughReceived, bool ThroughEntropy>
struct backward_task {
    using scalar_type = T;
    using accumulation = accumulation_t<T>;
    using policy_type = Policy;
    /// Whether the loss also depends on that statistic: d_lse, d_received, d_entropy have data.
    static constexpr bool through_lse = ThroughLse, through_received = ThroughReceived,
                          through_entropy = ThroughEntropy;
    /// Whether the policy has parameters that want a gradient.
    static constexpr bool learns = facet::learns<Policy>();
    /// Whether a row's sum of p dp is d_out . out.
    static constexpr bool sum_from_out = !ThroughReceived && !ThroughEntropy && !detail::has_weight<Policy>;

    view<T const, 4> q, k, v, out;
    view<accumulation const, 4> lse;   // (batch, head, 1, query), as the other two by query
    view<accumulation const, 4> d_out; // (batch, head, query, channel)
    /// The gradient of the loss with respect to each query's lse, (batch, head, 1, query).
    view<accumulation const, 4> d_lse; // no data where the flag is false
    /// The gradient of the loss with respect to each query's entropy, (batch, head, 1, query).
    view<accumulation const, 4> d_entropy;
    /// The gradient of the loss with respect to what each key received.
    view<accumulation const, 4> d_received; // (batch, head, group, key)
    query_groups groups;                    // of d_received
    view<accumulation, 4> d_q, d_k, d_v;
    accumulation scale;
    Policy policy;
    layout where;
    index_t sums; ///< of learned parameters, for each head of each text
    /// Heads and texts write into the same elements of a learned table: one after the other, on one thread.
    bool in_order;
    /// Whether d_q, d_k and d_v hold gradients that are added to.
    bool adds = false;

    index_t query_heads() const { return q.extent(1); }
    /// How many query heads share a head of keys and values.
    index_t group_size() const { return q.extent(1) / k.extent(1); }
    index_t key_value_head(index_t head) const { return head / group_size(); }
    head_site heads_of(text const& t, index_t head) const { return {t.number, head, key_value_head(head)}; }

    /// The element of d_lse, or 0 where the loss does not depend on the lse.
    accumulation lse_gradient(index_t entry, index_t head, index_t query) const {
        if constexpr (ThroughLse)
            return d_lse(entry, head, 0, query);
        else
            return 0;
    }
    /// The element of d_entropy, or 0 where the loss does not depend on the entropy.
    accumulation entropy_gradient(index_t entry, index_t head, index_t query) const {
        if constexpr (ThroughEntropy)
            return d_entropy(entry, head, 0, query);
        else
            return 0;
    }
    /// The element of d_received for the query's group, or 0 where the loss does not depend on it.
    accumulation received_gradient(index_t entry, index_t head, index_t query, index_t key) const {
        if constexpr (ThroughReceived)
            return d_received(entry, head, groups.of(entry, query), key);
        else
            return 0;
    }
    /// Adds the sums of a head to the learned gradients. Once for each head of each text, in this order, by one thread.
    void finish_head(text const& t, index_t head, double const* head_sums) const {
        facet::visit_learned(policy, [&](auto const& node) { node.finish(heads_of(t, head), head_sums); });
    }
};

/// Where the gradients of learned parameters of one head are summed: `sums` numbers, zero at first.
struct parameter_sums {
    /// One number for each learned parameter of a head.
    double* data;
    /// Adds to the sum of one parameter.
    void add(index_t slot, double x) { data[slot] += x; }
};

namespace detail {
using probe_backward_task = backward_task<float, no_policy, false, false, false>;
} // namespace detail

/// A backend that can run backwards.
template <class B>
concept backward_backend =
    backend<B> && requires(B const& b, detail::probe_backward_task const& task) { b.run_backward(task); };

} // namespace basin
