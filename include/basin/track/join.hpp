// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include <basin/track/life.hpp>

#include <algorithm>
#include <vector>

namespace basin {

/// Tracks of different heads and layers that were at the same key of the same text at the same time: one sink, seen many times.
/// Each track is in exactly one group; groups and their members are in order of track number.
inline std::vector<std::vector<index_t>> joined(std::vector<life> const& lives) {
    struct stay {
        index_t batch, key, begin, end;
        std::size_t track;
    };
    std::vector<stay> stays;
    std::vector<std::size_t> root(lives.size());
    for (std::size_t i = 0; i < lives.size(); ++i) {
        root[i] = i;
        for (waypoint const& w : lives[i].path) stays.push_back({lives[i].batch, w.key, w.step, w.last, i});
    }
    std::sort(stays.begin(), stays.end(), [](stay const& a, stay const& b) {
        if (a.batch != b.batch) return a.batch < b.batch;
        if (a.key != b.key) return a.key < b.key;
        return a.begin != b.begin ? a.begin < b.begin : a.track < b.track;
    });
    auto const find = [&](std::size_t i) {
        while (root[i] != i) i = root[i] = root[root[i]];
        return i;
    };
    for (std::size_t i = 1, open = 0; i < stays.size(); ++i) { // open: the stay at this key that ends last
        bool const same = stays[i].batch == stays[open].batch && stays[i].key == stays[open].key;
        if (same && stays[i].begin <= stays[open].end) {
            std::size_t const a = find(stays[i].track), b = find(stays[open].track);
            root[std::max(a, b)] = std::min(a, b);
        }
        if (!same || stays[i].end > stays[open].end) open = i;
    }
    std::vector<std::vector<index_t>> groups;
    std::vector<std::size_t> group_of(lives.size());
    for (std::size_t i = 0; i < lives.size(); ++i) {
        std::size_t const r = find(i);
        if (r == i) {
            group_of[i] = groups.size();
            groups.emplace_back();
        }
        groups[group_of[r]].push_back(static_cast<index_t>(i));
    }
    return groups;
}

} // namespace basin
