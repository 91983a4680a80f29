// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include <basin/core/layout.hpp>

namespace basin {

/// What a mask alone says about received attention, (batch, head, key): how many queries see each key, and what each key
/// would receive if every query spread evenly over what it sees. Under a causal mask uniform attention gives key 0 of n the sum
/// 1 + 1/2 + ... + 1/n, so that raw sums call it a sink by construction.
template <class T>
struct visibility {
    /// How many queries see the key, and what uniform attention would give it.
    buffer<T, 3> seen, uniform;
};

namespace detail {

/// Calls f(query, key_begin, key_end) for runs of keys that a query sees, tile by tile: only mixed tiles are asked pair by pair.
template <class P, class F>
void for_each_visible_run(P const& bound, layout const& where, text const& t, index_t head, F const& f) {
    constexpr index_t side = 64;
    bool const in_order = !where.query_position.listed() && !where.key_position.listed();
    for (index_t q = t.query_begin; q < t.query_end; q += side) {
        index_t const q_end = math::min(q + side, t.query_end);
        for (index_t k = t.key_begin; k < t.key_end; k += side) {
            index_t const k_end = math::min(k + side, t.key_end);
            coverage cover = coverage::some; // tiles are rectangles of positions, which lists need not be
            if (in_order)
                cover = facet::cover(bound, tile{t.number, head, where.query_at(t, q), where.query_at(t, q_end - 1) + 1,
                                                 where.key_at(t, k), where.key_at(t, k_end - 1) + 1});
            if (cover == coverage::none) continue;
            for (index_t i = q; i < q_end; ++i) {
                if (cover == coverage::all) {
                    f(i, k, k_end);
                    continue;
                }
                for (index_t j = k; j < k_end; ++j) {
                    if (facet::visible(bound, site{t.number, head, where.query_at(t, i), where.key_at(t, j)}))
                        f(i, j, j + 1);
                }
            }
        }
    }
}

} // namespace detail

/// From the policy itself, without running attention. Scores of -inf hide keys too, but only attention knows them: the
/// statistic `seen` counts those.
template <class T = float, policy P>
visibility<T> visibility_of(P const& p, index_t batch, index_t heads, index_t queries, index_t keys,
                            options const& o = {}) {
    layout const where = detail::make_layout(o, batch, queries, keys);
    auto const bound = basin::bind(p, {where.texts(), heads, heads, detail::position_limit(where, true),
                                       detail::position_limit(where, false), 1, 1});
    visibility<T> result{buffer<T, 3>(batch, heads, keys), buffer<T, 3>(batch, heads, keys)};
    buffer<index_t, 1> sees(queries);
    buffer<double, 1> uniform(keys);
    for (index_t i = 0; i < where.texts(); ++i) {
        text const t = where.at(i);
        for (index_t h = 0; h < heads; ++h) {
            sees.fill(0);
            uniform.fill(0);
            detail::for_each_visible_run(
                bound, where, t, h, [&](index_t query, index_t begin, index_t end) { sees(query) += end - begin; });
            detail::for_each_visible_run(bound, where, t, h, [&](index_t query, index_t begin, index_t end) {
                double const part = 1.0 / sees(query);
                for (index_t key = begin; key < end; ++key) {
                    result.seen(t.entry, h, key) += T(1);
                    uniform(key) += part;
                }
            });
            for (index_t key = t.key_begin; key < t.key_end; ++key)
                result.uniform(t.entry, h, key) = static_cast<T>(uniform(key));
        }
    }
    return result;
}

} // namespace basin
