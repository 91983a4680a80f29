// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include <basin/backend/backward_concept.hpp>
#include <basin/core/sinks_backward.hpp>

#include <Eigen/Core>

namespace basin::detail::eigen {

/// The backward pass of one key-value head of one text, with all query heads that read it: nobody else writes its d_k and
/// d_v. Blocks of keys against blocks of queries, five matrix products each; queries are columns, as in `head`.
template <class Task>
class backward {
    using A = typename Task::accumulation;
    using P = typename Task::policy_type;
    using matrix = Eigen::Matrix<A, Eigen::Dynamic, Eigen::Dynamic>;
    using row = Eigen::Array<A, 1, Eigen::Dynamic>;
    static constexpr index_t width = 64;   // queries of a block
    static constexpr index_t height = 128; // keys of a block
    static constexpr A hidden = -math::infinity<A>;
    static constexpr bool scores = has_score<P>, weighs = has_weight<P>, changes_values = has_value<P>;

public:
    backward(Task const& task, text const& t, index_t key_value_head)
        : task_(task), t_(t), kv_(key_value_head), keys_(t.key_end - t.key_begin), k_(task.k.extent(3), keys_),
          v_(task.v.extent(3), keys_), d_k_(matrix::Zero(k_.rows(), keys_)), d_v_(matrix::Zero(v_.rows(), keys_)),
          q_(k_.rows(), width), d_q_(k_.rows(), width), d_out_(v_.rows(), width), x_(height, width), y_(height, width),
          p_(height, width), d_p_(height, width), lse_(width), sum_(width), key_position_(keys_) {
        for (index_t key = 0; key < keys_; ++key) {
            key_position_(key) = task.where.key_at(t, t.key_begin + key);
            for (index_t c = 0; c < k_.rows(); ++c)
                k_(c, key) = static_cast<A>(task.k(t.entry, kv_, t.key_begin + key, c));
        }
    }

    /// `sums`: those of the first query head of this key-value head; each has task.sums of them.
    void run(double* sums) {
        for (index_t i = 0; i < task_.group_size(); ++i) {
            head_ = kv_ * task_.group_size() + i;
            learned_ = {sums + std::ptrdiff_t{i} * task_.sums};
            read_values();
            if constexpr (changes_values) d_v_.setZero();
            for (index_t first = t_.query_begin; first < t_.query_end; first += width) {
                begin_block(first, math::min(width, t_.query_end - first));
                if constexpr (!Task::sum_from_out) sweep([&](index_t key, index_t keys) { add_to_sum(key, keys); });
                pull_sinks();
                sweep([&](index_t key, index_t keys) { pass_on(key, keys); });
                end_block();
            }
            if (changes_values || i + 1 == task_.group_size()) write_values();
        }
        for (index_t key = 0; key < keys_; ++key)
            for (index_t c = 0; c < k_.rows(); ++c) task_.d_k(t_.entry, kv_, t_.key_begin + key, c) += d_k_(c, key);
    }

private:
    value_site value_at(index_t key, index_t c) const { return {t_.number, head_, key_position_(key), c}; }
    A stored_value(index_t key, index_t c) const {
        return static_cast<A>(task_.v(t_.entry, kv_, t_.key_begin + key, c));
    }
    site at(index_t i, index_t key) const { return {t_.number, head_, position_[i], key_position_(key)}; }

    void read_values() {
        for (index_t key = 0; key < keys_; ++key)
            for (index_t c = 0; c < v_.rows(); ++c)
                v_(c, key) = facet::value(task_.policy, stored_value(key, c), value_at(key, c));
    }
    void write_values() {
        for (index_t key = 0; key < keys_; ++key)
            for (index_t c = 0; c < v_.rows(); ++c)
                task_.d_v(t_.entry, kv_, t_.key_begin + key, c) +=
                    facet::value_pullback(task_.policy, stored_value(key, c), d_v_(c, key), value_at(key, c));
    }

