// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

// The fast path: a chunk of queries of one head, in blocks of rows that walk over the keys together. Policies act on tiles that
// are covered in part; statistics that need no more than sums, maxima, counts and moments ride along.

#include "apply.hpp"
#include "chunk_arrays.hpp"
#include "columns.hpp"
#include "rows.hpp"
#include "single_row.hpp"

namespace basin::detail::simd {

/// Whether every statistic of a task and every facet of its policy has a place in the fast path.
template <class Task>
struct fast_path;
template <purpose Purpose, class S, class Policy, class... Statistics>
struct fast_path<attention_task<Purpose, S, Policy, Statistics...>> {
    static constexpr bool possible =
        Purpose == purpose::attend && !has_weight<Policy> && ((fused_form<Statistics> != fused_as::none) && ...);
    static constexpr bool moment = ((fused_form<Statistics> == fused_as::moment) || ...);
    static constexpr bool columns = (is_column<Statistics> || ...);
};

template <class Task, class Arch>
class chunk_runner : chunk_arrays<typename Task::accumulation, Arch> {
    using T = typename Task::accumulation;
    using table = tiles<T, Arch>;
    using v = vec<T, Arch>;
    using unit_t = unit<Task, Arch>;
    static constexpr bool moment = fast_path<Task>::moment;
    static constexpr bool keeps = fast_path<Task>::columns; // exponentials are kept for statistics by key
    static constexpr bool sinks = has_sinks<typename Task::policy_type>;
    static constexpr int block_rows = table::block_rows, block_tiles = table::block_tiles;

    using arrays = chunk_arrays<T, Arch>;
    using arrays::block_, arrays::queries_, arrays::strip_, arrays::marks_, arrays::scratch_, arrays::sink_,
        arrays::escaped_;
    using arrays::inverse_, arrays::final_, arrays::weights_, arrays::positions_, arrays::pending_;
    using typename arrays::row_range;

public:
    void carve(arena<Arch>& a, Task const& task, index_t most_keys, index_t most_queries, int width) {
        arrays::carve(a, {most_keys, most_queries, static_cast<int>(task.q.extent(3)), width, keeps, moment, sinks});
    }

    column_set<Task, Arch> columns;

    /// Queries [begin, end) of memory against the keys of u.
    [[gnu::noinline]] void run(Task const& task, unit_t& u, index_t begin, index_t end, bool streaming) {
        task_ = &task;
        u_ = &u;
        streaming_ = streaming;
        if constexpr (keeps) {
            columns.start(task, u.slots);
            for (int p = 0; p < u.panels; ++p) pending_[p] = {0, 0};
        }
        for (index_t first = begin; first < end; first += block_rows) {
            start(first, static_cast<int>(math::min(index_t{block_rows}, end - first)));
            for (int b = 0; b < u.key_blocks(); ++b) walk(b);
            if constexpr (keeps) {
                if (first != begin) columns.flush(u.slots);
            }
            finish();
        }
        if constexpr (keeps) {
            for (int p = 0; p < u.panels; ++p) sweep_rest(p);
            columns.flush(u.slots);
        }
    }

private:
    void start(index_t first, int rows) {
        first_ = first;
        rows_ = rows;
        tiles_ = (rows + table::rows - 1) / table::rows;
        row_source<typename Task::scalar_type> const from{&task_->q(u_->t.entry, u_->head, 0, 0), task_->q.stride(2),
                                                          task_->q.stride(3), nullptr};
        pack_queries<Arch, T>(from, first, rows, u_->depth, typename unit_t::loader{}, queries_);
        for (int i = 0; i < tiles_ * table::rows; ++i)
            positions_[i] = task_->where.query_at(u_->t, first + (i < rows ? i : rows - 1));
        start_block<Arch, T>(block_, rows);
        if (single()) {
            for (int i = 0; i < table::rows * table::panel; ++i) scratch_[i] = T(0);
        }
        if constexpr (sinks) start_sinks();
    }

