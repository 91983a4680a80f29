// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include <basin/detect/detection.hpp>
#include <basin/measure/sets.hpp>

#include <algorithm>

namespace basin {

/// Keys to intervene on, and how many were wanted: a result that does not say how many keys were really killed says little.
struct chosen_keys {
    /// The keys.
    key_set keys;
    /// How many keys were wanted, and how many could be had.
    index_t asked = 0, killed = 0;

    operator key_set const&() const { return keys; } // NOLINT: sink_masked{strongest(found, 5)}
};

/// All sinks.
inline chosen_keys every_sink(detection const& found) {
    return {found.keys(), found.keys().count(), found.keys().count()};
}

/// The k sinks of each head that receive most, or fewer where there are fewer; of equals the first.
inline chosen_keys strongest(detection const& found, index_t k) {
    if (k < 0) detail::fail<argument_error>("strongest: ", k, " keys");
    chosen_keys result{key_set(found.batch(), found.heads(), found.keys().keys()), 0, 0};
    std::vector<sink const*> row;
    auto next = found.list().begin();
    for (index_t b = 0; b < found.batch(); ++b)
        for (index_t h = 0; h < found.heads(); ++h) {
            row.clear();
            for (; next != found.list().end() && next->batch == b && next->head == h; ++next) row.push_back(&*next);
            std::sort(row.begin(), row.end(), [](sink const* x, sink const* y) {
                return x->share != y->share ? x->share > y->share : x->key < y->key;
            });
            if (found.head(b, h).keys > 0) result.asked += k;
            for (std::size_t i = 0; i < row.size() && static_cast<index_t>(i) < k; ++i) {
                result.keys.insert(b, h, row[i]->key);
                ++result.killed;
            }
        }
    return result;
}

} // namespace basin
