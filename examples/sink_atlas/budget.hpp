// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include <basin/intervene/choose.hpp>

// How many keys can be hidden so that hiding as many others can be compared with it. Keys that are hidden already are neither
// sinks nor visible.
namespace sink_atlas {

/// Visible keys of a head that are no sinks.
inline int others_of(basin::detection const& found, int batch, int head) {
    return found.observed().count(batch, head) - found.keys().count(batch, head);
}

/// Whether every head has as many of them as `budget` has keys there.
inline bool has_control(basin::detection const& found, basin::key_set const& budget) {
    for (int b = 0; b < found.batch(); ++b)
        for (int h = 0; h < found.heads(); ++h)
            if (budget.count(b, h) > others_of(found, b, h)) return false;
    return true;
}

/// The `count` strongest sinks of each head, or as many as it has others.
inline basin::key_set strongest_with_control(basin::detection const& found, int count) {
    basin::key_set result = basin::strongest(found, count).keys;
    for (int b = 0; b < found.batch(); ++b)
        for (int h = 0; h < found.heads(); ++h) {
            if (result.count(b, h) <= others_of(found, b, h)) continue;
            auto const fewer = basin::strongest(found, others_of(found, b, h)).keys;
            for (int key = 0; key < result.keys(); ++key)
                if (result.bits().contains(b, h, key) && !fewer.bits().contains(b, h, key)) result.erase(b, h, key);
        }
    return result;
}

} // namespace sink_atlas
