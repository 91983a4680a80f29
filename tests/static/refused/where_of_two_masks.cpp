// expect: basin: where(mask, policy) needs a policy that changes scores or weights; to combine masks write all_of or any_of
// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#include <basin/basin.hpp>

auto const nonsense = basin::where(basin::causal{}, basin::prefix{2});
