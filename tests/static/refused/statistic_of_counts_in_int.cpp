// expect: basin: a statistic's array holds the statistic's own scalar, the accumulation type: float for float and 16-bit arrays, double for double; counts too
// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#include <basin/basin.hpp>

#include <vector>

struct mine : basin::key_statistic<float> {
    using key_statistic::key_statistic;
};
std::vector<int> counts(5);
mine const wrong{counts};
