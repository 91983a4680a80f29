// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include <basin/core/key_set.hpp>
#include <basin/core/math.hpp>

#include <vector>

namespace basin {

/// Of the sinks of a step, what share is still there d steps later? Give the sets of one layer, step by step.
class persistence {
public:
    /// The sinks of one more step.
    void add(key_set const& sinks) {
        if (!sets_.empty() && (sets_.back().batch() != sinks.batch() || sets_.back().heads() != sinks.heads() ||
                               sets_.back().keys() != sinks.keys())) {
            detail::fail<shape_error>("persistence: the extents of the sets changed between steps");
        }
        sets_.push_back(sinks);
    }
    /// Over all pairs of steps that are `distance` apart; NaN if none of them had a sink.
    double survival(index_t distance) const {
        if (distance < 0) detail::fail<argument_error>("persistence: a distance of ", distance, " steps");
        long long alive = 0, all = 0;
        for (std::size_t t = 0; t + static_cast<std::size_t>(distance) < sets_.size(); ++t) {
            key_set const &now = sets_[t], &later = sets_[t + static_cast<std::size_t>(distance)];
            for (index_t b = 0; b < now.batch(); ++b)
                for (index_t h = 0; h < now.heads(); ++h)
                    for (index_t word = 0; word < now.bits().words_per_row; ++word) {
                        std::uint64_t const x = now.bits().row(b, h)[word];
                        all += __builtin_popcountll(x);
                        alive += __builtin_popcountll(x & later.bits().row(b, h)[word]);
                    }
        }
        return all == 0 ? __builtin_nan("") : static_cast<double>(alive) / static_cast<double>(all);
    }
    /// After how many steps half of the sinks are gone, between steps by a straight line; infinite if that was not seen.
    double half_life() const {
        double before = 1;
        for (index_t d = 1; static_cast<std::size_t>(d) < sets_.size(); ++d) {
            double const now = survival(d);
            if (now != now) break;
            if (now <= 0.5) return d - 1 + (before - 0.5) / (before - now);
            before = now;
        }
        return math::infinity<double>;
    }

private:
    std::vector<key_set> sets_;
};

} // namespace basin
