// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

// What both paths of the backend share about rows: their positions, their sinks, and where their results go.

#include "query_block.hpp"
#include "unit.hpp"

namespace basin::detail::simd {

/// The log-sum-exp of a row's sinks, natural; their mean value to `value` (the row's width).
template <class Arch, class Task>
typename Task::accumulation sinks_of(Task const& task, unit<Task, Arch> const& u, index_t query,
                                     typename Task::accumulation* value) {
    using T = typename Task::accumulation;
    auto const q = [&](index_t c) { return static_cast<T>(task.q(u.t.entry, u.head, query, c)); };
    sink_column<T, decltype(q)> sinks(q, task.q.extent(3), task.scale, value, u.width);
    facet::visit_sinks(task.policy, task.heads_of(u.t, u.head), sinks);
    return sinks.lse();
}

/// Output rows: [width] numbers times `factor` into the caller's array. Adding 0 turns -0 into 0: its sign would depend on
/// whether terms that are 0 were added or skipped.
template <class Arch, class Task, class T>
[[gnu::always_inline]] inline void write_row(Task const& task, unit<Task, Arch> const& u, index_t query, T const* from,
                                             T factor) {
    using S = typename Task::scalar_type;
    using v = vec<T, Arch>;
    constexpr int lanes = tiles<T, Arch>::lanes;
    S* const to = &task.out(u.t.entry, u.head, query, 0);
    std::ptrdiff_t const stride = task.out.stride(3);
    int c = 0;
    if constexpr (std::is_same_v<S, T>) {
        if (stride == 1) {
            for (; c + lanes <= u.width; c += lanes)
                multiply_add<Arch, T>(v(factor), v::load_aligned(from + c), v(T(0))).store_unaligned(to + c);
        }
    }
    for (; c < u.width; ++c) to[c * stride] = static_cast<S>(factor * from[c] + T(0));
}

} // namespace basin::detail::simd
