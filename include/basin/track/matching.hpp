// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include <basin/core/math.hpp>
#include <basin/core/site.hpp>

#include <vector>

namespace basin {

/// Which of yesterday's positions is which of today's. Both lists are sorted and have no duplicates; a pair may be matched if
/// it is at most `reach` apart. The result minimises the sum of all shifts, where leaving one of each side alone costs reach
/// + 1: a pair within reach is always better matched than lost and found. On a line the best assignment never needs to
/// cross, so that it is found exactly by a small table instead of the Hungarian method, in clusters that are further
/// than `reach` from each other. Of equally good ones the rule is fixed, hence deterministic.
class matcher {
public:
    /// For each old position the place of its partner in the new list, or -1.
    std::vector<index_t> const& match(std::vector<index_t> const& old, std::vector<index_t> const& now, index_t reach) {
        partner_.assign(old.size(), -1);
        std::size_t i = 0, j = 0;
        while (i < old.size() && j < now.size()) {
            // a cluster: the next positions of either list, while gaps are within reach
            std::size_t const i0 = i, j0 = j;
            long long last = math::min(old[i], now[j]);
            for (;;) {
                bool const take_old = i < old.size() && (j >= now.size() || old[i] <= now[j]);
                bool const more = i < old.size() || j < now.size();
                if (!more || (take_old ? old[i] : now[j]) - last > reach) break;
                last = take_old ? old[i++] : now[j++];
            }
            if (i - i0 == 1 && j - j0 == 1)
                partner_[i0] = static_cast<index_t>(j0); // within reach, or the cluster had ended
            else if (i > i0 && j > j0)
                solve(old, i0, i, now, j0, j, reach);
        }
        return partner_;
    }

private:
    void solve(std::vector<index_t> const& old, std::size_t i0, std::size_t i1, std::vector<index_t> const& now,
               std::size_t j0, std::size_t j1, index_t reach) {
        std::size_t const n = i1 - i0, m = j1 - j0, width = m + 1;
        long long const alone = static_cast<long long>(reach) + 1; // costs are doubled, so that half of it is whole
        cost_.resize((n + 1) * width);
        for (std::size_t j = 0; j <= m; ++j) cost_[j] = alone * static_cast<long long>(j);
        for (std::size_t i = 1; i <= n; ++i) {
            cost_[i * width] = alone * static_cast<long long>(i);
            for (std::size_t j = 1; j <= m; ++j) {
                long long best = math::min(cost_[(i - 1) * width + j], cost_[i * width + j - 1]) + alone;
                long long const shift = distance(old[i0 + i - 1], now[j0 + j - 1]);
                if (shift <= reach) best = math::min(best, cost_[(i - 1) * width + j - 1] + 2 * shift);
                cost_[i * width + j] = best;
            }
        }
        for (std::size_t i = n, j = m; i > 0 && j > 0;) {
            long long const here = cost_[i * width + j];
            long long const shift = distance(old[i0 + i - 1], now[j0 + j - 1]);
            if (shift <= reach && here == cost_[(i - 1) * width + j - 1] + 2 * shift)
                partner_[i0 + --i] = static_cast<index_t>(j0 + --j);
            else if (here == cost_[i * width + j - 1] + alone)
                --j;
            else
                --i;
        }
    }
    static long long distance(long long a, long long b) { return a < b ? b - a : a - b; }

    std::vector<index_t> partner_;
    std::vector<long long> cost_;
};

} // namespace basin
