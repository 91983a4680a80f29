// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include "chunk.hpp"
#include "memory.hpp"
#include "strip.hpp"

#include <atomic>
#include <vector>

namespace basin::detail::simd {

/// Who computes what. The work of a head is cut into chunks of queries by its shape alone, and their results by key are
/// added in the order of the chunks: the bits cannot depend on how many threads there are.
template <class Task, class Arch>
class schedule {
    using T = typename Task::accumulation;
    using table = tiles<T, Arch>;
    using unit_t = unit<Task, Arch>;
    static constexpr bool fast = fast_path<Task>::possible;
    using runner = std::conditional_t<fast, chunk_runner<Task, Arch>, strip_runner<Task, Arch>>;
    using results = std::conditional_t<fast, column_set<Task, Arch>, strip_columns<Task, Arch>>;
    static constexpr index_t most_chunks = 16; // of one head: enough for as many threads

public:
    [[gnu::noinline]] schedule(Task const& task, index_t threads) : task_(task) {
        for (index_t i = 0; i < task.where.texts(); ++i) {
            text const t = task.where.at(i);
            most_keys_ = math::max(most_keys_, t.key_end - t.key_begin);
            most_queries_ = math::max(most_queries_, t.query_end - t.query_begin);
        }
        // Heads that read the same keys share their copies, unless the policy tells the heads apart.
        group_ = unit_t::per_query_head || task.k.extent(1) == 0 ? 1 : task.q.extent(1) / task.k.extent(1);
        units_ = task.where.texts() * (task.q.extent(1) / group_);
        // Few queries: packing all keys first would take them through memory twice.
        streaming_ = most_queries_ * group_ <= 2 * table::rows;
        // Enough units for all threads: each takes whole ones, with memory of its own. Else all work on one.
        by_unit_ = threads == 1 || streaming_ || units_ % threads == 0 || units_ >= 4 * threads;
        workers_ = by_unit_ ? math::max(math::min(threads, units_), index_t{1}) : threads;
    }

    [[gnu::noinline]] std::size_t bytes() const {
        arena<Arch> counting;
        workplace places(*this);
        places.carve(counting, *this);
        return counting.used();
    }

    /// `execute(n, f)` runs f(0) ... f(n - 1), perhaps at once.
    template <class Execute>
    void run(std::byte* bytes, Execute const& execute) const {
        arena<Arch> a(bytes);
        workplace places(*this);
        places.carve(a, *this);
        flush_guard<Arch> const caller; // what the caller's thread adds up is rounded as on any other
        if (by_unit_) {
            std::atomic<index_t> next{0};
            execute(workers_, [&](index_t worker) {
                flush_guard<Arch> const guard;
                auto const who = static_cast<std::size_t>(worker);
                for (index_t i = next++; i < units_; i = next++)
                    run_unit(places.units[who], places.runners[who], places.totals[who], i);
            });
        } else {
            for (index_t i = 0; i < units_; ++i) share_unit(places, i, execute);
        }
    }

private:
    /// All objects of a call; their arrays come from one arena.
    struct workplace {
        std::vector<unit_t> units;
        std::vector<runner> runners;
        std::vector<results> totals; // by unit: one per worker; else one per chunk, and the head's

        [[gnu::noinline]] explicit workplace(schedule const& s)
            : units(static_cast<std::size_t>(s.by_unit_ ? s.workers_ : 1)),
              runners(static_cast<std::size_t>(s.workers_)),
              totals(static_cast<std::size_t>(s.by_unit_ ? s.workers_ : most_chunks + 1)) {}

        [[gnu::noinline]] void carve(arena<Arch>& a, schedule const& s) {
            for (auto& u : units) u.carve(a, s.task_, s.most_keys_, s.streaming_);
            for (auto& r : runners) {
                r.carve(a, s.task_, s.most_keys_, s.most_queries_,
                        s.task_.observing ? 0 : static_cast<int>(s.task_.v.extent(3)));
                if (s.by_unit_) r.columns.carve(a, s.task_, s.most_keys_);
            }
            for (auto& t : totals) t.carve(a, s.task_, s.most_keys_);
        }
    };

