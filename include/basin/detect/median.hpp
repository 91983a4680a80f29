// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include <basin/core/site.hpp>

#include <algorithm>
#include <vector>

namespace basin::detail {

/// The middle number, or the mean of the two in the middle; NaN of nothing. Takes its own copy.
template <class T>
T median(std::vector<T> x) {
    if (x.empty()) return static_cast<T>(__builtin_nan(""));
    auto const middle = x.begin() + static_cast<std::ptrdiff_t>(x.size() / 2);
    std::nth_element(x.begin(), middle, x.end());
    if (x.size() % 2 == 1) return *middle;
    return (*middle + *std::max_element(x.begin(), middle)) / T(2);
}

} // namespace basin::detail
