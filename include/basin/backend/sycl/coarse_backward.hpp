// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include <basin/backend/sycl/backward.hpp>
#include <basin/backend/sycl/coarse_rows.hpp>

// The backward pass for CPUs: the two sweeps of backward.hpp, in blocks, with the forward pass's loops over neighbours in
// memory. The first takes 16 queries and all keys, the second 64 keys and all queries; both compute scores again.
namespace basin::detail::device {

/// Where the workspace keeps what; offsets count numbers of the accumulation type.
struct backward_plan {
    using tuning = coarse_tuning;
    static constexpr index_t block = tuning::keys;
    index_t channels = 0, values = 0, wide_channels = 0, wide_values = 0; // wide: rounded up to whole strips
    index_t key_blocks = 0, workers = 1;
    // by head and block of keys: keys and values channel by channel, keys row by row, whether those are finite
    std::ptrdiff_t keys_across = 0, values_across = 0, keys_along = 0, finite = 0, centres = 0;
    std::ptrdiff_t scratch = 0, per_worker = 0, total = 0;
    // inside a worker's part
    std::ptrdiff_t queries = 0, d_outs = 0, before = 0, shares = 0, slopes = 0, weights = 0, d_keys = 0, d_values = 0;

    template <class Task>
    static backward_plan of(Task const& x, index_t workers) {
        auto const wide = [](index_t n) { return (n + tuning::strip - 1) / tuning::strip * tuning::strip; };
        backward_plan p;
        p.workers = workers;
        p.channels = x.q.extent(3);
        p.values = x.v.extent(3);
        p.wide_channels = wide(p.channels);
        p.wide_values = wide(p.values);
        p.key_blocks = (x.k.extent(2) + block - 1) / block;
        std::ptrdiff_t at = 0;
        auto const take = [&](std::ptrdiff_t n) {
            std::ptrdiff_t const begin = at;
            at += (n + 15) / 16 * 16;
            return begin;
        };
        std::ptrdiff_t const heads = std::ptrdiff_t{x.k.extent(0)} * x.k.extent(1),
                             all_heads = std::ptrdiff_t{x.k.extent(0)} * x.query_heads(), keys = p.width();
        p.keys_across = take(heads * keys * p.channels);
        p.keys_along = take(heads * keys * p.wide_channels);
        p.finite = take(heads * p.key_blocks);
        p.values_across = take(all_heads * keys * p.values);
        p.centres = take(all_heads * x.q.extent(2));
        p.scratch = at;
        at = 0;
        std::ptrdiff_t const pairs = math::max(tuning::rows * keys, std::ptrdiff_t{block} * block);
        p.queries = take(std::ptrdiff_t{block} * p.wide_channels);
        p.d_outs = take(std::ptrdiff_t{block} * p.wide_values);
        p.before = take(pairs);
        p.shares = take(pairs);
        p.slopes = take(pairs);
        p.weights = has_weight<typename Task::policy_type> ? take(pairs) : p.shares;
        p.d_keys = take(std::ptrdiff_t{block} * p.wide_channels);
        p.d_values = take(std::ptrdiff_t{block} * p.wide_values);
        p.per_worker = at;
        p.total = p.scratch + std::ptrdiff_t{workers} * at;
        return p;
    }
    std::ptrdiff_t width() const { return std::ptrdiff_t{key_blocks} * block; }
};

/// What the sweeps share: a block of pairs.
template <class Task>
struct coarse_pairs {
    using A = typename Task::accumulation;
    using tuning = coarse_tuning;
    static constexpr index_t block = backward_plan::block;
    backward_math<Task> math;
    backward_plan plan;
    A* work;

    /// Rows of q and d_out in the worker's part; those beyond `count` become 0. Says whether all of them are finite.
    bool load(text const& t, index_t head, index_t begin, index_t count, index_t rows, A* mine) const {
        auto const& x = math.x;
        using lanes = pack<A>;
        typename lanes::type off{}, piece; // 0 times a number that is not finite is not 0
        auto const copy = [&](auto const& from, A* to, index_t columns, index_t wide) {
            for (index_t r = 0; r < rows; ++r) {
                A* const line = to + r * wide;
                index_t const there = r < count ? columns : 0;
                for (index_t c = 0; c < there; ++c) line[c] = static_cast<A>(from(t.entry, head, begin + r, c));
                for (index_t c = there; c < wide; ++c) line[c] = 0;
                for (index_t c = 0; c < wide; c += lanes::size) {
                    lanes::load(piece, line + c);
                    off += piece * A(0);
                }
            }
        };
        copy(x.q, mine + plan.queries, plan.channels, plan.wide_channels);
        copy(x.d_out, mine + plan.d_outs, plan.values, plan.wide_values);
        A all = 0;
        for (index_t l = 0; l < lanes::size; ++l) all += off[l];
        return all == A(0);
    }

