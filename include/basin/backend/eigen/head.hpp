// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include <basin/backend/concept.hpp>

#include <Eigen/Core>

namespace basin::detail::eigen {

/// One head of one text. Queries are *columns* of every matrix: Eigen treats all columns of a product alike, so that with a
/// fixed number of them a query's bits depend neither on its neighbours nor on how many there are.
template <class Task>
class head {
    using A = typename Task::accumulation;
    using T = typename Task::scalar_type;
    using matrix = Eigen::Matrix<A, Eigen::Dynamic, Eigen::Dynamic>;
    using row = Eigen::Array<A, 1, Eigen::Dynamic>;
    static constexpr index_t width = 64;   // queries of a block
    static constexpr index_t height = 128; // keys of a block
    static constexpr A hidden = -math::infinity<A>;
    static constexpr bool weighs = has_weight<typename Task::policy_type>;

public:
    head(Task const& task, text const& t, index_t number)
        : task_(task), t_(t), head_(number), kv_(task.key_value_head(number)), keys_(t.key_end - t.key_begin),
          channels_(task.observing ? 0 : task.v.extent(3)) {
        k_.resize(keys_, task.k.extent(3));
        key_position_ = buffer<index_t, 1>(keys_);
        for (index_t key = 0; key < keys_; ++key) {
            key_position_(key) = task.where.key_at(t, t.key_begin + key);
            for (index_t c = 0; c < task.k.extent(3); ++c)
                k_(key, c) = static_cast<A>(task.k(t.entry, kv_, t.key_begin + key, c));
        }
        v_.resize(channels_, keys_);
        for (index_t key = 0; key < keys_; ++key) {
            for (index_t c = 0; c < channels_; ++c) {
                A const x = static_cast<A>(task.v(t.entry, kv_, t.key_begin + key, c));
                v_(c, key) = facet::value(task.policy, x, value_site{t.number, head_, key_position_(key), c});
            }
        }
        if constexpr (Task::needs_key_weight) norms_ = v_.colwise().norm();
        q_.resize(task.q.extent(3), width);
        o_.resize(channels_, width);
        // As many rows as a block ever has: every column is aligned alike, so that Eigen computes its exp alike.
        s_.resize(height, width);
        p_.resize(height, width);
        task.for_each_statistic([&](auto const& s) {
            for (A& x : reduced_[number_of(s)]) x = s.identity();
        });
    }

