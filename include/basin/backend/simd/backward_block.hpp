// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

// A block of queries of one head against all its keys, backwards: strip by strip probabilities are made again from the lse,
// then dS, then the three sums. Policies act on the tiles that are covered in part, or on all where they change scores.

#include "apply.hpp"
#include "backward_rows.hpp"

#include <atomic>
#include <thread>

namespace basin::detail::simd {

/// Blocks of one unit add to the same d_k and d_v: each strip is visited by them in their order, whoever computes them.
/// A block that is far behind only waits for the one before it, which somebody is computing already.
struct block_turn {
    static constexpr int finished = 0x7fffffff;
    std::atomic<int> const* before =
        nullptr; // how many strips the block before this has left behind; null: no need to wait
    std::atomic<int>* mine = nullptr;

    block_turn() = default;
    block_turn(std::atomic<int> const* b, std::atomic<int>* m) : before(b), mine(m) {}
    block_turn(block_turn const&) = delete;
    block_turn& operator=(block_turn const&) = delete;
    /// Also when an exception leaves: nobody must wait for ever, and nobody may overtake those before.
    ~block_turn() {
        wait(finished);
        leave(finished);
    }

    void wait(int strips) const {
        if (before == nullptr) return;
        while (before->load(std::memory_order_acquire) < strips) std::this_thread::yield();
    }
    void leave(int strips) const {
        if (mine != nullptr) mine->store(strips, std::memory_order_release);
    }
};

template <class Task, class Arch>
class backward_runner {
    using T = typename Task::accumulation;
    using P = typename Task::policy_type;
    using F = family<T, Arch>;
    using table = backward_tiles<T, Arch>;
    using v = vec<T, Arch>;
    using number = number_lanes<F>;
    using index = index_lanes<F>;
    using unit_t = backward_unit<Task, Arch>;
    static constexpr int rows = table::rows, lanes = table::lanes, strip = table::strip;
    static constexpr bool fused = unit_t::fused, weighs = has_weight<P>;
    /// The probability of a hidden key. A seen one may be so small that it is 0 too, and a weight may make something of it.
    static constexpr T no_share = weighs ? T(-0.0) : T(0);

public:
    static constexpr int block_rows = table::block_rows;

    void carve(arena<Arch>& a, Task const& task) {
        block_.carve(a, task);
        p_ = a.template take<T>(std::ptrdiff_t{block_rows} * strip);
        s_ = a.template take<T>(std::ptrdiff_t{block_rows} * strip);
        if constexpr (!fused) x_ = a.template take<T>(std::ptrdiff_t{block_rows} * strip);
    }

    /// Queries [first, first + count) of memory of query head `head`; what is learned is added to head_sums.
    void run(Task const& task, unit_t const& u, index_t head, index_t first, int count, block_turn const& turn,
             double* head_sums) {
        task_ = &task;
        u_ = &u;
        block_.start(task, u, head, first, count);
        tiles_ = block_.tiles_used;
        group_strip_ = -1;
        if constexpr (!Task::sum_from_out) sum_rows();
        block_.settle(task, u);
        for (int s = 0; s < u.strips; ++s) {
            if (Task::learns) turn.wait(s + 1);
            int begin = 0, end = tiles_;
            if (look_at(s, begin, end)) {
                add_to_queries(s, begin, end);
                turn.wait(s + 1);
                add_to_keys(s, begin, end);
            } else {
                turn.wait(s + 1);
            }
            turn.leave(s + 1);
        }
        block_.write(task, u);
        if constexpr (Task::learns) {
            turn.wait(block_turn::finished);
            for (index_t i = 0; i < task.sums; ++i) head_sums[i] += block_.learned[i];
        }
    }

private:
    /// A sweep of its own for what d_out . out does not know of a row's sum of p dp.
    void sum_rows() {
        for (int i = 0; i < tiles_ * rows * lanes; ++i) block_.sums[i] = T(0);
        for (int s = 0; s < u_->strips; ++s) {
            for (int t = 0; t < tiles_; ++t) {
                coverage const seen = cover(s, t);
                if (seen == coverage::none) continue;
                find_probabilities(s, t, seen == coverage::some, x_ + t * rows * strip);
                if constexpr (weighs) multiply_values(s, t);
                sum_tile(s, t);
            }
        }
    }

    coverage cover(int s, int t) const {
        int const count = math::min(rows, block_.count - t * rows);
        return facet::cover_unhidden(task_->policy, u_->span(block_.head, block_.positions + t * rows, count, s));
    }