    void begin_block(index_t first, index_t count) {
        first_ = first;
        count_ = count;
        q_.setZero();
        d_out_.setZero();
        d_q_.setZero();
        lse_.setConstant(hidden);
        sum_.setZero();
        for (index_t i = 0; i < count; ++i) {
            position_[i] = task_.where.query_at(t_, first + i);
            lse_(i) = task_.lse(t_.entry, head_, 0, first + i);
            if (lse_(i) == hidden) continue; // it saw nothing: whatever it holds stays unread
            for (index_t c = 0; c < q_.rows(); ++c) q_(c, i) = static_cast<A>(task_.q(t_.entry, head_, first + i, c));
            for (index_t c = 0; c < d_out_.rows(); ++c) {
                d_out_(c, i) = task_.d_out(t_.entry, head_, first + i, c);
                if constexpr (Task::sum_from_out)
                    sum_(i) += d_out_(c, i) * static_cast<A>(task_.out(t_.entry, head_, first + i, c));
            }
            if constexpr (!Task::sum_from_out && has_sinks<P>)
                with_sinks(i, [&](auto const& sinks) {
                    sink_share<std::remove_cvref_t<decltype(sinks)>, A> share{sinks};
                    facet::visit_sinks(task_.policy, task_.heads_of(t_, head_), share);
                    sum_(i) += share.sum;
                });
        }
        finite_rows_ = q_.allFinite() && d_out_.allFinite();
    }

    template <class F>
    void with_sinks(index_t i, F const& f) {
        auto const query = [&](index_t c) { return q_(c, i); };
        auto const d_out = [&](index_t c) { return d_out_(c, i); };
        f(sink_row<A, decltype(query), decltype(d_out)>{query, task_.q.extent(3), task_.scale, d_out, task_.v.extent(3),
                                                        lse_(i)});
    }
    void pull_sinks() {
        for (index_t i = 0; i < count_; ++i) {
            sum_(i) = task_.lse_gradient(t_.entry, head_, first_ + i) - sum_(i); // from here on: d_lse - D
            if (!has_sinks<P> || lse_(i) == hidden) continue;
            auto const add_query = [&](index_t c, A x) { d_q_(c, i) += x; };
            with_sinks(i, [&](auto const& sinks) {
                sink_pullback<std::remove_cvref_t<decltype(sinks)>, A, decltype(add_query), parameter_sums> pull(
                    sinks, sum_(i), add_query, learned_);
                facet::visit_sinks(task_.policy, task_.heads_of(t_, head_), pull);
            });
        }
    }
    void end_block() {
        for (index_t i = 0; i < count_; ++i)
            for (index_t c = 0; c < q_.rows(); ++c) task_.d_q(t_.entry, head_, first_ + i, c) += d_q_(c, i);
    }

    tile tile_of(index_t key, index_t keys) const {
        tile t{t_.number, head_, position_[0], position_[0] + 1, key_position_(key), key_position_(key) + 1};
        for (index_t i = 0; i < count_; ++i) {
            t.query_begin = math::min(t.query_begin, position_[i]);
            t.query_end = math::max(t.query_end, position_[i] + 1);
        }
        for (index_t j = key; j < key + keys; ++j) {
            t.key_begin = math::min(t.key_begin, key_position_(j));
            t.key_end = math::max(t.key_end, key_position_(j) + 1);
        }
        return t;
    }

    /// f(key, keys) for every block of keys of which something is seen, with its p_ and d_p_.
    template <class F>
    void sweep(F const& f) {
        for (index_t key = 0; key < keys_; key += height) {
            index_t const keys = math::min(height, keys_ - key);
            coverage const seen = facet::cover(task_.policy, tile_of(key, keys));
            if (seen == coverage::none) continue;
            probabilities(key, keys, seen);
            d_probabilities(key, keys);
            f(key, keys);
        }
    }

