// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

// The general path: one row tile at a time against all keys, the whole strip of final scores in memory. It serves what the
// fast path cannot: policies that change probabilities, favourites, observation with a known lse, and any statistic of
// a user's own, in lanes where it takes them.

#include "apply.hpp"
#include "rows.hpp"
#include "score_tile.hpp"
#include "value_tile.hpp"

namespace basin::detail::simd {

/// Results by key of any statistics: one accumulator per key, statistic and group, in the statistic's own terms.
template <class Task, class Arch>
class strip_columns {
    using T = typename Task::accumulation;

public:
    void carve(arena<Arch>& a, Task const& task, index_t most_keys) {
        stride_ = round_up(most_keys, tiles<T, Arch>::block_keys);
        index_t columns = 0;
        for_each(task, [&](auto const&, index_t) { ++columns; });
        data_ = a.template take<T>(columns * stride_);
    }
    void start(Task const& task, index_t) {
        for_each(task, [&](auto const& s, index_t column) {
            for (index_t k = 0; k < stride_; ++k) data_[column * stride_ + k] = s.identity();
        });
    }
    /// Adds another chunk's results, in the order in which the caller asks.
    void add(Task const& task, strip_columns const& other, index_t slots) {
        for_each(task, [&](auto const& s, index_t column) {
            T* const mine = data_ + column * stride_;
            T const* const theirs = other.data_ + column * stride_;
            for (index_t k = 0; k < slots; ++k) mine[k] = s.combine(mine[k], theirs[k]);
        });
    }
    /// The results of a head into the statistics' arrays.
    void store(Task const& task, unit<Task, Arch> const& u) const {
        index_t group = 0;
        void const* last = nullptr;
        for_each(task, [&](auto const& s, index_t column) {
            group = last == static_cast<void const*>(&s) ? group + 1 : 0;
            last = &s;
            for (index_t k = 0; k < u.slots; ++k) {
                auto& to = s.output(u.t.entry, u.head, group, u.t.key_begin + u.place(k));
                to = s.combine(to, data_[column * stride_ + k]);
            }
        });
    }
    T* at(index_t column, std::ptrdiff_t slot) const { return data_ + column * stride_ + slot; }

private:
    /// f(statistic, column) for each group of each statistic by key.
    template <class F>
    static void for_each(Task const& task, F const& f) {
        index_t column = 0;
        task.for_each_statistic([&](auto const& s) {
            using S = std::remove_cvref_t<decltype(s)>;
            if constexpr (S::reduced_to == axis::by_key) {
                for (index_t g = 0; g < s.groups.count; ++g) f(s, column++);
            }
        });
    }

    T* data_ = nullptr;
    std::ptrdiff_t stride_ = 0;
};

template <class Task, class Arch>
class strip_runner {
    using T = typename Task::accumulation;
    using F = family<T, Arch>;
    using table = tiles<T, Arch>;
    using v = vec<T, Arch>;
    using number = number_lanes<F>;
    using index = index_lanes<F>;
    using unit_t = unit<Task, Arch>;
    static constexpr int rows = table::rows;
    static constexpr bool weighs = has_weight<typename Task::policy_type>;
    static constexpr std::size_t statistics = decltype(Task::statistics)::count;
    static constexpr T hidden = -math::infinity<T>;
    static constexpr T log2e = T(1.4426950408889634), ln2 = T(0.69314718055994530942);

public:
    void carve(arena<Arch>& a, Task const& task, index_t most_keys, index_t, int width) {
        std::ptrdiff_t const padded = round_up(most_keys, table::block_keys);
        queries_ =
            a.template take<T>(std::ptrdiff_t{rows} * round_up(static_cast<int>(task.q.extent(3)), table::chunk));
        strip_ = a.template take<T>(padded * rows);
        places_ = a.template take<typename F::index_type>(padded);
        visited_ = a.template take<bool>(padded / table::panel);
        block_.output_stride = round_up(width, table::lanes);
        block_.output = a.template take<T>(rows * block_.output_stride);
        sink_value_ = a.template take<T>(rows * block_.output_stride);
        block_.panel_stride = std::ptrdiff_t{rows} * table::panel;
    }