    /// P and dS of a strip; false if nobody sees anything. Rows outside of the tiles [begin, end) see nothing.
    bool look_at(int s, int& begin, int& end) {
        coverage const whole =
            facet::cover_unhidden(task_->policy, u_->span(block_.head, block_.positions, block_.count, s));
        if (whole == coverage::none) return false;
        careful_ = !block_.finite || !u_->finite[s];
        if (fused && whole == coverage::all && !careful_) {
            for (int p = 0; p * table::panel < u_->keys_in(s); ++p) {
                score_task<T> const scores = score_of(s, p), slopes = slope_of(s, p);
                for (int t = 0; t < tiles_; ++t) fused_probabilities(scores, t, p);
                for (int t = 0; t < tiles_; ++t) fused_slopes(slopes, t, p);
            }
            return true;
        }
        begin = tiles_;
        end = 0;
        for (int t = 0; t < tiles_; ++t) {
            seen_[t] = whole == coverage::all ? whole : cover(s, t);
            if (seen_[t] == coverage::none) continue;
            begin = math::min(begin, t);
            end = t + 1;
        }
        for (int t = begin; t < end; ++t) tile_of(s, t);
        return begin < end;
    }

    void tile_of(int s, int t) {
        if (seen_[t] == coverage::none) {
            for (int i = 0; i < rows * strip; i += lanes) {
                v(T(0)).store_aligned(p_ + t * rows * strip + i);
                v(T(0)).store_aligned(s_ + t * rows * strip + i);
            }
            return;
        }
        bool const ask = seen_[t] == coverage::some;
        if constexpr (fused) {
            int const panels = (u_->keys_in(s) + table::panel - 1) / table::panel;
            find_probabilities(s, t, ask, s_ + t * rows * strip);
            if (careful_) clear_dead(t);
            for (int p = 0; p < panels; ++p) fused_slopes(slope_of(s, p), t, p);
            if (careful_) forget_unseen(s, t);
        } else {
            find_probabilities(s, t, ask, x_ + t * rows * strip);
            if (careful_) clear_dead(t);
            multiply_values(s, t);
            pull_back(s, t);
        }
    }

    score_task<T> score_of(int s, int p) const {
        int const depth = round_up(u_->depth, table::chunk), count = u_->keys_in(s) - p * table::panel;
        std::ptrdiff_t const at = std::ptrdiff_t{p} * table::panel * depth;
        T const* const next = u_->key_panels(s + 1 < u_->strips ? s + 1 : 0) + at;
        return {block_.queries,
                u_->key_panels(s) + at,
                depth,
                0,
                math::min(count, static_cast<int>(table::panel)),
                0,
                0,
                next,
                nullptr,
                nullptr};
    }
    /// Slots past the last key have values 0: they need not be hidden.
    score_task<T> slope_of(int s, int p) const {
        int const width = round_up(u_->width, table::chunk);
        std::ptrdiff_t const at = std::ptrdiff_t{p} * table::panel * width;
        T const* const next = u_->value_panels(s + 1 < u_->strips ? s + 1 : 0) + at;
        return {block_.upstream, u_->value_panels(s) + at, width, 0, table::panel, 0, 0, next, nullptr, nullptr};
    }
    void fused_probabilities(score_task<T> const& task, int t, int p) const {
        each_column<Arch, T>(task.keys_in_panel, [&]<int V>(int column) {
            probability_tile<Arch, V, T>(task, t, column, block_.lse2, p_ + t * rows * strip + p * table::panel);
        });
    }
    void fused_slopes(score_task<T> const& task, int t, int p) const {
        std::ptrdiff_t const at = t * rows * strip + p * table::panel;
        slope_tile<Arch, table::vectors, T>(task, t, 0, block_.delta, p_ + at, s_ + at);
    }

    int vectors_of(int s) const { return (u_->keys_in(s) + lanes - 1) / lanes; }
    basic_site<index> site_of(int i, int s, int j) const {
        return {u_->t.number, block_.head, index(block_.positions[i]),
                index(F::index::load_aligned(u_->positions + std::ptrdiff_t{s} * strip + j * lanes))};
    }

