// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include <basin/basin.hpp>

#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

namespace basin_test {

/// How far a sum in the accumulation type may be from the oracle, for numbers near 1.
template <class T>
inline constexpr double rounding = sizeof(basin::accumulation_t<T>) == sizeof(double) ? 1e-13 : 2e-6;
/// What storing adds, relative to the number: half a unit in the last place of 16-bit types.
template <class T>
inline constexpr double storing = 0;
template <>
inline constexpr double storing<basin::half> = 0x1.02p-11;
template <>
inline constexpr double storing<basin::bfloat16> = 0x1.02p-8;

/// Equal infinities are equal; NaN equals nothing.
inline bool near(double got, double want, double absolute, double relative) {
    if (got == want) return true;
    return std::abs(got - want) <= absolute + relative * std::abs(want); // false for NaN and infinities
}

/// The first difference of two lists in words, or "".
template <class Tolerance>
std::string difference(char const* what, std::vector<double> const& got, std::vector<double> const& want,
                       Tolerance const& tolerance, double relative = 0) {
    char text[256];
    if (got.size() != want.size()) {
        std::snprintf(text, sizeof text, "%s: %zu numbers, expected %zu", what, got.size(), want.size());
        return text;
    }
    for (std::size_t i = 0; i < got.size(); ++i) {
        if (near(got[i], want[i], tolerance(i), relative)) continue;
        std::snprintf(text, sizeof text, "%s[%zu] is %.17g, expected %.17g, off by %.3g, allowed %.3g", what, i, got[i],
                      want[i], got[i] - want[i], tolerance(i) + relative * std::abs(want[i]));
        return text;
    }
    return {};
}

} // namespace basin_test