    /// Queries [begin, end) of memory against the keys of u.
    void run(Task const& task, unit_t& u, index_t begin, index_t end, bool streaming) {
        task_ = &task;
        u_ = &u;
        streaming_ = streaming;
        for (index_t s = 0; s < u.panels * table::panel; ++s) {
            places_[s] = u.t.key_begin + u.place(s < u.slots ? s : u.slots - 1);
        }
        columns.start(task, u.slots);
        for (first_ = begin; first_ < end; first_ += rows) {
            count_ = static_cast<int>(math::min(index_t{rows}, end - first_));
            score();
            for (int i = 0; i < count_; ++i) finish_row(i);
            if (!task.observing) write();
        }
    }

    strip_columns<Task, Arch> columns;

private:
    T* row_of(int panel, int i) const {
        return strip_ + panel * block_.panel_stride + std::ptrdiff_t{i} * table::panel;
    }
    int vectors_of(int panel) const { return (u_->keys_in_panel(panel) + table::lanes - 1) / table::lanes; }
    index_t query_of(int i) const { return first_ + (i < count_ ? i : count_ - 1); }

    /// Final scores of the tile against all keys, log2 units; panels that nobody sees are not visited.
    void score() {
        row_source<typename Task::scalar_type> const from{&task_->q(u_->t.entry, u_->head, 0, 0), task_->q.stride(2),
                                                          task_->q.stride(3), nullptr};
        pack_queries<Arch, T>(from, first_, count_, u_->depth, typename unit_t::loader{}, queries_);
        for (int i = 0; i < rows; ++i) positions_[i] = task_->where.query_at(u_->t, query_of(i));
        for (int p = 0; p < u_->panels; ++p) {
            if (streaming_ && p % table::block_panels == 0) u_->pack(task_->k, task_->v, p / table::block_panels, true);
            coverage const seen = facet::cover_unhidden(task_->policy, span(*u_, positions_, count_, p, p + 1));
            visited_[p] = seen != coverage::none;
            if (!visited_[p]) continue;
            score_task<T> const task{
                queries_, u_->panel_keys(p, streaming_), u_->padded_depth, 0,      u_->keys_in_panel(p), 0,
                1,        u_->panel_keys(p, streaming_), nullptr,          nullptr};
            raw_panel<Arch, false, T>(block_, task, 0, row_of(p, 0));
            if (seen == coverage::some || unit_t::scores_change)
                apply_policy<Arch>(*task_, *u_, p, positions_, seen == coverage::some, row_of(p, 0));
        }
    }

    /// From scores to facts, probabilities and statistics of one row; its strip holds weighted probabilities afterwards.
    void finish_row(int i) {
        T* const sink_value = sink_value_ + i * block_.output_stride;
        T const sink = sinks_of<Arch>(*task_, *u_, first_ + i, sink_value);
        row_facts<T>& facts = facts_[i];
        facts = {};
        if constexpr (Task::observing) facts.lse = task_->known_lse(u_->t.entry, u_->head, 0, first_ + i);
        T best = hidden;
        for (int p = 0; p < u_->panels; ++p) {
            if (visited_[p]) best = highest(p, i, best, facts.favourite);
        }
        // With a known lse there is nothing to sum. Otherwise probabilities come from the sum itself: the logarithm of a
        // large one has few digits behind the point.
        denominator const d =
            task_->observing ? denominator{facts.lse * log2e, T(1)} : sum_row(i, best, sink, facts.lse);
        if (sink != hidden) facts.escaped = sink == facts.lse ? T(1) : std::exp2(sink * log2e - d.high) * d.inverse;
        if (facts.favourite >= 0) facts.favourite_p = std::exp2(best - d.high) * d.inverse;

        T reduced[statistics == 0 ? 1 : statistics];
        std::size_t number_of = 0;
        task_->for_each_statistic([&](auto const& s) { reduced[number_of++] = s.identity(); });
        for (int p = 0; p < u_->panels; ++p) {
            if (visited_[p]) observe(p, i, facts, d, reduced);
        }
        std::size_t which = 0;
        task_->for_each_statistic([&](auto const& s) {
            using S = std::remove_cvref_t<decltype(s)>;
            if constexpr (S::reduced_to == axis::by_query)
                store_row(s, u_->t.entry, u_->head, first_ + i, reduced[which], facts);
            ++which;
        });
    }

