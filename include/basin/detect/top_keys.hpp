// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include <basin/detect/rule.hpp>

#include <algorithm>
#include <vector>

namespace basin {

/// The k keys of a head that receive most per query that sees them; of equals, the first ones. It always finds k, sink or
/// not: combine it with another rule (`all_of(top_keys{5}, exceeds_others{})`) to get "at most five".
struct top_keys {
    /// How many keys of each head.
    index_t k = 1;

    template <class T>
    void judge(row_of_keys<T> const& row, verdict<T>* out) const {
        index_t const n = row.size();
        std::vector<index_t> order(static_cast<std::size_t>(n));
        for (index_t i = 0; i < n; ++i) order[static_cast<std::size_t>(i)] = i;
        auto const before = [&](index_t a, index_t b) {
            return row.share[a] > row.share[b] || (row.share[a] == row.share[b] && a < b);
        };
        if (k < n) std::nth_element(order.begin(), order.begin() + k, order.end(), before);
        // the best one that did not make it
        T const limit = k < n ? row.share[order[static_cast<std::size_t>(k)]] : T(0);
        for (index_t rank = 0; rank < n; ++rank) {
            index_t const i = order[static_cast<std::size_t>(rank)];
            out[i] = {rank < k, row.share[i], limit, "top_keys", false};
        }
    }
    template <class T>
    void check(head_facts<T> const& head) const {
        if (k < 0) detail::fail<argument_error>("top_keys: k is ", k);
        if (k > head.keys)
            detail::fail<argument_error>("top_keys: k is ", k, ", but head ", head.head, " of batch entry ", head.batch,
                                         " has ", head.keys, " live keys");
    }
};

} // namespace basin
