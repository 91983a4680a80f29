// expect: basin: positions borrow their list: keep it in a variable
// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#include <basin/basin.hpp>

#include <vector>

basin::options const dangling{.query_position = std::vector<basin::index_t>{3, 4}};
