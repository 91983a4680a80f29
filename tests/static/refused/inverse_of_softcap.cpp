// expect: basin: none_of and ~ take masks only: a change of scores or a sink has no inverse
// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#include <basin/basin.hpp>

auto const nonsense = ~basin::softcap{30.0};
