// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include "case.hpp"

namespace laws {

/// Where the subtree that ends with node `last` begins.
inline int subtree_begin(program const& p, int last) {
    int needed = 1;
    for (int i = last; i >= 0; --i) {
        if (p.nodes[i].what >= program::op::all_of)
            ++needed;
        else if (p.nodes[i].what < program::op::sink_token)
            --needed;
        if (needed == 0) return i;
    }
    return 0;
}

/// The nodes [begin, end) replaced by [from, to), a part of them.
inline program replaced(program const& p, int begin, int end, int from, int to) {
    program result = p;
    result.count = 0;
    for (int i = 0; i < begin; ++i) result.push(p.nodes[i]);
    for (int i = from; i < to; ++i) result.push(p.nodes[i]);
    for (int i = end; i < p.count; ++i) result.push(p.nodes[i]);
    return result;
}

/// Cases that are a step simpler.
inline std::vector<law_case> simpler(law_case const& c) {
    std::vector<law_case> list;
    auto const with = [&](auto const& change) {
        law_case d = c;
        change(d);
        list.push_back(d);
    };
    for (auto const axis : {&law_case::batch, &law_case::queries, &law_case::keys, &law_case::channels,
                            &law_case::value_channels, &law_case::query_first, &law_case::key_first}) {
        if (c.*axis > 1) with([&](law_case& d) { d.*axis = c.*axis / 2; });
        if (c.*axis > 0 && axis != &law_case::channels && axis != &law_case::value_channels)
            with([&](law_case& d) { d.*axis = c.*axis - 1; });
        else if (c.*axis > 1)
            with([&](law_case& d) { d.*axis = c.*axis - 1; });
    }
    if (c.heads > 1) with([](law_case& d) { d.heads = d.key_value_heads = 1; });
    if (c.heads > c.key_value_heads) with([](law_case& d) { d.heads = d.key_value_heads; });
    if (c.how != kind::plain) with([](law_case& d) { d.how = kind::plain; });
    if (c.query_list) with([](law_case& d) { d.query_list = false; });
    if (c.key_list) with([](law_case& d) { d.key_list = false; });
    if (c.scale != 0) with([](law_case& d) { d.scale = 0; });
    program const& p = c.policy;
    if (p.sink_base > -math::infinity<double>) {
        with([](law_case& d) { d.policy.sink_base = -math::infinity<double>; });
        if (p.sink_base != 0) with([](law_case& d) { d.policy.sink_base = 0; });
    }
    for (int i = 0; i < p.score_count; ++i) {
        with([&](law_case& d) {
            for (int j = i; j + 1 < p.score_count; ++j) d.policy.score_nodes[j] = p.score_nodes[j + 1];
            --d.policy.score_count;
        });
    }
    for (int i = p.count - 1; i >= 0; --i) {
        program::node const& n = p.nodes[i];
        if (n.what < program::op::sink_token) { // a leaf: a smaller one, or none where it stands alone
            if (p.count == 1) with([](law_case& d) { d.policy.count = 0; });
            if (n.what != program::op::full) with([&](law_case& d) { d.policy.nodes[i] = {program::op::full, 0, 0}; });
            if (n.a > 2)
                with([&](law_case& d) { d.policy.nodes[i].a /= 2, d.policy.nodes[i].b = math::min(n.b, n.a / 2 - 1); });
            if (n.b > 0) with([&](law_case& d) { d.policy.nodes[i].b /= 2; });
            continue;
        }
        int const begin = subtree_begin(p, i), right = subtree_begin(p, i - 1);
        with([&](law_case& d) { d.policy = replaced(p, begin, i + 1, right, i); }); // the last operand alone
        if (n.what >= program::op::all_of)
            with([&](law_case& d) { d.policy = replaced(p, begin, i + 1, begin, right); }); // the first
        if (n.what == program::op::sink_token && n.a > 0) with([&](law_case& d) { d.policy.nodes[i].a /= 2; });
    }
    return list;
}

/// The simplest case, in greedy steps, that still fails.
template <class Fails>
law_case shrink(law_case c, Fails const& fails) {
    for (int steps = 0; steps < 300;) {
        bool moved = false;
        for (law_case const& d : simpler(c)) {
            if (++steps > 300 || !fails(d)) continue;
            c = d;
            moved = true;
            break;
        }
        if (!moved) break;
    }
    return c;
}

} // namespace laws
