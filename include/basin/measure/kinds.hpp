// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include <basin/core/lift.hpp>
#include <basin/detect/facts.hpp>

namespace basin {

/// How much attention queries of one kind pay to keys of another, summed over heads.
struct kind_table {
    /// By the kind of the query, then of the key.
    double mass[token_kinds][token_kinds] = {};

    /// What queries of the one kind paid to keys of the other.
    double at(token_kind query, token_kind key) const { return mass[static_cast<int>(query)][static_cast<int>(key)]; }
    /// As a share of what queries of that kind paid at all; NaN if there were none.
    double share(token_kind query, token_kind key) const {
        double total = 0;
        for (double const x : mass[static_cast<int>(query)]) total += x;
        return total > 0 ? at(query, key) / total : __builtin_nan("");
    }
};

/// From received{mass, by_group(kinds of the queries, token_kinds)}, (batch, head, kind, key), and the kinds of the keys,
/// (key) or (batch, key).
template <class Mass, class Kinds>
kind_table mass_by_kind(Mass&& received, Kinds&& kinds) {
    auto const mass = detail::lift_statistic(detail::describe(received, "received"), true, "received");
    auto const list = detail::describe(kinds, "kinds");
    if (list.rank != 1 && list.rank != 2)
        detail::fail<shape_error>("kinds: rank 1 (key) or 2 (batch, key), not ", list.rank);
    detail::check_extent("received", "group", mass.extent(2), "the kinds of token", token_kinds);
    detail::check_extent("kinds", "key", list.extents[list.rank - 1], "received", mass.extent(3));
    if (list.rank == 2) detail::check_extent("kinds", "batch", list.extents[0], "received", mass.extent(0));
    kind_table result;
    for (index_t b = 0; b < mass.extent(0); ++b)
        for (index_t h = 0; h < mass.extent(1); ++h)
            for (index_t query = 0; query < token_kinds; ++query)
                for (index_t key = 0; key < mass.extent(3); ++key) {
                    token_kind const kind =
                        list.data[(list.rank == 2 ? b * list.strides[0] : 0) + key * list.strides[list.rank - 1]];
                    result.mass[query][static_cast<int>(kind)] += static_cast<double>(mass(b, h, query, key));
                }
    return result;
}

} // namespace basin
