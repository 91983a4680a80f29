// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include <basin/backend/sycl/device_task.hpp>
#include <basin/backend/sycl/packed.hpp>
#include <basin/backend/sycl/tuning.hpp>

namespace basin::detail::device {

/// Where the coarse kernel's workspace keeps what; offsets count numbers of the accumulation type. Keys and values lie in
/// it once more, widened and in the order in which they are read; a worker has the scores of its rows, all keys wide.
struct coarse_plan {
    using tuning = coarse_tuning;
    index_t channels = 0, values = 0, wide = 0; // wide: values rounded up to whole strips
    index_t key_blocks = 0, chunks = 1, workers = 1;
    std::ptrdiff_t packed_keys = 0, packed_values = 0, finite = 0, norms = 0, sums = 0, scratch = 0, per_worker = 0,
                   total = 0;
    // inside a worker's part
    std::ptrdiff_t scores = 0, shares = 0, outputs = 0, sinks = 0, seen = 0;

    template <class Task>
    static coarse_plan of(Task const& x, index_t workers) {
        coarse_plan p;
        p.workers = workers;
        p.channels = x.q.extent(3);
        p.values = Task::observing ? 0 : x.v.extent(3);
        p.wide = (p.values + tuning::strip - 1) / tuning::strip * tuning::strip;
        p.key_blocks = (x.k.extent(2) + tuning::keys - 1) / tuning::keys;
        std::ptrdiff_t const entries = x.k.extent(0), keys = p.keys();
        std::ptrdiff_t at = 0;
        auto const take = [&](std::ptrdiff_t n) {
            std::ptrdiff_t const begin = at;
            at += (n + 15) / 16 * 16;
            return begin;
        };
        p.packed_keys = take(entries * x.k.extent(1) * keys * p.channels);
        p.packed_values = take(entries * x.value_heads() * keys * p.wide);
        p.finite = take(entries * x.value_heads() * p.key_blocks);
        p.norms = take(Task::needs_key_weight ? entries * x.value_heads() * keys : 0);
        if constexpr (Task::by_key) {
            index_t groups = 1;
            x.statistics.each([&](auto, auto const& s) { groups = math::max(groups, groups_of(s)); });
            // Many groups are as large as a map of all pairs: they are kept once, and a head is then one piece of work.
            p.chunks = groups > 4 ? 1 : tuning::chunks;
        }
        p.sums = at;
        x.statistics.each(
            [&](auto, auto const& s) { take(entries * x.query_heads() * p.chunks * groups_of(s) * keys); });
        std::ptrdiff_t const body = at;
        at = 0;
        take(std::ptrdiff_t{tuning::rows} * p.channels);
        p.scores = take(tuning::rows * keys);
        p.shares = keeps_scores<Task> ? take(tuning::rows * keys) : p.scores;
        p.outputs = take(std::ptrdiff_t{tuning::rows} * p.wide);
        p.sinks = take(detail::has_sinks<typename Task::policy_type> ? std::ptrdiff_t{tuning::rows} * p.values : 0);
        p.seen = take(p.key_blocks);
        p.per_worker = at;
        p.scratch = body;
        p.total = body + std::ptrdiff_t{workers} * p.per_worker;
        return p;
    }

    /// Whether scores are wanted after they have become probabilities.
    template <class Task>
    static constexpr bool keeps_scores = Task::by_key || Task::by_query || Task::weighs;

    std::ptrdiff_t keys() const { return std::ptrdiff_t{key_blocks} * tuning::keys; }
    /// How many pieces of work the queries of a text are, at most.
    index_t pieces(index_t queries, bool by_key) const {
        index_t const blocks = (queries + tuning::rows - 1) / tuning::rows;
        return by_key ? math::min(chunks, blocks) : blocks;
    }

    template <class S>
    static index_t groups_of(S const& s) {
        if constexpr (S::reduced_to == axis::by_key)
            return s.output.extent(2);
        else
            return 0;
    }
};

/// The blocks of keys that a text touches.
inline index_t first_block(text const& t) { return t.key_begin / coarse_tuning::keys; }
inline index_t end_block(text const& t) {
    return t.key_begin == t.key_end ? first_block(t) : (t.key_end - 1) / coarse_tuning::keys + 1;
}

/// The text that a key's place in memory belongs to; false: padding.
inline bool find_text_of_key(layout const& where, index_t entry, index_t key, text& found) {
    if (where.texts() == 0) return false;
    found = text_with(where, where.key_offsets, entry, key);
    return key < found.key_end;
}

/// Packs one block of keys of one head: keys channel by channel, values row by row, whether they are finite, their norms.
template <class Task>
struct pack_kernel {
    using A = typename Task::accumulation;
    using tuning = coarse_tuning;
    Task x;
    coarse_plan plan;
    A* work;

    void operator()(index_t unit) const {
        index_t const heads = math::max(x.value_heads(), x.k.extent(1));
        index_t const block = unit % plan.key_blocks, head = unit / plan.key_blocks % heads,
                      entry = unit / plan.key_blocks / heads;
        if (head < x.k.extent(1)) keys(entry, head, block);
        if constexpr (!Task::observing) values(entry, head, block);
    }

private:
    void keys(index_t entry, index_t head, index_t block) const {
        A* const to =
            work + plan.packed_keys +
            ((std::ptrdiff_t{entry} * x.k.extent(1) + head) * plan.key_blocks + block) * plan.channels * tuning::keys;
        for (index_t l = 0; l < tuning::keys; ++l) {
            index_t const key = block * tuning::keys + l;
            text t{};
            bool const real = key < x.k.extent(2) && find_text_of_key(x.where, entry, key, t);
            for (index_t c = 0; c < plan.channels; ++c)
                to[c * tuning::keys + l] = real ? static_cast<A>(x.k(entry, head, key, c)) : A(0);
        }
    }
    void values(index_t entry, index_t head, index_t block) const {
        std::ptrdiff_t const row = std::ptrdiff_t{entry} * x.value_heads() + head;
        bool all_finite = true;
        for (index_t l = 0; l < tuning::keys; ++l) {
            index_t const key = block * tuning::keys + l;
            A* const to = work + plan.packed_values + (row * plan.keys() + key) * plan.wide;
            text t{};
            bool const real = key < x.k.extent(2) && find_text_of_key(x.where, entry, key, t);
            A norm = 0;
            for (index_t c = 0; c < plan.wide; ++c) {
                A y = 0;
                if (real && c < plan.values) {
                    y = static_cast<A>(x.v(
                        entry, detail::has_value<typename Task::policy_type> ? x.key_value_head(head) : head, key, c));
                    y = facet::value(x.policy, y, value_site{t.number, head, x.where.key_at(t, key), c});
                }
                all_finite = all_finite && y - y == A(0);
                norm += y * y;
                to[c] = y;
            }
            if constexpr (Task::needs_key_weight) work[plan.norms + row * plan.keys() + key] = math::sqrt(norm);
        }
        work[plan.finite + row * plan.key_blocks + block] = all_finite ? A(1) : A(0);
    }
};

} // namespace basin::detail::device