    /// A row's sinks are its first exponential, with their mean value as its value.
    void start_sinks() {
        for (int i = 0; i < tiles_ * table::rows; ++i) {
            T* const value = block_.output + i * block_.output_stride;
            sink_[i] = sinks_of<Arch>(*task_, *u_, first_ + (i < rows_ ? i : rows_ - 1), value);
            // Not a number to reckon with: the row starts without it, and finish() has the last word.
            bool const usable = sink_[i] > -math::infinity<T> && sink_[i] < math::infinity<T>;
            T const log2 = usable ? sink_[i] * T(1.4426950408889634) : T(0);
            T const reference = std::ceil(log2);
            T const sum = usable ? std::exp2(log2 - reference) : T(0);
            block_.reference[i] = reference;
            block_.sums[std::ptrdiff_t{i} * table::lanes] = sum;
            for (int c = 0; c < u_->width; ++c) value[c] = sum == T(0) ? T(0) : value[c] * sum;
            if (i % table::rows == 0) block_.states[i / table::rows] = tile_state::shifted;
            if (!usable) block_.states[i / table::rows] = tile_state::fresh;
        }
    }

    /// All rows against one key block.
    void walk(int b) {
        int const first = b * table::block_panels;
        int const last = math::min(first + table::block_panels, u_->panels);
        if (streaming_) u_->pack(task_->k, task_->v, b, true, single());
        block_.exponentials = keeps ? strip_ + first * block_.panel_stride : strip_;
        block_.marks = keeps ? marks_ + std::ptrdiff_t{first} * block_rows : nullptr;
        coverage const seen = facet::cover_unhidden(task_->policy, span(*u_, positions_, rows_, first, last));
        if (seen == coverage::none) {
            if constexpr (keeps) {
                for (int p = first; p < last; ++p) sweep_rest(p);
            }
            return;
        }
        int begin = 0, end = tiles_;
        if (seen == coverage::all && !unit_t::scores_change && !single()) {
            for (int p = first; p < last; ++p) score_all(p, first);
        } else {
            score_tiles(first, last, seen, begin, end);
            if (begin == end) return;
        }
        u_->add_values(task_->v, block_, b, begin, end, streaming_, single());
    }

    /// One query: the other rows of its tile are not computed, and have score 0 throughout.
    bool single() const { return rows_ == 1; }
    bool counts() const {
        if constexpr (keeps)
            return columns.counts();
        else
            return false;
    }
    score_task<T> task_of(int p, int first) const {
        int const next = p + 1 < u_->panels ? p + 1 : 0;
        return {queries_, u_->panel_keys(p, streaming_),    u_->padded_depth, p - first, u_->keys_in_panel(p), 0,
                tiles_,   u_->panel_keys(next, streaming_), nullptr,          nullptr};
    }

    /// Every row sees every key of the panel: exponentials straight from the registers.
    void score_all(int p, int first) {
        score_task<T> task = task_of(p, first);
        if constexpr (keeps) {
            row_range const old = pending_[p];
            if (counts()) columns.count_all(p, task.keys_in_panel, 0, rows_, u_->t.entry, first_);
            if (old.end > old.begin) {
                find_weights(p);
                // The fused sweep takes whole tiles of this block; what the last block had beyond them is swept apart.
                bool const fused = columns.plain() && !spoiled_ && old.begin == 0 && old.end >= tiles_ * table::rows;
                int const swept = fused ? tiles_ * table::rows : 0;
                if (columns.others()) sweep(p, old.begin, old.end, false);
                if (columns.plain() && old.end > math::max(swept, old.begin))
                    sweep_plain(p, math::max(swept, old.begin), old.end);
                if (fused) {
                    task.sweep_weights = weights_;
                    task.column_sums = columns.plain_sums(p);
                    fused_panel<Arch, true, moment, T>(block_, task);
                    pending_[p] = {0, tiles_ * table::rows};
                    return;
                }
            }
            pending_[p] = {0, tiles_ * table::rows};
        }
        fused_panel<Arch, false, moment, T>(block_, task);
    }

    /// Some rows see some keys, or scores are to be changed. Finds the tiles [begin, end) that see anything in the block.
    void score_tiles(int first, int last, coverage whole, int& begin, int& end) {
        coverage seen[table::block_panels][block_tiles];
        begin = tiles_;
        end = 0;
        for (int p = first; p < last; ++p) {
            for (int t = 0; t < tiles_; ++t) {
                coverage& c = seen[p - first][t];
                int const rows = math::min(static_cast<int>(table::rows), rows_ - t * table::rows);
                c = whole == coverage::all
                        ? whole
                        : facet::cover_unhidden(task_->policy, span(*u_, positions_ + t * table::rows, rows, p, p + 1));
                if (c == coverage::none) continue;
                begin = math::min(begin, t);
                end = math::max(end, t + 1);
            }
        }
        if (begin > end) begin = end = 0;
        for (int p = first; p < last; ++p) {
            if constexpr (keeps) {
                sweep_rest(p);
                pending_[p] = {begin * table::rows, end * table::rows};
            }
            score_task<T> task = task_of(p, first);
            for (int t = begin; t < end; ++t) score_tile(task, p, first, t, seen[p - first][t]);
        }
    }