    void run() {
        for (index_t first = t_.query_begin; first < t_.query_end; first += width) {
            begin_block(first, math::min(width, t_.query_end - first));
            if (!task_.observing || Task::needs_favourite) {
                for (index_t key = 0; key < keys_; key += height) accumulate(key, math::min(height, keys_ - key));
            }
            finish_rows();
            if (overflowed_) take_values_again();
            if (Task::needs_pairs || (weighs && !task_.observing)) {
                for (index_t key = 0; key < keys_; key += height) observe(key, math::min(height, keys_ - key));
            }
            if (!task_.observing) write_output();
            store_rows();
        }
    }

private:
    void begin_block(index_t first, index_t count) {
        first_ = first;
        count_ = count;
        q_.setZero();
        o_.setZero();
        highest_.setConstant(width, hidden);
        sum_.setZero(width);
        best_.setConstant(width, hidden);
        sink_.setConstant(width, hidden);
        for (index_t i = 0; i < count; ++i) {
            position_[i] = task_.where.query_at(t_, first + i);
            facts_[i] = {};
            for (index_t c = 0; c < q_.rows(); ++c) q_(c, i) = static_cast<A>(task_.q(t_.entry, head_, first + i, c));
            sink_(i) = sinks_of(i);
            if (sink_(i) == hidden) continue;
            highest_(i) = sink_(i);
            sum_(i) = 1;
        }
        for (index_t i = count; i < width; ++i) position_[i] = position_[count - 1];
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

    /// Final scores of all queries against keys [key, key + keys), hidden ones -inf. False: nothing is visible.
    bool scores(index_t key, index_t keys) {
        coverage const seen = facet::cover(task_.policy, tile_of(key, keys));
        if (seen == coverage::none) return false;
        s_.topRows(keys).noalias() = k_.middleRows(key, keys) * q_;
        s_.topRows(keys) *= task_.scale;
        if (seen == coverage::all && !has_score<typename Task::policy_type>) return true;
        for (index_t i = 0; i < count_; ++i) {
            for (index_t j = 0; j < keys; ++j) {
                site const at{t_.number, head_, position_[i], key_position_(key + j)};
                A& x = s_(j, i);
                x = seen == coverage::all || facet::visible(task_.policy, at) ? facet::score(task_.policy, x, at)
                                                                              : hidden;
            }
        }
        return true;
    }

    /// Online softmax: one more block of keys.
    void accumulate(index_t key, index_t keys) {
        if (!scores(key, keys)) return;
        p_.setZero();
        for (index_t i = 0; i < count_; ++i) {
            if constexpr (Task::needs_favourite) find_favourite(key, keys, i);
            auto const s = s_.col(i).head(keys);
            A const high = s.template maxCoeff<Eigen::PropagateNaN>();
            A const now = highest_(i) < high || high != high ? high : highest_(i); // a NaN stays
            if (now == hidden) continue;
            A const shrink = highest_(i) == now ? A(1) : highest_(i) == hidden ? A(0) : math::exp(highest_(i) - now);
            // Eigen's exp(-inf) is a tiny number in some versions, not 0; hidden keys are excluded exactly
            p_.col(i).head(keys) = (s.array() == hidden).select(A(0), (s.array() - now).exp()).matrix();
            sum_(i) = sum_(i) * shrink + p_.col(i).head(keys).sum();
            if (!weighs && shrink != A(1)) o_.col(i) *= shrink;
            highest_(i) = now;
        }
        if (!weighs && !task_.observing) add_values(key, keys);
    }

    void find_favourite(index_t key, index_t keys, index_t i) {
        for (index_t j = 0; j < keys; ++j) {
            if (!(s_(j, i) > best_(i))) continue;
            best_(i) = s_(j, i);
            facts_[i].favourite = t_.key_begin + key + j;
        }
    }

    /// o += v p. Where a value is not finite, 0 x NaN must not reach a query that does not see it.
    void add_values(index_t key, index_t keys) {
        auto const v = v_.middleCols(key, keys);
        if (v.allFinite()) {
            o_.noalias() += v * p_.topRows(keys);
            return;
        }
        for (index_t i = 0; i < count_; ++i) {
            for (index_t j = 0; j < keys; ++j) {
                if (s_(j, i) != hidden && p_(j, i) != A(0)) o_.col(i) += v.col(j) * p_(j, i);
            }
        }
    }

    void finish_rows() {
        overflowed_ = false;
        for (index_t i = 0; i < count_; ++i) {
            row_facts<A>& facts = facts_[i];
            if (task_.observing)
                facts.lse = task_.known_lse(t_.entry, head_, 0, first_ + i);
            else if (sink_(i) == math::infinity<A> && highest_(i) == sink_(i))
                facts.lse = sink_(i);
            else if (sum_(i) != A(0))
                facts.lse = highest_(i) + math::log(sum_(i));
            facts.escaped = sink_(i) == hidden ? A(0) : sink_(i) == facts.lse ? A(1) : math::exp(sink_(i) - facts.lse);
            if (facts.favourite >= 0) facts.favourite_p = math::exp(best_(i) - facts.lse);
            if (task_.observing) continue;
            if constexpr (weighs) {
                o_.col(i) *= facts.escaped; // the sinks' value; keys follow in the second sweep
            } else {
                if (sink_(i) == math::infinity<A>)
                    continue; // o is the sinks' value, the keys added nothing but noise: see write_output
                if (sum_(i) != A(0)) o_.col(i) /= sum_(i);
                overflowed_ = overflowed_ || overflowed(i);
            }
        }
    }

    /// Whether an output is not finite although its softmax is: it may be of an infinite value whose share became 0 later.
    bool overflowed(index_t i) const { return facts_[i].lse - facts_[i].lse == A(0) && !o_.col(i).allFinite(); }
    /// The outputs of such rows once more, with final shares.
    void take_values_again() {
        bool again[width];
        for (index_t i = 0; i < count_; ++i) {
            again[i] = overflowed(i);
            if (!again[i]) continue;
            sinks_of(i);
            o_.col(i) *= facts_[i].escaped;
        }
        for (index_t key = 0; key < keys_; key += height) {
            index_t const keys = math::min(height, keys_ - key);
            if (!scores(key, keys)) continue;
            for (index_t i = 0; i < count_; ++i)
                for (index_t j = 0; j < keys && again[i]; ++j) {
                    A const p = s_(j, i) == hidden ? A(0) : math::exp(s_(j, i) - facts_[i].lse);
                    if (p != A(0)) o_.col(i) += v_.col(key + j) * p;
                }
        }
    }

    /// Second sweep, with the final probabilities: statistics, and values where the policy changes weights.
    void observe(index_t key, index_t keys) {
        if (!scores(key, keys)) return;
        p_.setZero();
        for (index_t i = 0; i < count_; ++i) {
            for (index_t j = 0; j < keys; ++j) {
                if (s_(j, i) == hidden) continue;
                p_(j, i) = math::exp(s_(j, i) - facts_[i].lse);
                site const at{t_.number, head_, position_[i], key_position_(key + j)};
                cell<A, index_t, A> const c{p_(j, i), s_(j, i), Task::needs_key_weight ? norms_(key + j) : A(0),
                                            t_.key_begin + key + j, facts_[i]};
                task_.for_each_statistic([&](auto const& s) { add_cell(s, c, at, i); });
                if constexpr (weighs) p_(j, i) = facet::weight(task_.policy, p_(j, i), at);
            }
        }
        if (weighs && !task_.observing) add_values(key, keys);
    }

    template <class S>
    void add_cell(S const& s, cell<A, index_t, A> const& c, site const& at, index_t i) {
        if constexpr (!only_rows<S>) {
            auto const mapped = s.map(c, at);
            index_t const query = first_ + i;
            if constexpr (S::reduced_to == axis::by_key) {
                auto& slot = s.output(t_.entry, head_, s.groups.of(t_.entry, query), c.place);
                slot = s.combine(slot, mapped);
            } else {
                auto& slot = reduced_[number_of(s)][i];
                slot = s.combine(slot, mapped);
            }
        }
    }

    /// Which statistic of the task this is, by its address: statistics are values, two may be equal.
    template <class S>
    std::size_t number_of(S const& s) const {
        std::size_t at = 0, found = 0;
        task_.for_each_statistic([&](auto const& other) {
            if (static_cast<void const*>(&other) == static_cast<void const*>(&s)) found = at;
            ++at;
        });
        return found;
    }

    void store_rows() {
        task_.for_each_statistic([&](auto const& s) {
            using S = std::remove_cvref_t<decltype(s)>;
            if constexpr (S::reduced_to == axis::by_query) {
                A* const reduced = reduced_[number_of(s)];
                for (index_t i = 0; i < count_; ++i) {
                    store_row(s, t_.entry, head_, first_ + i, reduced[i], facts_[i]);
                    reduced[i] = s.identity();
                }
            }
        });
    }

    void write_output() {
        for (index_t i = 0; i < count_; ++i) {
            if (!weighs && sink_(i) == math::infinity<A>)
                sinks_of(i); // they took all: their value alone, nothing that was added since
            if (sink_(i) == math::infinity<A> && sum_(i) != sum_(i))
                o_.col(i).setConstant(sum_(i)); // but not beside a key that is NaN, or infinite too
            for (index_t c = 0; c < channels_; ++c)
                task_.out(t_.entry, head_, first_ + i, c) = static_cast<T>(o_(c, i));
        }
    }

    /// The log-sum-exp of a row's sinks; their mean value becomes the row's output.
    A sinks_of(index_t i) {
        auto const query = [&](index_t c) { return q_(c, i); };
        sink_column<A, decltype(query)> sinks(query, task_.q.extent(3), task_.scale, o_.data() + i * channels_,
                                              channels_);
        facet::visit_sinks(task_.policy, task_.heads_of(t_, head_), sinks);
        return sinks.lse();
    }

    Task const& task_;
    text t_;
    index_t head_, kv_, keys_, channels_;
    index_t first_ = 0, count_ = 0;
    bool overflowed_ = false;
    matrix k_, v_, q_, s_, p_, o_;
    row norms_, highest_, sum_, best_, sink_;
    buffer<index_t, 1> key_position_;
    index_t position_[width] = {};
    row_facts<A> facts_[width] = {};
    static constexpr std::size_t statistics = decltype(Task::statistics)::count;
    A reduced_[statistics == 0 ? 1 : statistics][width] = {};
};

} // namespace basin::detail::eigen
