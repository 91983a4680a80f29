// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include <basin/detect/detection.hpp>

#include <cstdio>
#include <string>

namespace basin {

/// One sentence: which rule, which numbers, how far beyond the threshold.
inline std::string explain(sink const& s) {
    char text[512];
    int used = std::snprintf(text, sizeof text, "step %d, layer %d, batch %d, head %d: key %d is a sink by %s", s.step,
                             s.layer, s.batch, s.head, s.key, s.by);
    auto const add = [&](char const* format, auto... words) {
        if (used >= 0 && used < static_cast<int>(sizeof text))
            used += std::snprintf(text + used, sizeof text - static_cast<std::size_t>(used), format, words...);
    };
    if (s.number == s.number) {
        double const distance = s.below ? s.threshold - s.number : s.number - s.threshold;
        add(": %.4g against a threshold of %.4g, %.4g %s it", s.number, s.threshold, distance,
            s.below ? "below" : "above");
    }
    add("; it received %.4g from %.0f queries (%.3g each)", s.received, s.seen, s.share);
    if (s.baseline == s.baseline) add(", uniform attention would give %.4g", s.baseline);
    if (s.norm == s.norm) add("; its value has norm %.4g", s.norm);
    if (s.activation == s.activation) add("; its activation is %.4g", s.activation);
    if (s.kind != token_kind::unknown) add("; the token is %s", name_of(s.kind));
    return text;
}

} // namespace basin
