// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include <basin/detect/rows.hpp>
#include <basin/detect/rule.hpp>

#include <algorithm>
#include <vector>

namespace basin {

/// How many keys a rule calls sinks at each threshold.
struct sweep_curve {
    /// In the order in which they were given.
    std::vector<double> thresholds;
    std::vector<long long> sinks; ///< over all batch entries and heads
    long long keys = 0;           ///< live ones

    /// The share that is *not* a sink: the first paper chose epsilon = 3 because this was at least 0.96.
    double filtered(std::size_t i) const {
        return keys == 0 ? __builtin_nan("") : 1 - static_cast<double>(sinks[i]) / static_cast<double>(keys);
    }
};

/// A rule that knows the threshold at which each key stops being a sink needs one sort for any number of thresholds:
/// O(S log S) and not O(S x thresholds). The rule's own threshold is only checked, not used.
template <class T, rule R>
    requires requires(R const& r, key_facts<double> const& key, head_facts<double> const& head) {
        r.critical(key, head);
    }
sweep_curve sweep(evidence<T> const& e, R const& r, std::vector<double> thresholds, options const& o = {}) {
    detail::check_evidence(e);
    auto const& mass = e.received_view();
    layout const where = detail::make_layout(o, mass.extent(0), e.query_count(), mass.extent(3));
    sweep_curve curve;
    curve.thresholds = std::move(thresholds);
    curve.sinks.resize(curve.thresholds.size());
    detail::row_columns columns;
    std::vector<double> critical;
    for (index_t i = 0; i < where.texts(); ++i) {
        text const t = where.at(i);
        for (index_t h = 0; h < mass.extent(1); ++h) {
            auto const row = detail::read_row(e, where, t, h, columns);
            curve.keys += row.size();
            if (row.size() < 2) continue;
            detail::check_rule(r, row.head);
            for (index_t n = 0; n < row.size(); ++n) critical.push_back(r.critical(row[n], row.head));
        }
    }
    std::sort(critical.begin(), critical.end());
    for (std::size_t i = 0; i < curve.thresholds.size(); ++i) {
        curve.sinks[i] = critical.end() - std::upper_bound(critical.begin(), critical.end(), curve.thresholds[i]);
    }
    return curve;
}

} // namespace basin