    /// Probabilities, their gradients and scores of `rows` queries against one block of keys; 0 where nothing is seen.
    /// `column`: where the block begins in lines of `width` numbers. False: the policy hides all of it.
    bool pairs(text const& t, index_t head, index_t begin, index_t count, index_t rows, index_t number,
               std::ptrdiff_t column, std::ptrdiff_t width, A* mine) const {
        auto const& x = math.x;
        index_t const first = number * block, from = math::max(first, t.key_begin),
                      to = math::min(first + block, t.key_end);
        coverage const covered = cover(x, t, head, begin, begin + count, from, to);
        if (covered == coverage::none) return false;
        A const *const keys = work + plan.keys_across + (key_row(t, head) + number) * block * plan.channels,
                       *const values = work + plan.values_across + (value_row(t, head) + number) * block * plan.values;
        A *const dots = mine + plan.before + column, *const slopes = mine + plan.slopes + column;
        for (index_t r = 0; r < rows; ++r)
            for (index_t l = 0; l < block; ++l) dots[r * width + l] = slopes[r * width + l] = 0;
        for (index_t r = 0; r < rows; r += tuning::strip_rows)
            for (index_t l = 0; l < block; l += tuning::strip) {
                add_product(mine + plan.queries + r * plan.wide_channels, plan.wide_channels, keys + l, block,
                            dots + r * width + l, width, plan.channels);
                add_product(mine + plan.d_outs + r * plan.wide_values, plan.wide_values, values + l, block,
                            slopes + r * width + l, width, plan.values);
            }
        for (index_t r = 0; r < rows; ++r) {
            A const lse = r < count ? x.lse(t.entry, head, 0, begin + r) : math.hidden;
            row_of_pairs(t, head, begin + r, first, lse == math.hidden ? to : from, to, covered, lse,
                         column + r * width, mine);
        }
        return true;
    }

    /// Slopes become the gradients of scores before scale and policy.
    void score_slopes(text const& t, index_t head, index_t query, index_t number, A centre, std::ptrdiff_t line,
                      A* mine) const {
        auto const& x = math.x;
        A const *const dots = mine + plan.before + line, *const shares = mine + plan.shares + line;
        A* const slopes = mine + plan.slopes + line;
        index_t const first = number * block;
        A next[block];
        ignore_sums none;
        each_site(t, head, query, first, math::max(first, t.key_begin), math::min(first + block, t.key_end), next,
                  [&](index_t l, site const& s) {
                      A const d =
                          x.scale * facet::score_pullback(x.policy, dots[l], shares[l] * (slopes[l] + centre), s, none);
                      return shares[l] == A(0) ? A(0) : d;
                  });
        for (index_t l = 0; l < block; ++l) slopes[l] = next[l];
    }

