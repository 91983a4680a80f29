// expect: basin: a statistic writes into your array: give it a named one, not a temporary
// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#include <basin/basin.hpp>

auto const lost = basin::received{basin::buffer<float, 1>(5)};
