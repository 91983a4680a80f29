// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include "backward_block.hpp"
#include "schedule.hpp"

namespace basin::detail::simd {

/// Who computes what, backwards. A unit is a text and a head of keys and values: its blocks of queries, of all query heads
/// that read it, add to the same d_k and d_v. They do so in one order (block_turn), and what is learned is added in the order
/// of heads and texts: the bits cannot depend on how many threads there are.
template <class Task, class Arch>
class backward_schedule {
    using T = typename Task::accumulation;
    using unit_t = backward_unit<Task, Arch>;
    using runner = backward_runner<Task, Arch>;
    static constexpr std::ptrdiff_t most_bytes = std::ptrdiff_t{32} << 20U; // of units at the same time, but for one

public:
    backward_schedule(Task const& task, index_t threads)
        : task_(task), group_(task.k.extent(1) == 0 ? 1 : task.group_size()) {
        for (index_t i = 0; i < task.where.texts(); ++i) {
            text const t = task.where.at(i);
            most_keys_ = math::max(most_keys_, t.key_end - t.key_begin);
        }
        units_ = task.where.texts() * task.k.extent(1);
        if (task.in_order) threads = 1;
        arena<Arch> counting;
        unit_t().carve(counting, task, most_keys_);
        bool const fits = static_cast<std::ptrdiff_t>(counting.used()) * math::min(threads, units_) <= most_bytes;
        // Enough units for all threads: each takes whole ones, with memory of its own. Else all work on one.
        by_unit_ = threads == 1 || (fits && (units_ % threads == 0 || units_ >= 4 * threads));
        workers_ = by_unit_ ? math::max(math::min(threads, units_), index_t{1}) : threads;
    }

    std::size_t bytes() const {
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
        std::ptrdiff_t const sums = std::ptrdiff_t{task_.sums} * task_.where.texts() * task_.query_heads();
        for (std::ptrdiff_t i = 0; i < sums; ++i) places.sums[i] = 0;
        if (by_unit_)
            each(execute, units_, [&](index_t worker, index_t i) {
                run_unit(places.units[static_cast<std::size_t>(worker)],
                         places.runners[static_cast<std::size_t>(worker)], places.sums, i);
            });
        else
            for (index_t i = 0; i < units_; ++i) share_unit(places, i, execute);
        if constexpr (Task::learns) {
            for (index_t i = 0; i < task_.where.texts(); ++i)
                for (index_t h = 0; h < task_.query_heads(); ++h)
                    task_.finish_head(task_.where.at(i), h, sums_of(places.sums, i, h));
        }
    }

private:
    /// All objects of a call; their arrays come from one arena.
    struct workplace {
        std::vector<unit_t> units;
        std::vector<runner> runners;
        double* sums = nullptr; // [text][query head][sum] of learned parameters

        explicit workplace(backward_schedule const& s)
            : units(static_cast<std::size_t>(s.by_unit_ ? s.workers_ : 1)),
              runners(static_cast<std::size_t>(s.workers_)) {}

        void carve(arena<Arch>& a, backward_schedule const& s) {
            for (auto& u : units) u.carve(a, s.task_, s.most_keys_);
            for (auto& r : runners) r.carve(a, s.task_);
            sums =
                a.template take<double>(std::ptrdiff_t{s.task_.sums} * s.task_.where.texts() * s.task_.query_heads());
        }
    };

    text text_of(index_t unit) const { return task_.where.at(unit / task_.k.extent(1)); }
    index_t first_head(index_t unit) const { return unit % task_.k.extent(1) * group_; }
    double* sums_of(double* sums, index_t text_number, index_t head) const {
        return sums + std::ptrdiff_t{task_.sums} * (std::ptrdiff_t{text_number} * task_.query_heads() + head);
    }
    static index_t blocks_of(text const& t) {
        return (t.query_end - t.query_begin + runner::block_rows - 1) / runner::block_rows;
    }
    /// Query heads that share a copy of the keys.
    index_t shared_heads() const { return unit_t::per_query_head ? 1 : group_; }

    /// Block `step` of the heads from u.head on, one head after the other.
    void run_step(unit_t const& u, runner& r, double* sums, index_t unit, index_t step, block_turn const& turn) const {
        index_t const blocks = blocks_of(u.t), head = u.head + step / blocks;
        index_t const first = u.t.query_begin + step % blocks * runner::block_rows;
        int const count = static_cast<int>(math::min(index_t{runner::block_rows}, u.t.query_end - first));
        r.run(task_, u, head, first, count, turn, sums_of(sums, unit / task_.k.extent(1), head));
    }

    /// One worker, one unit.
    void run_unit(unit_t& u, runner& r, double* sums, index_t unit) const {
        text const t = text_of(unit);
        for (index_t h = 0; h < group_; h += shared_heads()) {
            u.open(task_, t, first_head(unit) + h);
            for (int s = 0; s < u.strips; ++s) u.pack(task_, s);
            for (index_t i = 0; i < shared_heads() * blocks_of(t); ++i) run_step(u, r, sums, unit, i, block_turn{});
            for (int s = 0; u.keeps_sums() && s < u.strips; ++s) u.close(task_, s);
        }
    }

    /// All workers on one unit: first its packing, then its blocks.
    template <class Execute>
    void share_unit(workplace& places, index_t unit, Execute const& execute) const {
        text const t = text_of(unit);
        unit_t& u = places.units[0];
        for (index_t h = 0; h < group_; h += shared_heads()) {
            u.open(task_, t, first_head(unit) + h);
            each(execute, u.strips, [&](index_t, index_t s) { u.pack(task_, static_cast<int>(s)); });
            index_t const steps = shared_heads() * blocks_of(t);
            std::vector<std::atomic<int>> left(static_cast<std::size_t>(steps));
            each(execute, steps, [&](index_t worker, index_t i) {
                auto const at = static_cast<std::size_t>(i);
                block_turn const turn(i == 0 ? nullptr : &left[at - 1], &left[at]);
                run_step(u, places.runners[static_cast<std::size_t>(worker)], places.sums, unit, i, turn);
            });
            if (u.keeps_sums())
                each(execute, u.strips, [&](index_t, index_t s) { u.close(task_, static_cast<int>(s)); });
        }
    }

    /// f(worker, i) for i in [0, n), in this order: whoever is free takes the next.
    template <class Execute, class F>
    void each(Execute const& execute, index_t n, F const& f) const {
        std::atomic<index_t> next{0};
        execute(math::min(workers_, n), [&](index_t worker) {
            flush_guard<Arch> const guard;
            for (index_t i = next++; i < n; i = next++) f(worker, i);
        });
    }

    Task const& task_;
    index_t most_keys_ = 0, group_ = 1, units_ = 0, workers_ = 1;
    bool by_unit_ = true;
};

} // namespace basin::detail::simd