    std::ptrdiff_t key_row(text const& t, index_t head) const {
        return (std::ptrdiff_t{t.entry} * math.x.k.extent(1) + math.x.key_value_head(head)) * plan.key_blocks;
    }
    std::ptrdiff_t value_row(text const& t, index_t head) const {
        return (std::ptrdiff_t{t.entry} * math.x.query_heads() + head) * plan.key_blocks;
    }
    A* centre(text const& t, index_t head, index_t query) const {
        return work + plan.centres + (std::ptrdiff_t{t.entry} * math.x.query_heads() + head) * math.x.q.extent(2) +
               query;
    }

private:
    /// f(place in the block, site) for every key in [from, to); the others are 0.
    template <class F>
    void each_site(text const& t, index_t head, index_t query, index_t first, index_t from, index_t to,
                   A (&into)[block], F const& f) const {
        auto const& where = math.x.where;
        index_t const query_position =
            where.query_at(t, query < t.query_end ? query : t.query_begin); // rows of padding
        for (index_t l = 0; l < block; ++l) into[l] = 0;
        if (where.key_position.listed()) {
            for (index_t l = from - first; l < to - first; ++l)
                into[l] = f(l, site{t.number, head, query_position, where.key_at(t, first + l)});
        } else {
            index_t const start = where.key_at(t, first);
            for (index_t l = from - first; l < to - first; ++l)
                into[l] = f(l, site{t.number, head, query_position, start + l});
        }
    }
    void row_of_pairs(text const& t, index_t head, index_t query, index_t first, index_t from, index_t to,
                      coverage covered, A lse, std::ptrdiff_t line, A* mine) const {
        auto const& x = math.x;
        A *const dots = mine + plan.before + line, *const shares = mine + plan.shares + line,
                 *const slopes = mine + plan.slopes + line, *const weights = mine + plan.weights + line;
        A scaled[block], logs[block], part[block], next[block];
        bool seen[block]; // known apart: a row that is NaN says nothing
        for (index_t l = 0; l < block; ++l) scaled[l] = dots[l] * x.scale;
        each_site(t, head, query, first, from, to, logs, [&](index_t l, site const& s) {
            A const y = facet::score(x.policy, scaled[l], s);
            return covered == coverage::all || facet::visible(x.policy, s) ? y : math.hidden;
        });
        for (index_t l = 0; l < block; ++l) {
            seen[l] = first + l >= from && first + l < to && logs[l] != math.hidden;
            logs[l] -= lse;
            part[l] = seen[l] ? exp_in_loop(logs[l]) : A(0);
            scaled[l] = seen[l] ? scaled[l] : A(0);
        }
        A const spread = x.entropy_gradient(t.entry, head, query < t.query_end ? query : t.query_begin);
        each_site(t, head, query, first, from, to, next, [&](index_t l, site const& s) {
            A d = facet::weight_pullback(x.policy, part[l], slopes[l], s);
            if constexpr (Task::through_received) d += x.received_gradient(t.entry, head, query, first + l);
            if constexpr (Task::through_entropy) d -= spread * (logs[l] + A(1));
            return part[l] == A(0) ? A(0) : d; // a share of nothing is nothing, of an infinite value too
        });
        if constexpr (has_weight<typename Task::policy_type>) {
            A weighed[block];
            each_site(t, head, query, first, from, to, weighed,
                      [&](index_t l, site const& s) { return seen[l] ? facet::weight(x.policy, part[l], s) : A(0); });
            for (index_t l = 0; l < block; ++l) weights[l] = weighed[l];
        }
        for (index_t l = 0; l < block; ++l) {
            dots[l] = scaled[l];
            shares[l] = part[l];
            slopes[l] = next[l];
        }
    }
};

/// Packs one block of keys of one query head.
template <class Task>
struct backward_pack_kernel {
    using A = typename Task::accumulation;
    coarse_pairs<Task> of;

    void operator()(index_t unit) const {
        auto const& x = of.math.x;
        auto const& plan = of.plan;
        index_t const block = unit % plan.key_blocks, head = unit / plan.key_blocks % x.query_heads(),
                      entry = unit / plan.key_blocks / x.query_heads(), kv = x.key_value_head(head);
        std::ptrdiff_t const row = (std::ptrdiff_t{entry} * x.k.extent(1) + kv) * plan.key_blocks + block,
                             value_row = (std::ptrdiff_t{entry} * x.query_heads() + head) * plan.key_blocks + block;
        constexpr index_t keys = backward_plan::block;
        A* const across = of.work + plan.keys_across + row * keys * plan.channels;
        A* const along = of.work + plan.keys_along + row * keys * plan.wide_channels;
        A* const values = of.work + plan.values_across + value_row * keys * plan.values;
        A off = 0;
        for (index_t l = 0; l < keys; ++l) {
            index_t const key = block * keys + l;
            text t{};
            bool const real = key < x.k.extent(2) && find_text_of_key(x.where, entry, key, t);
            for (index_t c = 0; head % x.group_size() == 0 && c < plan.wide_channels; ++c) {
                A const y = real && c < plan.channels ? static_cast<A>(x.k(entry, kv, key, c)) : A(0);
                along[l * plan.wide_channels + c] = y;
                if (c < plan.channels) across[c * keys + l] = y;
                off += y * A(0);
            }
            for (index_t c = 0; c < plan.values; ++c)
                values[c * keys + l] = real ? facet::value(x.policy, static_cast<A>(x.v(entry, kv, key, c)),
                                                           value_site{t.number, head, x.where.key_at(t, key), c})
                                            : A(0);
        }
        if (head % x.group_size() == 0) of.work[plan.finite + row] = off == A(0) ? A(1) : A(0);
    }
};

/// The first sweep: centres of rows, and the gradients of queries.
template <class Task>
struct coarse_backward_rows_kernel {
    using A = typename Task::accumulation;
    using tuning = coarse_tuning;
    coarse_pairs<Task> of;