    void score_tile(score_task<T>& task, int p, int first, int t, coverage seen) {
        int const vectors = (task.keys_in_panel + table::lanes - 1) / table::lanes;
        int const row = t * table::rows;
        if (seen == coverage::none) {
            clear_tile<Arch, T>(block_, {t, p - first, 0}, vectors);
        } else if (seen == coverage::all && !unit_t::scores_change && !single()) {
            task.tile_begin = t;
            task.tile_end = t + 1;
            if constexpr (keeps) {
                if (counts())
                    columns.count_all(p, task.keys_in_panel, row, math::min(row + table::rows, rows_), u_->t.entry,
                                      first_);
            }
            fused_panel<Arch, false, moment, T>(block_, task);
        } else {
            if (single())
                raw_row<Arch, T>(task, scratch_);
            else
                raw_panel<Arch, false, T>(block_, task, t, scratch_);
            if (seen == coverage::some || unit_t::scores_change)
                apply_policy<Arch>(*task_, *u_, p, positions_ + row, seen == coverage::some, scratch_);
            if constexpr (keeps) {
                if (counts())
                    columns.count_scores(p, vectors, row, math::min(row + table::rows, rows_), scratch_, u_->t.entry,
                                         first_);
            }
            finish_panel<Arch, moment, T>(block_, t, p - first, task.keys_in_panel, scratch_);
        }
    }

    void find_weights(int p) {
        sweep_weights<Arch, T>(marks_ + std::ptrdiff_t{p} * block_rows, final_, inverse_, pending_[p].end, weights_);
    }
    void sweep(int p, int begin, int end, bool all) {
        int const vectors = (u_->keys_in_panel(p) + table::lanes - 1) / table::lanes;
        columns.sweep(p, strip_ + p * block_.panel_stride, weights_, begin, end, vectors, all);
    }
    void sweep_plain(int p, int begin, int end) {
        int const vectors = (u_->keys_in_panel(p) + table::lanes - 1) / table::lanes;
        sweep_sums<Arch, T>(strip_ + p * block_.panel_stride + std::ptrdiff_t{begin} * table::panel, weights_ + begin,
                            nullptr, end - begin, vectors, columns.plain_sums(p));
    }
    /// What the last block left in a panel that this one does not fuse with.
    [[gnu::noinline]] void sweep_rest(int p) {
        row_range const old = pending_[p];
        if (old.end > old.begin) {
            find_weights(p);
            sweep(p, old.begin, old.end, true);
        }
        pending_[p] = {0, 0};
    }

    /// Sums are final: outputs, statistics by query, and the weights with which the exponentials become probabilities.
    void finish() {
        if constexpr (keeps) {
            columns.next_block(u_->t.entry, first_, rows_);
            spoiled_ = false;
        }
        row_results<T, Arch> r;
        total_rows<Arch, moment, T>(block_, rows_, r);
        if constexpr (sinks) {
            for (int i = 0; i < rows_; ++i) settle_sink(i, r);
        }
        for (int i = 0; i < rows_; ++i) {
            write_row<Arch>(*task_, *u_, first_ + i, block_.output + i * block_.output_stride, r.inverse[i]);
            if (r.inverse[i] == T(0)) settle_row(i);
        }
        store_rows(r);
        if constexpr (keeps) {
            bool known = true;
            for (int i = 0; i < block_rows; i += table::lanes) { // beyond the last row both are 0
                v const inverse = i < rows_ ? v::load_aligned(r.inverse + i) : v(T(0));
                v const reference = i < rows_ ? v::load_aligned(block_.reference + i) : v(T(0));
                inverse.store_aligned(inverse_ + i);
                reference.store_aligned(final_ + i);
                known = known && xsimd::all(inverse == inverse);
            }
            for (int i = 0; i < rows_ && !known; ++i) {
                if (inverse_[i] == inverse_[i]) continue;
                spoil(i);
                inverse_[i] = T(0);
            }
        }
    }

