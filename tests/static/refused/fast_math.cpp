// expect: basin needs infinities and NaN: compile without -ffast-math and -ffinite-math-only
// flags: -ffast-math
// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#include <basin/basin.hpp>