    /// P of a tile; scores before the policy stay in `x` if somebody will look at them.
    void find_probabilities(int s, int t, bool ask, T* x) {
        if constexpr (has_score<P> || Task::through_entropy) {
            probabilities(s, t, ask, x);
        } else if (ask) {
            probabilities(s, t, true, x);
        } else {
            for (int p = 0; p * table::panel < u_->keys_in(s); ++p) fused_probabilities(score_of(s, p), t, p);
        }
    }
    /// The same under the policy.
    [[gnu::noinline]] void probabilities(int s, int t, bool ask, T* x) {
        for (int p = 0; p * table::panel < u_->keys_in(s); ++p) {
            score_task<T> const task = score_of(s, p);
            each_column<Arch, T>(task.keys_in_panel, [&]<int V>(int column) {
                product_tile<Arch, V, T>(task, t, column, x + p * table::panel);
            });
        }
        P const policy = task_->policy; // see in_powers_of_two; slopes are asked in natural units
        int const vectors = vectors_of(s);
        for (int i = t * rows; i < (t + 1) * rows; ++i, x += strip) {
            T* const p = p_ + i * strip;
            v const m(block_.lse2[i]);
            for (int j = 0; j < vectors; ++j) {
                v const y = final_scores<has_score<P>, Task, Arch, T>(policy, v::load_aligned(x + j * lanes),
                                                                      site_of(i, s, j), ask);
                // Where the lse is NaN, -inf less it is not 0: what is hidden stays out of a spoiled row.
                xsimd::select(y == v(hidden_score<T>), v(no_share), pow2<Arch, T>(y - m)).store_aligned(p + j * lanes);
            }
            // A changed score may bring the slots past the last key back to life.
            if constexpr (has_score<P>) {
                for (int k = u_->keys_in(s); k < vectors * lanes; ++k) p[k] = T(0);
            }
        }
    }

    /// d_out . value of a tile, to s_.
    void multiply_values(int s, int t) {
        for (int p = 0; p * table::panel < u_->keys_in(s); ++p)
            product_tile<Arch, table::vectors, T>(slope_of(s, p), t, 0, s_ + t * rows * strip + p * table::panel);
    }

    /// What received and entropy add to dP of one row: see start_row.
    struct row_terms {
        v entropy, lse2;
    };
    row_terms start_row(int i, int s) {
        if constexpr (Task::through_received) {
            index_t const group = task_->groups.of(u_->t.entry, block_.query_of(i));
            if (group != group_ || s != group_strip_) gather_received(group, s);
        }
        return {v(task_->entropy_gradient(u_->t.entry, block_.head, block_.query_of(i))), v(block_.lse2[i])};
    }
    v through_statistics(row_terms const& row, v dp, v p, T const* x, int j) const {
        if constexpr (Task::through_received) dp = dp + v::load_aligned(received_ + j * lanes);
        if constexpr (Task::through_entropy) {
            // Scores that no policy has changed are at hand in powers of two.
            v const log_p = has_score<P> ? F::log(p) : (v::load_aligned(x) - row.lse2) * v(T(0.69314718055994530942));
            dp = dp - row.entropy * (log_p + v(T(1)));
        }
        return dp;
    }
    void gather_received(index_t group, int s) {
        group_ = group;
        group_strip_ = s;
        for (int k = 0; k < strip; ++k) {
            index_t const slot = s * strip + k;
            received_[k] = slot < u_->slots
                               ? task_->d_received(u_->t.entry, block_.head, group, u_->t.key_begin + u_->place(slot))
                               : T(0);
        }
    }

    /// Adds p dp of a tile to its rows' sums: all of it with weights, else what d_out . out lacks.
    [[gnu::noinline]] void sum_tile(int s, int t) {
        P const policy = task_->policy;
        for (int i = t * rows; i < (t + 1) * rows; ++i) {
            row_terms const row = start_row(i, s);
            v sum = v::load_aligned(block_.sums + i * lanes);
            for (int j = 0; j < vectors_of(s); ++j) {
                v const p = v::load_aligned(p_ + i * strip + j * lanes);
                v dp(T(0));
                if constexpr (weighs)
                    dp = facet::weight_pullback(policy, number(p), number(v::load_aligned(s_ + i * strip + j * lanes)),
                                                site_of(i, s, j))
                             .raw;
                dp = through_statistics(row, dp, p, x_ + i * strip + j * lanes, j);
                sum = sum + xsimd::select(p == v(T(0)), v(T(0)), p * dp);
            }
            sum.store_aligned(block_.sums + i * lanes);
        }
    }

