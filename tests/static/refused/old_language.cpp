// expect: basin needs C++20: compile with -std=c++20 or newer
// errors: 2
// flags: -std=c++17
// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#include <basin/basin.hpp>
