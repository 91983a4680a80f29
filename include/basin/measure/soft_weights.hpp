// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include <basin/detect/rows.hpp>
#include <basin/detect/soft.hpp>

namespace basin {

/// The weights of the soft rule, (text, head, position), 0 where nothing was observed: one minus them is what
/// probability_scaled takes to fade sinks instead of cutting them.
template <class T>
buffer<double, 3> soft_weights(evidence<T> const& e, soft const& r, options const& o = {}) {
    detail::check_evidence(e);
    auto const& mass = e.received_view();
    layout const where = detail::make_layout(o, mass.extent(0), e.query_count(), mass.extent(3));
    buffer<double, 3> result(where.texts(), mass.extent(1),
                             math::max(detail::position_limit(where, false), mass.extent(3)));
    detail::row_columns columns;
    for (index_t i = 0; i < where.texts(); ++i)
        for (index_t h = 0; h < mass.extent(1); ++h) {
            auto const row = detail::read_row(e, where, where.at(i), h, columns);
            if (row.size() < 2) continue;
            detail::check_rule(r, row.head);
            for (index_t n = 0; n < row.size(); ++n) result(i, h, row.key[n]) = r.weight(row[n], row.head);
        }
    return result;
}

} // namespace basin
