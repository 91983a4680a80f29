// expect: basin: a list of positions holds basin::index_t (32-bit)
// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#include <basin/basin.hpp>

#include <vector>

std::vector<long> const list{3, 4};
basin::options const wide{.query_position = list};
