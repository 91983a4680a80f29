// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include <basin/core/policy.hpp>

namespace basin {

/// A query sees itself and what stands before it. Positions are explicit, so there is no question of alignment: a block
/// of queries inside a longer text says where it stands (options::query_position).
struct causal {
    using lanes = supported;
    template <class Lane>
    auto visible(basic_site<Lane> const& s) const {
        return s.key <= s.query;
    }
    static constexpr coverage cover(tile const& t) {
        if (t.key_end - 1 <= t.query_begin) return coverage::all;
        return t.key_begin > t.query_end - 1 ? coverage::none : coverage::some;
    }
};

} // namespace basin
