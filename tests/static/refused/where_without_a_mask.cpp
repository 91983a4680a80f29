// expect: basin: the condition of where(mask, policy) must be a mask
// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#include <basin/basin.hpp>

auto const nonsense = basin::where(basin::softcap{2.0}, basin::softcap{30.0});
