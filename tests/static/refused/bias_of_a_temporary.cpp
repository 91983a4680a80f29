// expect: basin: a bias borrows its table: keep the array in a variable, a temporary would dangle
// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#include <basin/basin.hpp>

auto const dangling = basin::bias{basin::buffer<float, 2>(3, 4)};
