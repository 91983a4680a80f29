// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include <basin/backend/backward_concept.hpp>
#include <basin/backend/sycl/packed.hpp>
#include <basin/core/sinks_backward.hpp>

// The backward pass on a device: plain loops, one work-item per row and then one per key, so that every gradient has one
// owner and one order of sums. Scores are computed again in each sweep; nothing is kept but a number per row.
namespace basin::detail::device {

template <class Task>
struct backward_math {
    using A = typename Task::accumulation;
    static constexpr A hidden = -math::infinity<A>;
    Task x;

    /// Everything about one pair that does not depend on the other pairs of its row.
    struct pair {
        bool seen = false;
        A before = 0, p = 0, d_p = 0;
    };
    pair at(text const& t, index_t head, index_t query, index_t key, A lse) const {
        pair result;
        site const s = site_at(t, head, query, key);
        if (!facet::visible(x.policy, s)) return result;
        index_t const kv = x.key_value_head(head);
        A dot = 0;
        for (index_t c = 0; c < x.q.extent(3); ++c)
            dot += static_cast<A>(x.q(t.entry, head, query, c)) * static_cast<A>(x.k(t.entry, kv, key, c));
        result.before = dot * x.scale;
        A const after = facet::score(x.policy, result.before, s);
        if (after == hidden) return result;
        result.seen = true;
        A const log_p = after - lse;
        result.p = math::exp(log_p);
        if (result.p == A(0)) return result; // a share of nothing is nothing, of an infinite value too
        A d_weight = 0;
        for (index_t c = 0; c < x.v.extent(3); ++c)
            d_weight += x.d_out(t.entry, head, query, c) *
                        facet::value(x.policy, static_cast<A>(x.v(t.entry, kv, key, c)), value_at(t, head, key, c));
        result.d_p = facet::weight_pullback(x.policy, result.p, d_weight, s);
        if constexpr (Task::through_received) result.d_p += x.received_gradient(t.entry, head, query, key);
        if constexpr (Task::through_entropy) result.d_p -= x.entropy_gradient(t.entry, head, query) * (log_p + A(1));
        return result;
    }

    /// d_lse - D of a row, and what its sinks pass on.
    template <class Sums>
    A centre(text const& t, index_t head, index_t query, A lse, Sums& learned) const {
        A sum = 0;
        for (index_t key = t.key_begin; key < t.key_end; ++key) {
            pair const here = at(t, head, query, key, lse);
            if (here.seen) sum += here.p * here.d_p;
        }
        return centre_of(t, head, query, lse, sum, learned);
    }
    /// The same, where the sum of p dp over the keys is known.
    template <class Sums>
    A centre_of(text const& t, index_t head, index_t query, A lse, A over_keys, Sums& learned) const {
        auto const q = [&](index_t c) { return static_cast<A>(x.q(t.entry, head, query, c)); };
        auto const d_out = [&](index_t c) { return x.d_out(t.entry, head, query, c); };
        sink_row<A, decltype(q), decltype(d_out)> const sinks{q, x.q.extent(3), x.scale, d_out, x.v.extent(3), lse};
        sink_share<decltype(sinks), A> share{sinks};
        facet::visit_sinks(x.policy, x.heads_of(t, head), share);
        A const result = x.lse_gradient(t.entry, head, query) - (share.sum + over_keys);
        auto const add_query = [&](index_t c, A y) { x.d_q(t.entry, head, query, c) += y; };
        sink_pullback<decltype(sinks), A, decltype(add_query), Sums> pull(sinks, result, add_query, learned);
        facet::visit_sinks(x.policy, x.heads_of(t, head), pull);
        return result;
    }

    /// The gradient of a score before scale and policy.
    template <class Sums>
    A d_score(text const& t, index_t head, index_t query, index_t key, pair const& here, A centre_of_row,
              Sums& learned) const {
        if (here.p == A(0)) return 0;
        return x.scale * facet::score_pullback(x.policy, here.before, here.p * (here.d_p + centre_of_row),
                                               site_at(t, head, query, key), learned);
    }
    void add_query(text const& t, index_t head, index_t query, index_t key, A d) const {
        for (index_t c = 0; c < x.q.extent(3); ++c)
            x.d_q(t.entry, head, query, c) += d * static_cast<A>(x.k(t.entry, x.key_value_head(head), key, c));
    }
    void add_key_and_value(text const& t, index_t head, index_t query, index_t key, pair const& here, A d) const {
        index_t const kv = x.key_value_head(head);
        A const weight = facet::weight(x.policy, here.p, site_at(t, head, query, key));
        for (index_t c = 0; weight != A(0) && c < x.v.extent(3); ++c)
            x.d_v(t.entry, kv, key, c) +=
                facet::value_pullback(x.policy, static_cast<A>(x.v(t.entry, kv, key, c)),
                                      weight * x.d_out(t.entry, head, query, c), value_at(t, head, key, c));
        for (index_t c = 0; d != A(0) && c < x.q.extent(3); ++c)
            x.d_k(t.entry, kv, key, c) += d * static_cast<A>(x.q(t.entry, head, query, c));
    }

private:
    site site_at(text const& t, index_t head, index_t query, index_t key) const {
        return {t.number, head, x.where.query_at(t, query), x.where.key_at(t, key)};
    }
    value_site value_at(text const& t, index_t head, index_t key, index_t c) const {
        return {t.number, head, x.where.key_at(t, key), c};
    }
};

/// One row: its centre, which the sweep over keys needs, and the gradient of its query.
template <class Task>
struct backward_rows_kernel {
    using A = typename Task::accumulation;
    backward_math<Task> math;
    A* centres; // (batch, head, query)

