// expect: basin: lengths and offsets are borrowed: keep them in a variable
// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#include <basin/basin.hpp>

#include <vector>

basin::options const dangling{.lengths = std::vector<basin::index_t>{3, 4}};
