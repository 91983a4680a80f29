// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include <basin/backend/sycl/coarse_rows.hpp>

namespace basin::detail::device {

/// Attention for CPUs. A worker takes pieces of work (some blocks of queries of one head of one text) in turn; results do
/// not depend on how many workers there are.
template <class Task>
struct coarse_kernel {
    using A = typename Task::accumulation;
    using tuning = coarse_tuning;
    Task x;
    coarse_plan plan;
    A* work;

    void operator()(index_t worker) const {
        index_t const pieces = plan.pieces(x.where.queries, Task::by_key);
        std::ptrdiff_t const units = std::ptrdiff_t{x.where.texts()} * x.query_heads() * pieces;
        A* const mine = work + plan.scratch + worker * plan.per_worker;
        for (std::ptrdiff_t unit = worker; unit < units; unit += plan.workers) {
            text const t = x.where.at(static_cast<index_t>(unit / pieces / x.query_heads()));
            index_t const head = static_cast<index_t>(unit / pieces % x.query_heads());
            index_t const piece = static_cast<index_t>(unit % pieces);
            index_t const blocks = (t.query_end - t.query_begin + tuning::rows - 1) / tuning::rows;
            index_t const of = plan.pieces(t.query_end - t.query_begin, Task::by_key);
            if (piece >= of) continue;
            clear_sums(t, head, piece);
            for (index_t b = static_cast<index_t>(std::ptrdiff_t{piece} * blocks / of);
                 b < static_cast<index_t>((std::ptrdiff_t{piece} + 1) * blocks / of); ++b)
                rows(t, head, piece, t.query_begin + b * tuning::rows, mine);
        }
    }

    /// Where the sums of statistic number N begin for a piece of a head; group after group, all keys wide.
    template <class S>
    A* sums_at(std::size_t number, S const& asked, index_t entry, index_t head, index_t piece) const {
        std::ptrdiff_t at = plan.sums;
        x.statistics.each([&](std::size_t n, auto const& s) {
            std::ptrdiff_t const all =
                std::ptrdiff_t{x.k.extent(0)} * x.query_heads() * plan.chunks * plan.groups_of(s) * plan.keys();
            if (n < number) at += (all + 15) / 16 * 16;
        });
        return work + at +
               ((std::ptrdiff_t{entry} * x.query_heads() + head) * plan.chunks + piece) * plan.groups_of(asked) *
                   plan.keys();
    }

private:
    void clear_sums(text const& t, index_t head, index_t piece) const {
        x.statistics.each([&](auto number, auto const& s) {
            if constexpr (std::remove_cvref_t<decltype(s)>::reduced_to == axis::by_key) {
                A* const sums = sums_at(number, s, t.entry, head, piece);
                for (index_t g = 0; g < plan.groups_of(s); ++g)
                    for (index_t j = t.key_begin; j < t.key_end; ++j) sums[g * plan.keys() + j] = s.identity();
            }
        });
    }

    /// One block of queries against all keys of its text.
    void rows(text const& t, index_t head, index_t piece, index_t begin, A* mine) const {
        index_t const count = math::min(tuning::rows, t.query_end - begin);
        index_t const kv = x.key_value_head(head);
        std::ptrdiff_t const width = plan.keys();
        A *const q = mine, *const scores = mine + plan.scores, *const shares = mine + plan.shares,
                 *const seen = mine + plan.seen;
        for (index_t r = 0; r < tuning::rows; ++r)
            for (index_t c = 0; c < plan.channels; ++c)
                q[r * plan.channels + c] = r < count ? static_cast<A>(x.q(t.entry, head, begin + r, c)) : A(0);
        for (index_t b = first_block(t); b < end_block(t); ++b)
            score_block(t, head, kv, begin, count, b, q, scores, seen);

        std::ptrdiff_t const value_row = std::ptrdiff_t{t.entry} * x.value_heads() + x.value_head(head);
        A lost[tuning::rows], escaped[tuning::rows]; // lost: NaN where the row is, else 0
        for (index_t r = 0; r < count; ++r) {
            coarse_row<Task> row{x, plan, t, head, begin + r, seen, scores + r * width, shares + r * width};
            row.softmax(sink_of(t, head, r, q + r * plan.channels, mine));
            row.pairs(work + plan.norms + value_row * width, [&](std::size_t number, auto const& s) -> A* {
                if constexpr (std::remove_cvref_t<decltype(s)>::reduced_to == axis::by_key)
                    return sums_at(number, s, t.entry, head, piece) + s.groups.of(t.entry, begin + r) * width;
                else
                    return nullptr;
            });
            // An infinite value in a key with share 0 must stay unread; a lost row is lost in every channel.
            lost[r] = row.inverse == row.inverse ? A(0) : row.inverse;
            escaped[r] = row.row.escaped;
        }
        if constexpr (!Task::observing) {
            for (index_t r = count; r < tuning::rows; ++r)
                for (std::ptrdiff_t j = 0; j < width; ++j) shares[r * width + j] = 0;
            write(t, head, begin, count, value_row, lost, escaped, mine);
        }
    }