    void probabilities(index_t key, index_t keys, coverage seen) {
        x_.topRows(keys).noalias() = k_.middleCols(key, keys).transpose() * q_;
        x_.topRows(keys) *= task_.scale;
        y_.topRows(keys) = x_.topRows(keys);
        for (index_t i = 0; i < count_ && (scores || seen == coverage::some); ++i)
            for (index_t j = 0; j < keys; ++j)
                y_(j, i) = seen == coverage::all || facet::visible(task_.policy, at(i, key + j))
                               ? facet::score(task_.policy, x_(j, i), at(i, key + j))
                               : hidden;
        p_.setZero();
        for (index_t i = 0; i < count_; ++i) {
            if (lse_(i) == hidden) continue;
            // Eigen's exp(-inf) is a tiny number in some versions, not 0; hidden keys are excluded exactly
            auto const log_p = y_.col(i).head(keys).array() - lse_(i);
            p_.col(i).head(keys) =
                (log_p == hidden || y_.col(i).head(keys).array() == hidden).select(A(0), log_p.exp()).matrix();
        }
    }

    /// Only where p is not 0; the rest of d_p_ may be anything.
    void d_probabilities(index_t key, index_t keys) {
        d_p_.topRows(keys).noalias() = v_.middleCols(key, keys).transpose() * d_out_;
        if constexpr (Task::sum_from_out) return;
        for (index_t i = 0; i < count_; ++i)
            for (index_t j = 0; j < keys; ++j) {
                if (p_(j, i) == A(0)) continue;
                A& d = d_p_(j, i);
                d = facet::weight_pullback(task_.policy, p_(j, i), d, at(i, key + j));
                d += task_.received_gradient(t_.entry, head_, first_ + i, t_.key_begin + key + j);
                if constexpr (Task::through_entropy)
                    d -= task_.entropy_gradient(t_.entry, head_, first_ + i) * (y_(j, i) - lse_(i) + A(1));
            }
    }

    void add_to_sum(index_t, index_t keys) {
        for (index_t i = 0; i < count_; ++i)
            for (index_t j = 0; j < keys; ++j)
                if (p_(j, i) != A(0)) sum_(i) += p_(j, i) * d_p_(j, i);
    }

    void pass_on(index_t key, index_t keys) {
        for (index_t i = 0; i < count_; ++i) {
            for (index_t j = 0; j < keys; ++j) {
                A const p = p_(j, i);
                A d = p == A(0) ? A(0) : p * (d_p_(j, i) + sum_(i));
                if constexpr (scores)
                    if (p != A(0)) d = facet::score_pullback(task_.policy, x_(j, i), d, at(i, key + j), learned_);
                if constexpr (weighs)
                    if (y_(j, i) != hidden && lse_(i) != hidden)
                        p_(j, i) = facet::weight(task_.policy, p, at(i, key + j));
                x_(j, i) = d * task_.scale;
            }
        }
        x_.rightCols(width - count_).setZero();
        auto const d_x = x_.topRows(keys), weight = p_.topRows(keys);
        auto const k = k_.middleCols(key, keys);
        if (finite_rows_ && k.allFinite()) {
            d_q_.noalias() += k * d_x;
            d_k_.middleCols(key, keys).noalias() += q_ * d_x.transpose();
            d_v_.middleCols(key, keys).noalias() += d_out_ * weight.transpose();
            return;
        }
        // 0 x NaN must not reach a query or a key that the other does not see.
        for (index_t i = 0; i < count_; ++i)
            for (index_t j = 0; j < keys; ++j) {
                if (d_x(j, i) != A(0)) {
                    d_q_.col(i) += k.col(j) * d_x(j, i);
                    d_k_.col(key + j) += q_.col(i) * d_x(j, i);
                }
                if (weight(j, i) != A(0)) d_v_.col(key + j) += d_out_.col(i) * weight(j, i);
            }
    }

    Task const& task_;
    text t_;
    index_t kv_, keys_, head_ = 0, first_ = 0, count_ = 0;
    matrix k_, v_, d_k_, d_v_; // (channel, key)
    matrix q_, d_q_, d_out_;   // (channel, query)
    matrix x_, y_, p_, d_p_;   // (key, query): scores before and after the policy, probabilities
    row lse_, sum_;            // sum_: D while it is summed, then d_lse - D
    bool finite_rows_ = true;
    parameter_sums learned_{nullptr};
    buffer<index_t, 1> key_position_;
    index_t position_[width] = {};
};

} // namespace basin::detail::eigen