    /// The larger of `best` and the row's highest score in the panel; `favourite` follows it to the first place that has it.
    T highest(int p, int i, T best, index_t& favourite) const {
        T const* const x = row_of(p, i);
        v top(hidden);
        for (int j = 0; j < vectors_of(p); ++j) {
            v const y = v::load_aligned(x + j * table::lanes);
            top = xsimd::select(y > top, y, top);
        }
        T const here = max_lanes<Arch, T>(top);
        if (!(here > best)) return best;
        if constexpr (Task::needs_favourite) {
            int k = 0;
            while (x[k] != here) ++k;
            favourite = static_cast<index_t>(places_[std::ptrdiff_t{p} * table::panel + k]);
        }
        return here;
    }

    /// A probability is 2^(score - high) * inverse.
    struct denominator {
        T high, inverse;
    };

    denominator sum_row(int i, T best, T sink, T& lse) const {
        constexpr T nan = std::numeric_limits<T>::quiet_NaN();
        if (sink == math::infinity<T>) {
            lse = sink; // takes all
            return {sink, T(1)};
        }
        T const sink2 = sink * log2e;
        T const high = best < sink2 ? sink2 : best;
        bool const empty = high == hidden;
        v sum(T(0));
        for (int p = 0; p < u_->panels; ++p) {
            if (!visited_[p]) continue;
            for (int j = 0; j < vectors_of(p); ++j) {
                v const x = v::load_aligned(row_of(p, i) + j * table::lanes);
                // with nothing but -inf (or NaN) in the row, high is -inf: NaN must still show
                sum = sum + (empty ? xsimd::select(x == v(hidden), v(T(0)), x) : pow2<Arch, T>(x - v(high)));
            }
        }
        T const total = sum_lanes<Arch, T>(sum);
        if (empty && total == T(0)) return {T(0), T(0)};
        if (empty || sink != sink || total != total || high == math::infinity<T>) {
            lse = nan;
            return {T(0), nan};
        }
        T const whole = total + std::exp2(sink2 - high);
        lse = total == T(0) ? sink : (high + std::log2(whole)) * ln2;
        return {high, T(1) / whole};
    }

    void observe(int p, int i, row_facts<T> const& facts, denominator const& d, T* reduced) {
        for (int j = 0; j < vectors_of(p); ++j) {
            T* const at = row_of(p, i) + j * table::lanes;
            std::ptrdiff_t const slot = std::ptrdiff_t{p} * table::panel + j * table::lanes;
            v const x = v::load_aligned(at);
            auto const gone = x == v(hidden);
            v const e = pow2<Arch, T>(xsimd::select(gone, v(T(0)), x) - v(d.high)) * v(d.inverse);
            number const probability(xsimd::select(gone, v(T(0)), e));
            basic_site<index> const s{u_->t.number, u_->head, index(positions_[i]),
                                      index(F::index::load_aligned(u_->positions + slot))};
            if constexpr (statistics != 0) {
                v weight(T(0));
                if constexpr (Task::needs_key_weight) weight = v::load_aligned(u_->norms + slot);
                cell<number, index, T> const c{probability, number(x * v(ln2)), number(weight),
                                               index(F::index::load_aligned(places_ + slot)), facts};
                map_all(c, s, mask_lanes<F>{gone}, i, slot, reduced);
            }
            v result = probability.raw;
            if constexpr (weighs)
                result = xsimd::select(gone, v(T(0)), facet::weight(task_->policy, probability, s).raw);
            result.store_aligned(at);
        }
    }

    template <class Cell>
    void map_all(Cell const& c, basic_site<index> const& s, mask_lanes<F> gone, int i, std::ptrdiff_t slot,
                 T* reduced) {
        index_t column = 0;
        std::size_t number_of = 0;
        task_->for_each_statistic([&](auto const& statistic) {
            using S = std::remove_cvref_t<decltype(statistic)>;
            if constexpr (S::reduced_to == axis::by_key) {
                T* const to = columns.at(column + statistic.groups.of(u_->t.entry, first_ + i), slot);
                map_one(statistic, c, s, gone, [&](v mapped) {
                    number const old(v::load_aligned(to));
                    if constexpr (takes_lanes<S>)
                        statistic.combine(old, number(mapped)).raw.store_aligned(to);
                    else
                        each_lane(old.raw, mapped, [&](T a, T b) { return statistic.combine(a, b); }).store_aligned(to);
                });
                column += statistic.groups.count;
            } else if constexpr (!only_rows<S>) {
                map_one(statistic, c, s, gone, [&](v mapped) {
                    alignas(64) T lane[table::lanes];
                    mapped.store_aligned(lane);
                    for (T const x : lane) reduced[number_of] = statistic.combine(reduced[number_of], x);
                });
            }
            ++number_of;
        });
    }