    void operator()(index_t unit) const {
        auto const& x = math.x;
        index_t const queries = x.where.queries, query = unit % queries, head = unit / queries % x.query_heads();
        text const t = text_with(x.where, x.where.query_offsets, unit / queries / x.query_heads(), query);
        if (query >= t.query_end) return;
        A const lse = x.lse(t.entry, head, 0, query);
        if (lse == math.hidden) return; // it saw nothing
        ignore_sums none;
        A const centre = math.centre(t, head, query, lse, none);
        centres[(std::ptrdiff_t{t.entry} * x.query_heads() + head) * queries + query] = centre;
        for (index_t key = t.key_begin; key < t.key_end; ++key) {
            auto const here = math.at(t, head, query, key, lse);
            if (here.seen) math.add_query(t, head, query, key, math.d_score(t, head, query, key, here, centre, none));
        }
    }
};

/// One key of one key-value head: all queries of the heads that share it.
template <class Task>
struct backward_keys_kernel {
    using A = typename Task::accumulation;
    backward_math<Task> math;
    A const* centres;

    void operator()(index_t unit) const {
        auto const& x = math.x;
        index_t const keys = x.where.keys, key = unit % keys, kv = unit / keys % x.k.extent(1);
        text const t = text_with(x.where, x.where.key_offsets, unit / keys / x.k.extent(1), key);
        if (key >= t.key_end) return;
        ignore_sums none;
        for (index_t head = kv * x.group_size(); head < (kv + 1) * x.group_size(); ++head)
            for (index_t query = t.query_begin; query < t.query_end; ++query) {
                A const lse = x.lse(t.entry, head, 0, query);
                if (lse == math.hidden) continue;
                auto const here = math.at(t, head, query, key, lse);
                if (!here.seen) continue;
                A const centre = centres[(std::ptrdiff_t{t.entry} * x.query_heads() + head) * x.where.queries + query];
                math.add_key_and_value(t, head, query, key, here,
                                       math.d_score(t, head, query, key, here, centre, none));
            }
    }
};

/// Sums of one head's learned parameters, and behind them what the host is to refuse: how many parameters there are, plus one,
/// and the one that is not there.
struct device_sums {
    static constexpr index_t more = 2;
    double* data;
    index_t count;
    void add(index_t slot, double x) { data[slot] += x; }
    void refuse(index_t parameter, index_t parameters) {
        data[count] = parameters + 1;
        data[count + 1] = parameter;
    }
};

/// Where the policy learns, its sums need an order: a work-item owns a key-value head of a text, or everything.
template <class Task>
struct backward_learning_kernel {
    using A = typename Task::accumulation;
    backward_math<Task> math;
    double* sums; // (text, head, sum and device_sums::more), zero at first

    index_t units() const { return math.x.in_order ? 1 : math.x.where.texts() * math.x.k.extent(1); }
    void operator()(index_t unit) const {
        auto const& x = math.x;
        index_t const heads = x.k.extent(1);
        for (index_t n = x.in_order ? 0 : unit; n < (x.in_order ? x.where.texts() * heads : unit + 1); ++n)
            for (index_t head = n % heads * x.group_size(); head < (n % heads + 1) * x.group_size(); ++head)
                one_head(n / heads, head);
    }

private:
    void one_head(index_t number, index_t head) const {
        auto const& x = math.x;
        text const t = x.where.at(number);
        device_sums learned{sums + (std::ptrdiff_t{number} * x.query_heads() + head) * (x.sums + device_sums::more),
                            x.sums};
        for (index_t query = t.query_begin; query < t.query_end; ++query) {
            A const lse = x.lse(t.entry, head, 0, query);
            if (lse == math.hidden) continue;
            A const centre = math.centre(t, head, query, lse, learned);
            for (index_t key = t.key_begin; key < t.key_end; ++key) {
                auto const here = math.at(t, head, query, key, lse);
                if (!here.seen) continue;
                A const d = math.d_score(t, head, query, key, here, centre, learned);
                math.add_query(t, head, query, key, d);
                math.add_key_and_value(t, head, query, key, here, d);
            }
        }
    }
};

/// What the heads have learned goes into its gradients: all heads in one order, by one work-item. Where a policy named a
/// parameter that is not there, nothing does, and the host is told in `refused`.
template <class Task>
struct finish_learning_kernel {
    Task x;
    double const* sums; // as backward_learning_kernel left them
    double* refused;    // two numbers as device_sums has them, zero at first

    void operator()(index_t) const {
        std::ptrdiff_t const stride = x.sums + device_sums::more,
                             heads = std::ptrdiff_t{x.where.texts()} * x.query_heads();
        for (std::ptrdiff_t n = 0; n < heads; ++n) {
            double const* const said = sums + n * stride + x.sums;
            if (said[0] == 0) continue;
            refused[0] = said[0];
            refused[1] = said[1];
            return;
        }
        double const* from = sums;
        for (index_t i = 0; i < x.where.texts(); ++i)
            for (index_t head = 0; head < x.query_heads(); ++head, from += stride)
                x.finish_head(x.where.at(i), head, from);
    }
};

/// Fills an array with zeros.
template <class A>
struct zero_kernel {
    view<A, 4> x;
    void operator()(index_t unit) const {
        index_t const j = unit % x.extent(2), h = unit / x.extent(2) % x.extent(1),
                      b = unit / x.extent(2) / x.extent(1);
        for (index_t c = 0; c < x.extent(3); ++c) x(b, h, j, c) = A(0);
    }
};

} // namespace basin::detail::device