    void score_block(text const& t, index_t head, index_t kv, index_t begin, index_t count, index_t block, A const* q,
                     A* scores, A* seen) const {
        index_t const first = block * tuning::keys;
        index_t const from = math::max(first, t.key_begin), to = math::min(first + tuning::keys, t.key_end);
        coverage const covered = cover(x, t, head, begin, begin + count, from, to);
        seen[block] = covered == coverage::none ? A(0) : A(1);
        if (covered == coverage::none) return;
        std::ptrdiff_t const width = plan.keys();
        A const* const keys =
            work + plan.packed_keys +
            ((std::ptrdiff_t{t.entry} * x.k.extent(1) + kv) * plan.key_blocks + block) * plan.channels * tuning::keys;
        for (index_t r = 0; r < tuning::rows; r += tuning::strip_rows) {
            A* const to_rows = scores + r * width + first;
            for (index_t i = 0; i < tuning::strip_rows; ++i)
                for (index_t l = 0; l < tuning::keys; ++l) to_rows[i * width + l] = 0;
            for (index_t l = 0; l < tuning::keys; l += tuning::strip)
                add_product(q + r * plan.channels, plan.channels, keys + l, tuning::keys, to_rows + l, width,
                            plan.channels);
        }
        bool const listed = x.where.key_position.listed();
        index_t const start = listed ? 0 : x.where.key_at(t, first); // may be negative; used for places inside alone
        for (index_t r = 0; r < count; ++r) {
            A* const line = scores + r * width + first;
            index_t const query = x.where.query_at(t, begin + r);
            for (index_t l = 0; l < from - first; ++l) line[l] = -math::infinity<A>;
            for (index_t l = to - first; l < tuning::keys; ++l) line[l] = -math::infinity<A>;
            for (index_t l = from - first; l < to - first; ++l) {
                site const s{t.number, head, query, listed ? x.where.key_at(t, first + l) : start + l};
                A const y = facet::score(x.policy, line[l] * x.scale, s);
                line[l] = covered == coverage::all || facet::visible(x.policy, s) ? y : -math::infinity<A>;
            }
        }
    }

    A sink_of(text const& t, index_t head, index_t r, A const* q, A* mine) const {
        if constexpr (detail::has_sinks<typename Task::policy_type>) {
            auto const at = [q](index_t c) { return q[c]; };
            detail::sink_column<A, decltype(at)> sinks(at, plan.channels, x.scale, mine + plan.sinks + r * plan.values,
                                                       plan.values);
            facet::visit_sinks(x.policy, x.heads_of(t, head), sinks);
            return sinks.lse();
        } else {
            return -math::infinity<A>;
        }
    }

    void write(text const& t, index_t head, index_t begin, index_t count, std::ptrdiff_t value_row, A const* lost,
               A const* escaped, A* mine) const {
        using T = typename Task::scalar_type;
        std::ptrdiff_t const width = plan.keys();
        A const *const seen = mine + plan.seen, *const shares = mine + plan.shares;
        A* const out = mine + plan.outputs;
        for (std::ptrdiff_t i = 0; i < std::ptrdiff_t{tuning::rows} * plan.wide; ++i) out[i] = 0;
        for (index_t b = first_block(t); b < end_block(t); ++b) {
            if (seen[b] == A(0)) continue;
            std::ptrdiff_t const first = std::ptrdiff_t{b} * tuning::keys;
            A const* const values = work + plan.packed_values + (value_row * width + first) * plan.wide;
            if (work[plan.finite + value_row * plan.key_blocks + b] == A(0)) {
                guarded_product(shares + first, values, out);
                continue;
            }
            for (index_t r = 0; r < tuning::rows; r += tuning::strip_rows)
                for (index_t c = 0; c < plan.wide; c += tuning::strip)
                    add_product(shares + r * width + first, width, values + c, plan.wide, out + r * plan.wide + c,
                                plan.wide, tuning::keys);
        }
        for (index_t r = 0; r < count; ++r) {
            for (index_t c = 0; c < plan.values; ++c) {
                A y = out[r * plan.wide + c];
                if constexpr (detail::has_sinks<typename Task::policy_type>)
                    if (escaped[r] != A(0)) y += escaped[r] * mine[plan.sinks + r * plan.values + c];
                x.out(t.entry, head, begin + r, c) = static_cast<T>(lost[r] == A(0) ? y : lost[r]);
            }
        }
    }
    void guarded_product(A const* shares, A const* values, A* out) const {
        for (index_t r = 0; r < tuning::rows; ++r)
            for (index_t j = 0; j < tuning::keys; ++j) {
                A const share = shares[r * plan.keys() + j];
                if (share == A(0)) continue;
                for (index_t c = 0; c < plan.wide; ++c) out[r * plan.wide + c] += share * values[j * plan.wide + c];
            }
    }
};

/// Adds the sums of all pieces of a head, in order, to a statistic by key.
template <class Task>
struct gather_kernel {
    coarse_kernel<Task> from;

    void operator()(index_t unit) const {
        auto const& x = from.x;
        auto const& plan = from.plan;
        index_t const block = unit % plan.key_blocks, head = unit / plan.key_blocks % x.query_heads();
        text const t = x.where.at(unit / plan.key_blocks / x.query_heads());
        index_t const begin = math::max(block * coarse_tuning::keys, t.key_begin);
        index_t const end = math::min((block + 1) * coarse_tuning::keys, t.key_end);
        index_t const pieces = plan.pieces(t.query_end - t.query_begin, true);
        x.statistics.each([&](auto number, auto const& s) {
            if constexpr (std::remove_cvref_t<decltype(s)>::reduced_to == axis::by_key) {
                for (index_t piece = 0; piece < pieces; ++piece) {
                    auto const* const sums = from.sums_at(number, s, t.entry, head, piece);
                    for (index_t g = 0; g < plan.groups_of(s); ++g)
                        for (index_t j = begin; j < end; ++j) {
                            auto& slot = s.output(t.entry, head, g, j);
                            slot = s.combine(slot, sums[g * plan.keys() + j]);
                        }
                }
            }
        });
    }
};

} // namespace basin::detail::device
