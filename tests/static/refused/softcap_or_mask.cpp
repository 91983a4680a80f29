// expect: basin: any_of takes masks only:
// expect: to change scores in some places write where(mask, policy)
// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#include <basin/basin.hpp>

auto const nonsense = basin::softcap{30.0} | basin::causal{};
