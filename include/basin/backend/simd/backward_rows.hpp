// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include <basin/core/sinks_backward.hpp>

#include "backward_unit.hpp"

namespace basin::detail::simd {

/// The queries of one block of a head and what the backward pass knows of each row before it looks at keys: copies of q and
/// d_out in both orders that products read, the lse, what dP is lessened by, and the gradient of q while it is summed.
template <class Task, class Arch>
struct backward_rows {
    using T = typename Task::accumulation;
    using S = typename Task::scalar_type;
    using P = typename Task::policy_type;
    using table = backward_tiles<T, Arch>;
    using v = vec<T, Arch>;
    using unit_t = backward_unit<Task, Arch>;
    using loader = typename unit_t::loader;
    static constexpr int rows = table::rows, lanes = table::lanes, room = table::block_rows;
    static constexpr bool weighs = has_weight<P>;

    index_t head = 0, first = 0;
    int count = 0, tiles_used = 0;
    bool finite = true;                                // all of q and d_out, and what rows know of themselves
    T *queries = nullptr, *upstream = nullptr;         // packed for scores and gradients of probabilities
    T *row_queries = nullptr, *row_upstream = nullptr; // [column group][row][columns]
    T* d_query = nullptr;                              // [row][d_query_stride]
    std::ptrdiff_t d_query_stride = 0;
    T *lse2 = nullptr,
      *delta = nullptr; // delta: the row's sum of p dp less d_lse, times the scale where slopes carry it
    T* sums = nullptr;  // [row][lanes] sums of p dp, where d_out . out is not all
    index_t* positions = nullptr;
    double* learned = nullptr; // sums of learned parameters

    void carve(arena<Arch>& a, Task const& task) {
        int const depth = static_cast<int>(task.q.extent(3)), width = static_cast<int>(task.v.extent(3));
        std::ptrdiff_t const all = room;
        queries = a.template take<T>(all * round_up(depth, table::chunk));
        upstream = a.template take<T>(all * round_up(width, table::chunk));
        row_queries = a.template take<T>(all * round_up(depth, lanes));
        row_upstream = a.template take<T>(all * round_up(width, lanes));
        d_query_stride = round_up(depth, lanes);
        d_query = a.template take<T>(all * d_query_stride);
        lse2 = a.template take<T>(all);
        delta = a.template take<T>(all);
        if constexpr (!Task::sum_from_out) sums = a.template take<T>(all * lanes);
        positions = a.template take<index_t>(all);
        learned = a.template take<double>(task.sums);
    }

    index_t query_of(int i) const { return first + (i < count ? i : count - 1); }

    /// Queries [begin, begin + n) of memory of query head `h`.
    void start(Task const& task, unit_t const& u, index_t h, index_t begin, int n) {
        head = h;
        first = begin;
        count = n;
        tiles_used = (n + rows - 1) / rows;
        for (index_t i = 0; i < task.sums; ++i) learned[i] = 0;
        finite = pack_queries<Arch, T>(source(task.q, u), first, count, u.depth, loader{}, queries);
        finite = pack_queries<Arch, T>(source(task.d_out, u), first, count, u.width, load_same{}, upstream) && finite;
        pack_rows(source(task.q, u), u.depth, loader{}, row_queries);
        pack_rows(source(task.d_out, u), u.width, load_same{}, row_upstream);
        for (int i = 0; i < tiles_used * rows; ++i) {
            positions[i] = task.where.query_at(u.t, query_of(i));
            bool const dead = i >= count || saw_nothing(task, u, i);
            lse2[i] = dead ? math::infinity<T> : task.lse(u.t.entry, head, 0, first + i) * T(1.4426950408889634);
            if (dead && i < count) drop_upstream(u, i);
        }
        for (std::ptrdiff_t i = 0; i < std::ptrdiff_t{tiles_used} * rows * d_query_stride; ++i) d_query[i] = T(0);
    }

    /// Each row's sum of p dp is known now: what dP is lessened by, and the sinks.
    void settle(Task const& task, unit_t const& u) {
        for (int i = 0; i < tiles_used * rows; ++i) {
            delta[i] = T(0);
            if (i >= count || saw_nothing(task, u, i)) continue;
            T sum = weighs ? T(0) : from_out(task, u, i);
            if constexpr (!Task::sum_from_out) sum += sum_lanes<Arch, T>(v::load_aligned(sums + i * lanes));
            T const d_lse = task.lse_gradient(u.t.entry, head, first + i);
            if constexpr (has_sinks<P>) settle_sinks(task, u, i, sum, d_lse);
            delta[i] = (sum - d_lse) * (unit_t::fused ? task.scale : T(1));
            finite = finite && lse2[i] == lse2[i] && math::abs(delta[i]) < math::infinity<T>;
        }
    }

