// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include <basin/detect/median.hpp>
#include <basin/detect/rule.hpp>

namespace basin {

/// A value norm below a fraction of the head's median: what "One Token Is Enough" saw in sinks (2.4 against 7 to 8). Usually
/// one half of a pair: `all_of(exceeds_others{}, low_norm{})`.
struct low_norm {
    /// Of the head's median norm: a sink's is below.
    double fraction = 0.5;

    template <class T>
    void judge(row_of_keys<T> const& row, verdict<T>* out) const {
        bool known = row.norm != nullptr;
        for (index_t i = 0; known && i < row.size(); ++i) known = row.norm[i] == row.norm[i];
        if (!known) {
            detail::fail<argument_error>("low_norm: the evidence has no value norms, or NaN among them; give them: "
                                         "evidence{mass}.norms(value_norms(v))");
        }
        T const middle = detail::median(std::vector<T>(row.norm, row.norm + row.size()));
        for (index_t i = 0; i < row.size(); ++i) {
            T const limit = static_cast<T>(fraction) * middle;
            out[i] = {row.norm[i] < limit, row.norm[i], limit, "low_norm", true};
        }
    }
    template <class T>
    void check(head_facts<T> const&) const {
        if (!(fraction >= 0)) detail::fail<argument_error>("low_norm: fraction is ", fraction);
        if (fraction == 0)
            detail::fail<argument_error>("low_norm: fraction = 0 can never fire: norms are not negative");
    }
};

} // namespace basin
