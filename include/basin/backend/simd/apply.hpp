// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

// The one place of the kernels that knows a policy: raw scores of a row tile and a panel become final ones.

#include "query_block.hpp"
#include "unit.hpp"

namespace basin::detail::simd {

inline constexpr double log2e = 1.4426950408889634;

/// The policy as kernels ask it: a copy that nobody else can see (vector stores may alias anything, and a policy read through memory
/// is computed anew, a soft cap's 1 / cap, for every vector), in powers of two where it knows them.
template <class P>
[[gnu::always_inline]] inline P in_powers_of_two(P const& policy) {
    if constexpr (takes_units<P>)
        return facet::in_units(policy, log2e);
    else
        return policy;
}

/// One vector of scores under a policy: final, in log2 units, -inf where hidden. Natural: the policy takes and gives natural units.
template <bool Natural, class Task, class Arch, class T>
[[gnu::always_inline]] inline vec<T, Arch> final_scores(typename Task::policy_type const& policy, vec<T, Arch> x,
                                                        basic_site<index_lanes<family<T, Arch>>> const& s, bool ask) {
    using number = number_lanes<family<T, Arch>>;
    x = facet::score(policy, number(x), s).raw;
    if constexpr (Natural) x = x * vec<T, Arch>(T(log2e));
    if (ask) x = xsimd::select(facet::visible(policy, s).raw, x, vec<T, Arch>(hidden_score<T>));
    return x;
}

/// scores: [rows][tiles::panel], as raw_panel leaves them; afterwards log2 units, -inf where hidden. `queries` are the
/// positions of the tile's rows. `ask`: whether visibility has to be asked at all (the tile is not covered wholly).
template <class Arch, class Task, class T>
[[gnu::noinline]] void apply_policy(Task const& task, unit<Task, Arch> const& u, int panel, index_t const* queries,
                                    bool ask, T* scores) {
    using F = family<T, Arch>;
    using table = tiles<T, Arch>;
    using index = index_lanes<F>;
    using v = vec<T, Arch>;
    constexpr bool natural = unit<Task, Arch>::natural;
    auto const policy = in_powers_of_two(task.policy);
    int const keys = u.keys_in_panel(panel);
    // What a policy computes from its parameters (a soft cap's 1 / cap) leaves both loops only if they surely run.
    if (keys < 1) __builtin_unreachable();
    int const vectors = (keys + table::lanes - 1) / table::lanes;
    auto const* const positions = u.positions + std::ptrdiff_t{panel} * table::panel;
    for (int i = 0; i < table::rows; ++i, scores += table::panel) {
        index const query(queries[i]);
        for (int j = 0; j < vectors; ++j) {
            T* const at = scores + j * table::lanes;
            basic_site<index> const s{u.t.number, u.head, query,
                                      index(F::index::load_aligned(positions + j * table::lanes))};
            final_scores<natural, Task, Arch, T>(policy, v::load_aligned(at), s, ask).store_aligned(at);
        }
        // A changed score may bring the slots past the last key back to life.
        if constexpr (unit<Task, Arch>::scores_change) {
            for (int j = keys; j < vectors * table::lanes; ++j) scores[j] = hidden_score<T>;
        }
    }
}

/// The positions a tile of the policy's world spans: those of `count` queries and of the panels [first, last).
template <class Task, class Arch>
tile span(unit<Task, Arch> const& u, index_t const* queries, int count, int first, int last) {
    tile t{u.t.number, u.head, queries[0], queries[0] + 1, u.lowest[first], u.highest[first] + 1};
    for (int i = 1; i < count; ++i) {
        t.query_begin = math::min(t.query_begin, queries[i]);
        t.query_end = math::max(t.query_end, queries[i] + 1);
    }
    for (int p = first + 1; p < last; ++p) {
        t.key_begin = math::min(t.key_begin, u.lowest[p]);
        t.key_end = math::max(t.key_end, u.highest[p] + 1);
    }
    return t;
}

} // namespace basin::detail::simd