    void write(Task const& task, unit_t const& u) const {
        std::ptrdiff_t const step = task.d_q.stride(3);
        for (int i = 0; i < count; ++i) {
            T* const to = &task.d_q(u.t.entry, head, first + i, 0);
            T const* const from = d_query + i * d_query_stride;
            for (index_t c = 0; c < u.depth; ++c) to[c * step] += from[c];
        }
    }

private:
    bool saw_nothing(Task const& task, unit_t const& u, int i) const {
        return task.lse(u.t.entry, head, 0, first + i) == -math::infinity<T>;
    }
    template <class X>
    row_source<X> source(view<X const, 4> const& x, unit_t const& u) const {
        return {&x(u.t.entry, head, 0, 0), x.stride(2), x.stride(3), nullptr};
    }
    template <class X, class Load>
    void pack_rows(row_source<X> from, int channels, Load const& load, T* to) const {
        for (int g = 0; g * table::panel < channels; ++g, from.data += table::panel * from.channel_stride) {
            int const columns = math::min(channels - g * table::panel, static_cast<int>(table::panel));
            int const padded = group_columns<Arch, T>(channels, g);
            T* const at = to + std::ptrdiff_t{room} * table::panel * g;
            pack_values<Arch, T>(from, first, count, columns, load, at, 0);
            for (int i = count * padded; i < tiles_used * rows * padded; ++i) at[i] = T(0);
        }
    }
    /// A row that saw nothing passes nothing on, whatever its d_out is.
    void drop_upstream(unit_t const& u, int i) {
        T* const packed = upstream + std::ptrdiff_t{i / rows} * rows * round_up(u.width, table::chunk);
        for (int c = 0; c < u.width; ++c) {
            packed[c / table::chunk * rows * table::chunk + i % rows * table::chunk + c % table::chunk] = T(0);
            int const g = c / table::panel;
            row_upstream[std::ptrdiff_t{room} * table::panel * g +
                         std::ptrdiff_t{i} * group_columns<Arch, T>(u.width, g) + c % table::panel] = T(0);
        }
    }

    /// d_out . out of a row.
    T from_out(Task const& task, unit_t const& u, int i) const {
        S const* const x = &task.out(u.t.entry, head, first + i, 0);
        T const* const y = &task.d_out(u.t.entry, head, first + i, 0);
        v sum(T(0));
        for (int c = 0; c < u.width; c += lanes)
            sum = multiply_add<Arch, T>(load_channels<Arch, T>(x, task.out.stride(3), c, u.width, loader{}),
                                        load_channels<Arch, T>(y, task.d_out.stride(3), c, u.width, load_same{}), sum);
        return sum_lanes<Arch, T>(sum);
    }

    void settle_sinks(Task const& task, unit_t const& u, int i, T& sum, T d_lse) {
        auto const query = source(task.q, u);
        auto const up = source(task.d_out, u);
        auto const q = [x = query.row(first + i), step = query.channel_stride](index_t c) {
            return static_cast<T>(x[c * step]);
        };
        auto const d_out = [x = up.row(first + i), step = up.channel_stride](index_t c) { return x[c * step]; };
        T const lse = task.lse(u.t.entry, head, 0, first + i);
        sink_row<T, decltype(q), decltype(d_out)> const row{q, u.depth, task.scale, d_out, u.width, lse};
        head_site const where = task.heads_of(u.t, head);
        if constexpr (weighs) {
            sink_share<decltype(row), T> share{row};
            facet::visit_sinks(task.policy, where, share);
            sum += share.sum;
        }
        T* const to = d_query + i * d_query_stride;
        auto const add_query = [to](index_t c, T x) { to[c] += x; };
        parameter_sums into{learned};
        sink_pullback<decltype(row), T, decltype(add_query), parameter_sums> pull(row, d_lse - sum, add_query, into);
        facet::visit_sinks(task.policy, where, pull);
    }
};

} // namespace basin::detail::simd
