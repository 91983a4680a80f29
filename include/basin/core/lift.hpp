// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include <basin/core/strided.hpp>

namespace basin::detail {

/// (batch, head, token, channel) from whatever the caller gave.
template <class T>
view<T, 4> lift_tensor(strided<T> const& x, char const* argument) {
    auto const& n = x.extents;
    auto const& s = x.strides;
    if (x.rank == 4 && x.named == naming::none) return {x.data, {{n[0], n[1], n[2], n[3]}}, {{s[0], s[1], s[2], s[3]}}};
    if (x.rank == 4 && x.named == naming::bthc) return {x.data, {{n[0], n[2], n[1], n[3]}}, {{s[0], s[2], s[1], s[3]}}};
    if (x.rank == 3 && x.named == naming::heads) return {x.data, {{1, n[0], n[1], n[2]}}, {{0, s[0], s[1], s[2]}}};
    if (x.rank == 3 && x.named == naming::batches) return {x.data, {{n[0], 1, n[1], n[2]}}, {{s[0], 0, s[1], s[2]}}};
    if (x.rank == 2 && x.named == naming::none) return {x.data, {{1, 1, n[0], n[1]}}, {{0, 0, s[0], s[1]}}};
    if (x.rank == 3)
        fail<shape_error>(argument, ": an array of rank 3 must be named: write heads(", argument, ") or batches(",
                          argument, ")");
    fail<shape_error>(argument, ": rank ", x.rank,
                      " is not understood; give (token, channel), heads(...) or batches(...) of rank 3, or (batch, "
                      "head, token, channel)");
}

/// (batch, head, group, token) of a statistic; without groups that axis has extent 1.
template <class T>
view<T, 4> lift_statistic(strided<T> const& x, bool grouped, char const* argument) {
    auto const& n = x.extents;
    auto const& s = x.strides;
    int const own = grouped ? 2 : 1; // axes that are not batch and head
    if (x.rank == own + 2 && x.named == naming::none) {
        if (grouped) return {x.data, {{n[0], n[1], n[2], n[3]}}, {{s[0], s[1], s[2], s[3]}}};
        return {x.data, {{n[0], n[1], 1, n[2]}}, {{s[0], s[1], 0, s[2]}}};
    }
    if (x.rank == own + 1 && (x.named == naming::heads || x.named == naming::batches)) {
        bool const by_head = x.named == naming::heads;
        index_t const batch = by_head ? 1 : n[0];
        index_t const head = by_head ? n[0] : 1;
        std::ptrdiff_t const batch_stride = by_head ? 0 : s[0];
        std::ptrdiff_t const head_stride = by_head ? s[0] : 0;
        if (grouped) return {x.data, {{batch, head, n[1], n[2]}}, {{batch_stride, head_stride, s[1], s[2]}}};
        return {x.data, {{batch, head, 1, n[1]}}, {{batch_stride, head_stride, 0, s[1]}}};
    }
    if (x.rank == own && x.named == naming::none) {
        if (grouped) return {x.data, {{1, 1, n[0], n[1]}}, {{0, 0, s[0], s[1]}}};
        return {x.data, {{1, 1, 1, n[0]}}, {{0, 0, 0, s[0]}}};
    }
    if (x.rank == own + 1)
        fail<shape_error>(argument, ": a statistic of rank ", x.rank,
                          " must be named: write heads(...) or batches(...)");
    fail<shape_error>(argument, ": rank ", x.rank, " is not understood; give (batch, head, ", grouped ? "group, " : "",
                      "token)");
}

inline void check_extent(char const* argument, char const* axis, index_t got, char const* other, index_t expected) {
    if (got != expected)
        fail<shape_error>(argument, ": ", axis, " extent is ", got, ", but ", other, " has ", expected);
}

} // namespace basin::detail