    /// The statistic's map for the lanes that are seen, its identity for the others.
    template <class S, class Cell, class Use>
    void map_one(S const& statistic, Cell const& c, basic_site<index> const& s, mask_lanes<F> gone,
                 Use const& use) const {
        v const identity(statistic.identity());
        if constexpr (takes_lanes<S>) {
            use(xsimd::select(gone.raw, identity, statistic.map(c, s).raw));
        } else {
            alignas(64) T p[table::lanes], score[table::lanes], weight[table::lanes], mapped[table::lanes];
            alignas(64) typename F::index_type key[table::lanes], place[table::lanes];
            c.p.raw.store_aligned(p);
            c.score.raw.store_aligned(score);
            c.key_weight.raw.store_aligned(weight);
            s.key.raw.store_aligned(key);
            c.place.raw.store_aligned(place);
            index_t const query = F::first(s.query.raw);
            for (int j = 0; j < table::lanes; ++j) {
                cell<T, index_t, T> const one{p[j], score[j], weight[j], static_cast<index_t>(place[j]), c.row};
                bool const is_gone = score[j] == hidden;
                mapped[j] = is_gone ? statistic.identity()
                                    : statistic.map(one, site{s.batch, s.head, query, static_cast<index_t>(key[j])});
            }
            use(v::load_aligned(mapped));
        }
    }
    template <class G>
    static v each_lane(v a, v b, G const& g) {
        alignas(64) T x[table::lanes], y[table::lanes];
        a.store_aligned(x);
        b.store_aligned(y);
        for (int j = 0; j < table::lanes; ++j) x[j] = g(x[j], y[j]);
        return v::load_aligned(x);
    }

    /// Outputs of the tile: its strip of probabilities times the values, and the sinks' share.
    void write() {
        for (int i = 0; i < rows; ++i) {
            T const escaped = i < count_ ? facts_[i].escaped : T(0);
            for (int c = 0; c < u_->width; ++c) {
                block_.output[i * block_.output_stride + c] =
                    escaped == T(0) ? T(0) : escaped * sink_value_[i * block_.output_stride + c];
            }
            for (std::ptrdiff_t c = u_->width; c < block_.output_stride; ++c)
                block_.output[i * block_.output_stride + c] = T(0);
        }
        for (int b = 0; b < u_->key_blocks(); ++b) {
            bool any = false;
            int const first = b * table::block_panels;
            int const last = math::min(first + table::block_panels, u_->panels);
            for (int p = first; p < last; ++p) any = any || visited_[p];
            if (!any) continue;
            for (int p = first; p < last; ++p) {
                if (visited_[p])
                    clear_rows(p, count_);
                else
                    clear_rows(p, 0);
            }
            if (streaming_) u_->pack(task_->k, task_->v, b, true);
            block_.exponentials = row_of(first, 0);
            for (int g = 0; g * table::panel < u_->width; ++g) {
                int const group = group_columns<Arch, T>(u_->width, g);
                T const* const values = u_->block_values(task_->v, b, g, streaming_);
                value_task<T> const task{values, group, u_->keys_in_block(b), g * table::panel, group, 0, 1, values};
                if (u_->finite[b])
                    value_panel<Arch, T>(block_, task);
                else
                    careful_value_panel<Arch, T>(block_, task);
            }
        }
        for (int i = 0; i < count_; ++i) {
            bool const nan = facts_[i].lse != facts_[i].lse;
            write_row<Arch>(*task_, *u_, first_ + i, block_.output + i * block_.output_stride,
                            nan ? facts_[i].lse : T(1));
        }
    }
    void clear_rows(int p, int from) {
        for (int i = from; i < rows; ++i)
            for (int k = 0; k < table::panel; ++k) row_of(p, i)[k] = T(0);
    }

    Task const* task_ = nullptr;
    unit_t* u_ = nullptr;
    query_block<T> block_{};
    T *queries_ = nullptr, *strip_ = nullptr, *sink_value_ = nullptr;
    typename F::index_type* places_ = nullptr;
    bool* visited_ = nullptr;
    index_t first_ = 0;
    int count_ = 0;
    index_t positions_[rows] = {};
    row_facts<T> facts_[rows] = {};
    bool streaming_ = false;
};

} // namespace basin::detail::simd