    struct span_of_queries {
        index_t begin, end;
    };
    /// Chunks are whole blocks of rows, and at most most_chunks.
    static index_t chunk_rows(text const& t) {
        index_t const blocks = (t.query_end - t.query_begin + table::block_rows - 1) / table::block_rows;
        return (blocks + most_chunks - 1) / most_chunks * table::block_rows;
    }
    static index_t chunks_of(text const& t) {
        index_t const queries = t.query_end - t.query_begin;
        return queries == 0 ? 0 : (queries + chunk_rows(t) - 1) / chunk_rows(t);
    }
    static span_of_queries chunk_at(text const& t, index_t c) {
        index_t const begin = t.query_begin + c * chunk_rows(t);
        return {begin, math::min(begin + chunk_rows(t), t.query_end)};
    }

    text text_of(index_t number) const { return task_.where.at(number / (task_.q.extent(1) / group_)); }
    index_t head_of(index_t number) const { return number % (task_.q.extent(1) / group_) * group_; }

    /// One worker, one unit.
    void run_unit(unit_t& u, runner& r, results& total, index_t number) const {
        text const t = text_of(number);
        index_t const chunks = chunks_of(t);
        if (chunks == 0) return;
        u.open(task_, t, head_of(number));
        if (!streaming_) {
            for (int b = 0; b < u.key_blocks(); ++b) u.pack(task_.k, task_.v, b, false);
        }
        for (index_t h = 0; h < group_; ++h) {
            u.head = head_of(number) + h;
            if (chunks > 1) total.start(task_, u.slots);
            for (index_t c = 0; c < chunks; ++c) {
                span_of_queries const rows = chunk_at(t, c);
                r.run(task_, u, rows.begin, rows.end, streaming_);
                if (chunks > 1) total.add(task_, r.columns, u.slots);
            }
            (chunks > 1 ? total : r.columns).store(task_, u);
        }
    }

    /// All workers on one unit: first its packing, then its chunks.
    template <class Execute>
    void share_unit(workplace& places, index_t number, Execute const& execute) const {
        text const t = text_of(number);
        index_t const chunks = chunks_of(t);
        if (chunks == 0) return;
        unit_t& u = places.units[0];
        u.open(task_, t, head_of(number));
        each(execute, u.key_blocks(),
             [&](index_t, index_t b) { u.pack(task_.k, task_.v, static_cast<int>(b), false); });
        results& total = places.totals[most_chunks];
        for (index_t h = 0; h < group_; ++h) {
            u.head = head_of(number) + h;
            each(execute, chunks, [&](index_t worker, index_t c) {
                runner& r = places.runners[static_cast<std::size_t>(worker)];
                span_of_queries const rows = chunk_at(t, c);
                r.columns = places.totals[static_cast<std::size_t>(c)];
                r.run(task_, u, rows.begin, rows.end, false);
                places.totals[static_cast<std::size_t>(c)] = r.columns;
            });
            total.start(task_, u.slots);
            for (index_t c = 0; c < chunks; ++c) total.add(task_, places.totals[static_cast<std::size_t>(c)], u.slots);
            total.store(task_, u);
        }
    }

    /// f(worker, i) for i in [0, n): whoever is free takes the next.
    template <class Execute, class F>
    void each(Execute const& execute, index_t n, F const& f) const {
        std::atomic<index_t> next{0};
        execute(math::min(workers_, n), [&](index_t worker) {
            flush_guard<Arch> const guard;
            for (index_t i = next++; i < n; i = next++) f(worker, i);
        });
    }

    Task const& task_;
    index_t most_keys_ = 0, most_queries_ = 0, group_ = 1, units_ = 0, workers_ = 1;
    bool streaming_ = false, by_unit_ = true;
};

} // namespace basin::detail::simd