    void operator()(index_t worker) const {
        auto const& x = of.math.x;
        index_t const blocks = (x.where.queries + tuning::rows - 1) / tuning::rows;
        std::ptrdiff_t const units = std::ptrdiff_t{x.where.texts()} * x.query_heads() * blocks;
        A* const mine = of.work + of.plan.scratch + worker * of.plan.per_worker;
        for (std::ptrdiff_t unit = worker; unit < units; unit += of.plan.workers) {
            text const t = x.where.at(static_cast<index_t>(unit / blocks / x.query_heads()));
            index_t const begin = t.query_begin + static_cast<index_t>(unit % blocks) * tuning::rows;
            if (begin < t.query_end) rows(t, static_cast<index_t>(unit / blocks % x.query_heads()), begin, mine);
        }
    }

private:
    void rows(text const& t, index_t head, index_t begin, A* mine) const {
        auto const& x = of.math.x;
        auto const& plan = of.plan;
        index_t const count = math::min(tuning::rows, t.query_end - begin);
        std::ptrdiff_t const width = plan.width();
        of.load(t, head, begin, count, tuning::rows, mine);
        A sums[tuning::rows] = {};
        for (index_t b = first_block(t); b < end_block(t); ++b) {
            std::ptrdiff_t const column = std::ptrdiff_t{b} * backward_plan::block;
            bool const seen = of.pairs(t, head, begin, count, tuning::rows, b, column, width, mine);
            for (index_t r = 0; r < tuning::rows; ++r) {
                A *const p = mine + plan.shares + r * width + column, *const d =
                                                                          mine + plan.slopes + r * width + column;
                for (index_t l = 0; l < backward_plan::block; ++l) p[l] = seen ? p[l] : A(0), d[l] = seen ? d[l] : A(0);
                for (index_t l = 0; l < backward_plan::block; ++l) sums[r] += p[l] * d[l];
            }
        }
        A* const d_queries = mine + plan.d_keys;
        for (std::ptrdiff_t i = 0; i < std::ptrdiff_t{tuning::rows} * plan.wide_channels; ++i) d_queries[i] = 0;
        ignore_sums none;
        for (index_t r = 0; r < count; ++r) {
            A const lse = x.lse(t.entry, head, 0, begin + r);
            A const centre = lse == of.math.hidden ? A(0) : of.math.centre_of(t, head, begin + r, lse, sums[r], none);
            *of.centre(t, head, begin + r) = centre;
            for (index_t b = first_block(t); b < end_block(t); ++b)
                of.score_slopes(t, head, begin + r, b, centre, r * width + std::ptrdiff_t{b} * backward_plan::block,
                                mine);
        }
        for (index_t b = first_block(t); b < end_block(t); ++b) add_block(t, head, b, mine, d_queries);
        for (index_t r = 0; r < count; ++r)
            for (index_t c = 0; c < plan.channels; ++c)
                x.d_q(t.entry, head, begin + r, c) += d_queries[r * plan.wide_channels + c];
    }
    void add_block(text const& t, index_t head, index_t b, A const* mine, A* d_queries) const {
        auto const& plan = of.plan;
        std::ptrdiff_t const width = plan.width(), row = of.key_row(t, head) + b;
        A const* const slopes = mine + plan.slopes + std::ptrdiff_t{b} * backward_plan::block;
        A const* const keys = of.work + plan.keys_along + row * backward_plan::block * plan.wide_channels;
        if (of.work[plan.finite + row] != A(0)) {
            for (index_t r = 0; r < tuning::rows; r += tuning::strip_rows)
                for (index_t c = 0; c < plan.wide_channels; c += tuning::strip)
                    add_product(slopes + r * width, width, keys + c, plan.wide_channels,
                                d_queries + r * plan.wide_channels + c, plan.wide_channels, backward_plan::block);
            return;
        }
        for (index_t r = 0; r < tuning::rows; ++r)
            for (index_t l = 0; l < backward_plan::block; ++l) {
                A const d = slopes[r * width + l];
                for (index_t c = 0; d != A(0) && c < plan.wide_channels; ++c)
                    d_queries[r * plan.wide_channels + c] += d * keys[l * plan.wide_channels + c];
            }
    }
};

/// The second sweep: the gradients of keys and values, from all queries of the heads that share them.
template <class Task>
struct coarse_backward_keys_kernel {
    using A = typename Task::accumulation;
    using tuning = coarse_tuning;
    static constexpr index_t block = backward_plan::block;
    coarse_pairs<Task> of;