    void store_rows(row_results<T, Arch> const& r) const {
        [[maybe_unused]] T const* const escaped = escaped_; // g++ 12 does not find it inside
        task_->for_each_statistic([&](auto const& s) {
            using S = std::remove_cvref_t<decltype(s)>;
            if constexpr (S::reduced_to == axis::by_query) {
                for (int i = 0; i < rows_; ++i) {
                    row_facts<T> facts;
                    facts.lse = r.lse[i];
                    if constexpr (sinks) facts.escaped = escaped[i];
                    T const reduced = fused_form<S> == fused_as::moment ? r.spread[i] : T(s.identity());
                    store_row(s, u_->t.entry, u_->head, first_ + i, reduced, facts);
                }
            }
        });
    }

    /// What the sinks of a row change.
    void settle_sink(int i, row_results<T, Arch>& r) {
        escaped_[i] = T(0);
        if (sink_[i] == -math::infinity<T>) return;
        if (sink_[i] == math::infinity<T>) {
            r.lse[i] = sink_[i];
            escaped_[i] = T(1);
            r.inverse[i] = T(0);
        } else if (sink_[i] != sink_[i]) {
            r.lse[i] = escaped_[i] = r.inverse[i] = sink_[i];
        } else {
            // From the row's own sum, not from its lse: the logarithm of a large sum has few digits behind the point.
            T const share = std::exp2(sink_[i] * T(log2e) - block_.reference[i]) * r.inverse[i];
            escaped_[i] = math::min(share, T(1)); // in this order: NaN stays
            if (escaped_[i] == T(1)) r.lse[i] = sink_[i];
        }
        if constexpr (moment) {
            T const inverse = r.inverse[i], escaped = escaped_[i];
            // A reference that rose moved the moments by the whole sum, of which the sinks are no part.
            T const early = escaped > T(0) ? escaped * (block_.reference[i] - std::ceil(sink_[i] * T(log2e))) : T(0);
            T const spread = (r.log2[i] * (T(1) - escaped) - r.moment[i] * inverse - early) * T(0.69314718055994530942);
            r.spread[i] = inverse == T(0) || spread < T(0) ? T(0) : spread;
        }
    }
    /// No key has a share: zero exactly, whatever the row has gathered (0 x NaN is not), or the value of the sinks that took all.
    void settle_row(int i) {
        index_t const query = first_ + i;
        T* const value = block_.output + i * block_.output_stride;
        for (index_t c = 0; c < u_->width; ++c) value[c] = T(0);
        if constexpr (sinks) {
            if (sink_[i] == math::infinity<T>) sinks_of<Arch>(*task_, *u_, query, value);
        }
        write_row<Arch>(*task_, *u_, query, value, T(1));
        spoiled_ = true; // its exponentials may be NaN, which the fused sweep would multiply by 0
    }
    /// The fused sweep would multiply this row's NaN by its weight 0.
    void spoil(int row) {
        spoiled_ = true;
        auto const sees = [&](std::ptrdiff_t slot) {
            site const s{u_->t.number, u_->head, positions_[row], static_cast<index_t>(u_->positions[slot])};
            if (!facet::visible(task_->policy, s)) return false;
            T dot = 0;
            index_t const key = u_->t.key_begin + u_->place(static_cast<index_t>(slot));
            for (index_t c = 0; c < task_->q.extent(3); ++c) {
                dot += static_cast<T>(task_->q(u_->t.entry, u_->head, first_ + row, c)) *
                       static_cast<T>(task_->k(u_->t.entry, u_->kv, key, c));
            }
            return facet::score(task_->policy, dot * task_->scale, s) != -math::infinity<T>;
        };
        for (int p = 0; p < u_->panels; ++p) {
            if (pending_[p].begin <= row && row < pending_[p].end)
                columns.spoil(p, u_->keys_in_panel(p), u_->t.entry, first_ + row, sees);
        }
    }

    Task const* task_ = nullptr;
    unit_t* u_ = nullptr;
    index_t first_ = 0;
    int rows_ = 0, tiles_ = 0;
    bool streaming_ = false, spoiled_ = false;
};

} // namespace basin::detail::simd
