// expect: basin: a statistic writes into its array, but this one is const
// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#include <basin/basin.hpp>

basin::buffer<float, 1> const mass(5);
basin::received<float> const fixed{mass};