    void operator()(index_t worker) const {
        auto const& x = of.math.x;
        index_t const blocks = of.plan.key_blocks, heads = x.k.extent(1);
        std::ptrdiff_t const units = std::ptrdiff_t{x.where.texts()} * heads * blocks;
        A* const mine = of.work + of.plan.scratch + worker * of.plan.per_worker;
        for (std::ptrdiff_t unit = worker; unit < units; unit += of.plan.workers) {
            text const t = x.where.at(static_cast<index_t>(unit / blocks / heads));
            index_t const b = static_cast<index_t>(unit % blocks);
            if (b >= first_block(t) && b < end_block(t)) keys(t, static_cast<index_t>(unit / blocks % heads), b, mine);
        }
    }

private:
    void keys(text const& t, index_t kv, index_t b, A* mine) const {
        auto const& x = of.math.x;
        auto const& plan = of.plan;
        A *const d_keys = mine + plan.d_keys, *const d_values = mine + plan.d_values;
        index_t const from = math::max(b * block, t.key_begin), to = math::min((b + 1) * block, t.key_end);
        for (std::ptrdiff_t i = 0; i < std::ptrdiff_t{block} * plan.wide_channels; ++i) d_keys[i] = 0;
        for (index_t head = kv * x.group_size(); head < (kv + 1) * x.group_size(); ++head) {
            for (std::ptrdiff_t i = 0; i < std::ptrdiff_t{block} * plan.wide_values; ++i) d_values[i] = 0;
            for (index_t begin = t.query_begin; begin < t.query_end; begin += block) queries(t, head, begin, b, mine);
            for (index_t key = from; key < to; ++key)
                for (index_t c = 0; c < plan.values; ++c)
                    x.d_v(t.entry, kv, key, c) +=
                        facet::value_pullback(x.policy, static_cast<A>(x.v(t.entry, kv, key, c)),
                                              d_values[(key - b * block) * plan.wide_values + c],
                                              value_site{t.number, head, x.where.key_at(t, key), c});
        }
        for (index_t key = from; key < to; ++key)
            for (index_t c = 0; c < plan.channels; ++c)
                x.d_k(t.entry, kv, key, c) += d_keys[(key - b * block) * plan.wide_channels + c];
    }
    void queries(text const& t, index_t head, index_t begin, index_t b, A* mine) const {
        auto const& plan = of.plan;
        index_t const count = math::min(block, t.query_end - begin),
                      rows = (count + tuning::strip_rows - 1) / tuning::strip_rows * tuning::strip_rows;
        bool const finite = of.load(t, head, begin, count, rows, mine);
        if (!of.pairs(t, head, begin, count, rows, b, 0, block, mine)) return;
        for (index_t r = 0; r < count; ++r)
            of.score_slopes(t, head, begin + r, b, *of.centre(t, head, begin + r), std::ptrdiff_t{r} * block, mine);
        add(mine + plan.slopes, mine + plan.queries, plan.wide_channels, mine + plan.d_keys, count, finite);
        add(mine + plan.weights, mine + plan.d_outs, plan.wide_values, mine + plan.d_values, count, finite);
    }
    /// into += pairs^T rows
    static void add(A const* pairs, A const* rows, index_t wide, A* into, index_t count, bool finite) {
        for (index_t l = 0; finite && l < block; l += tuning::strip_rows)
            for (index_t c = 0; c < wide; c += tuning::strip)
                add_product<true>(pairs + l, block, rows + c, wide, into + l * wide + c, wide, count);
        for (index_t r = 0; !finite && r < count; ++r)
            for (index_t l = 0; l < block; ++l) {
                A const y = pairs[r * block + l];
                for (index_t c = 0; y != A(0) && c < wide; ++c) into[l * wide + c] += y * rows[r * wide + c];
            }
    }
};

template <class Go, class Task>
void launch_coarse_backward(Go& go, backward_math<Task> const& math, backward_plan const& plan,
                            typename Task::accumulation* work) {
    coarse_pairs<Task> const of{math, plan, work};
    go.numbers(backward_pack_kernel<Task>{of},
               std::ptrdiff_t{math.x.k.extent(0)} * math.x.query_heads() * plan.key_blocks, 1);
    go.numbers(coarse_backward_rows_kernel<Task>{of}, plan.workers, 1);
    go.numbers(coarse_backward_keys_kernel<Task>{of}, plan.workers, 1);
}

} // namespace basin::detail::device
