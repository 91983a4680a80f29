// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include <basin/backend/reference_backward.hpp>

namespace basin {

/// Plain loops in the accumulation type, one row after the other: the specification that every other backend is tested
/// against. It keeps one row of scores, never a token-by-token matrix.
struct reference_backend {
    template <class Task>
    void run(Task const& task) const {
        using A = typename Task::accumulation;
        buffer<A, 1> scores(task.k.extent(2)), value(task.v.extent(3));
        buffer<A, 1> norms(Task::needs_key_weight ? task.k.extent(2) : 0);
        for (index_t i = 0; i < task.where.texts(); ++i) {
            text const t = task.where.at(i);
            for (index_t head = 0; head < task.query_heads(); ++head) {
                if constexpr (Task::needs_key_weight) value_norms(task, t, head, norms);
                for (index_t query = t.query_begin; query < t.query_end; ++query) {
                    row_facts<A> const row = softmax(task, t, head, query, scores, value);
                    if (!task.observing) write_output(task, t, head, query, scores, value, row);
                    task.for_each_statistic(
                        [&](auto const& s) { observe(s, task, t, head, query, scores, norms, row); });
                }
            }
        }
    }

    template <class Task>
    void run_backward(Task const& task) const {
        detail::reference_backward<Task>(task).run();
    }

private:
    template <class Task>
    static site site_of(Task const& task, text const& t, index_t head, index_t query, index_t key) {
        return {t.number, head, task.where.query_at(t, query), task.where.key_at(t, key)};
    }

    /// Fills scores (-inf where hidden) and `value` (the sinks' mean value), and finds the row's facts.
    template <class Task, class A>
    static row_facts<A> softmax(Task const& task, text const& t, index_t head, index_t query, buffer<A, 1>& scores,
                                buffer<A, 1>& value) {
        index_t const kv = task.key_value_head(head);
        auto const q = [&](index_t c) { return static_cast<A>(task.q(t.entry, head, query, c)); };
        sink_column_of<Task, decltype(q)> sinks(q, task.q.extent(3), task.scale, value.data(), task.v.extent(3));
        facet::visit_sinks(task.policy, task.heads_of(t, head), sinks);

        row_facts<A> row;
        A high = sinks.lse();
        for (index_t key = t.key_begin; key < t.key_end; ++key) {
            site const s = site_of(task, t, head, query, key);
            scores(key) = -math::infinity<A>;
            if (!facet::visible(task.policy, s)) continue;
            A dot = 0;
            for (index_t c = 0; c < task.q.extent(3); ++c) dot += q(c) * static_cast<A>(task.k(t.entry, kv, key, c));
            scores(key) = facet::score(task.policy, dot * task.scale, s);
            if (scores(key) > high || scores(key) != scores(key)) high = scores(key);
        }
        if (task.observing) {
            row.lse = task.known_lse(t.entry, head, 0, query);
        } else if (sinks.lse() == math::infinity<A> && high == sinks.lse()) {
            row.lse = high; // an infinite sink takes all
        } else if (high != high || high == math::infinity<A>) {
            row.lse = __builtin_nanf("");
        } else if (high > -math::infinity<A>) {
            A sum = math::exp(sinks.lse() - high);
            for (index_t key = t.key_begin; key < t.key_end; ++key) sum += math::exp(scores(key) - high);
            row.lse = high + math::log(sum);
        }
        row.escaped = sinks.lse() == -math::infinity<A> ? A(0)
                      : sinks.lse() == row.lse          ? A(1)
                                                        : math::exp(sinks.lse() - row.lse);
        for (index_t key = t.key_begin; key < t.key_end; ++key) {
            if (scores(key) > -math::infinity<A> && (row.favourite < 0 || scores(key) > scores(row.favourite)))
                row.favourite = key;
        }
        if (row.favourite >= 0) row.favourite_p = probability(scores(row.favourite), row);
        return row;
    }

    template <class A>
    static A probability(A score, row_facts<A> const& row) {
        return math::exp(score - row.lse);
    }

    template <class Task, class A>
    static void write_output(Task const& task, text const& t, index_t head, index_t query, buffer<A, 1> const& scores,
                             buffer<A, 1> const& value, row_facts<A> const& row) {
        using T = typename Task::scalar_type;
        index_t const kv = task.key_value_head(head);
        for (index_t c = 0; c < task.v.extent(3); ++c) {
            A sum = row.escaped == A(0) ? A(0) : row.escaped * value(c);
            if (row.lse != row.lse) sum = row.lse;
            for (index_t key = t.key_begin; key < t.key_end && row.lse == row.lse; ++key) {
                if (scores(key) == -math::infinity<A>) continue; // hidden: even an infinite value stays unread
                site const s = site_of(task, t, head, query, key);
                A const p = facet::weight(task.policy, probability(scores(key), row), s);
                if (p == A(0)) continue; // a share of nothing is nothing, of an infinite value too
                A const x = static_cast<A>(task.v(t.entry, kv, key, c));
                sum += p * facet::value(task.policy, x, value_site{t.number, head, s.key, c});
            }
            task.out(t.entry, head, query, c) = static_cast<T>(sum);
        }
    }

    template <class Task, class A>
    static void value_norms(Task const& task, text const& t, index_t head, buffer<A, 1>& norms) {
        for (index_t key = t.key_begin; key < t.key_end; ++key) {
            A sum = 0;
            for (index_t c = 0; c < task.v.extent(3); ++c) {
                A const x =
                    facet::value(task.policy, static_cast<A>(task.v(t.entry, task.key_value_head(head), key, c)),
                                 value_site{t.number, head, task.where.key_at(t, key), c});
                sum += x * x;
            }
            norms(key) = math::sqrt(sum);
        }
    }

    template <class S, class Task, class A>
    static void observe(S const& s, Task const& task, text const& t, index_t head, index_t query,
                        buffer<A, 1> const& scores, buffer<A, 1> const& norms, row_facts<A> const& row) {
        typename S::value_type reduced = s.identity();
        if constexpr (!only_rows<S>) {
            for (index_t key = t.key_begin; key < t.key_end; ++key) {
                if (scores(key) == -math::infinity<A>) continue;
                cell<A, index_t, A> const c{probability(scores(key), row), scores(key),
                                            needs_key_weight<S> ? norms(key) : A(0), key, row};
                auto const mapped = s.map(c, site_of(task, t, head, query, key));
                if constexpr (S::reduced_to == axis::by_query) {
                    reduced = s.combine(reduced, mapped);
                } else {
                    auto& slot = s.output(t.entry, head, s.groups.of(t.entry, query), key);
                    slot = s.combine(slot, mapped);
                }
            }
        }
        if constexpr (S::reduced_to == axis::by_query) detail::store_row(s, t.entry, head, query, reduced, row);
    }

    template <class Task, class Query>
    using sink_column_of = detail::sink_column<typename Task::accumulation, Query>;
};

} // namespace basin