    /// From d_out . value in s_ to the gradient of scores before the policy, times the scale; P becomes its weight.
    [[gnu::noinline]] void pull_back(int s, int t) {
        P const policy = task_->policy;
        parameter_sums learned{block_.learned};
        v const zero(T(0)), scale(task_->scale);
        for (int i = t * rows; i < (t + 1) * rows; ++i) {
            row_terms const row = start_row(i, s);
            v const delta(block_.delta[i]);
            for (int j = 0; j < vectors_of(s); ++j) {
                std::ptrdiff_t const at = i * strip + j * lanes;
                auto const where = site_of(i, s, j);
                v const p = v::load_aligned(p_ + at);
                v d = v::load_aligned(s_ + at);
                if constexpr (weighs) d = facet::weight_pullback(policy, number(p), number(d), where).raw;
                d = through_statistics(row, d, p, x_ + at, j);
                auto const unseen = p == zero;
                d = xsimd::select(unseen, zero, p * (d - delta));
                if constexpr (has_score<P>) {
                    number const x(xsimd::select(unseen, zero, v::load_aligned(x_ + at)));
                    d = xsimd::select(unseen, zero, facet::score_pullback(policy, x, number(d), where, learned).raw);
                }
                (d * scale).store_aligned(s_ + at);
                if constexpr (weighs)
                    xsimd::select(v(T(1)) / p < zero, zero, facet::weight(policy, number(p), where).raw)
                        .store_aligned(p_ + at);
            }
        }
    }

    /// A row that saw nothing has no share in a key that is not a number either.
    [[gnu::noinline, gnu::cold]] void clear_dead(int t) {
        for (int i = t * rows; i < (t + 1) * rows; ++i) {
            if (block_.lse2[i] != math::infinity<T>) continue;
            for (int k = 0; k < strip; k += lanes) v(no_share).store_aligned(p_ + i * strip + k);
        }
    }

    /// 0 x NaN is not nothing: where there is no share there is no gradient.
    [[gnu::noinline, gnu::cold]] void forget_unseen(int s, int t) {
        for (int i = t * rows; i < (t + 1) * rows; ++i)
            for (int j = 0; j < vectors_of(s); ++j) {
                T* const at = s_ + i * strip + j * lanes;
                xsimd::select(v::load_aligned(p_ + i * strip + j * lanes) == v(T(0)), v(T(0)), v::load_aligned(at))
                    .store_aligned(at);
            }
    }

    /// d_q += dS k, in the block's own rows.
    void add_to_queries(int s, int begin, int end) {
        for (int g = 0; g * table::panel < u_->depth; ++g) {
            int const columns = group_columns<Arch, T>(u_->depth, g);
            T const* const next = u_->rows_of_keys(*task_, s + 1 < u_->strips ? s + 1 : 0, g);
            update<strip, 1>({s_ + begin * rows * strip, u_->rows_of_keys(*task_, s, g), columns, u_->keys_in(s),
                              columns, block_.d_query + begin * rows * block_.d_query_stride + g * table::panel,
                              block_.d_query_stride, next, columns},
                             (end - begin) * rows);
        }
    }
    /// d_v += P^T d_out and d_k += dS^T q.
    void add_to_keys(int s, int begin, int end) {
        int const next = s + 1 < u_->strips ? s + 1 : 0;
        add_to(
            p_, block_.row_upstream, u_->width, s, begin, end, [&](int g) { return u_->d_values(*task_, s, g); },
            [&](int g) { return u_->d_values(*task_, next, g); });
        add_to(
            s_, block_.row_queries, u_->depth, s, begin, end, [&](int g) { return u_->d_keys(*task_, s, g); },
            [&](int g) { return u_->d_keys(*task_, next, g); });
    }
    template <class To, class Next>
    void add_to(T const* coefficients, T const* from, int channels, int s, int begin, int end, To const& to,
                Next const& next) {
        for (int g = 0; g * table::panel < channels; ++g) {
            int const columns = group_columns<Arch, T>(channels, g);
            T const* const first =
                from + std::ptrdiff_t{block_rows} * table::panel * g + std::ptrdiff_t{begin} * rows * columns;
            result_rows<T> const here = to(g), later = next(g);
            update<1, strip>({coefficients + begin * rows * strip, first, columns, (end - begin) * rows, columns,
                              here.first, here.stride, later.first, later.stride},
                             u_->keys_in(s));
        }
    }
    template <int Along, int Across>
    void update(rank_task<T> const& task, int n) const {
        if (careful_)
            careful_rank_update<Arch, Along, Across, T>(task, n);
        else
            rank_update<Arch, Along, Across, T>(task, n);
    }

    Task const* task_ = nullptr;
    unit_t const* u_ = nullptr;
    backward_rows<Task, Arch> block_;
    T *p_ = nullptr, *s_ = nullptr, *x_ = nullptr; // [row][strip]: P, dS, scores before the policy
    index_t group_ = 0;
    int tiles_ = 0, group_strip_ = -1;
    bool careful_ = false;
    coverage seen_[table::block_tiles] = {};
    alignas(64) T received_[strip];
};

} // namespace basin::detail::simd
