// expect: basin: this statistic needs the values: ask attention for it, observe has no v
// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#include <basin/basin.hpp>

basin::buffer<float, 2> q(3, 4), k(5, 4), v(5, 4), out(3, 4);

basin::buffer<float, 1> lse(3), mass(5);
void run() { basin::observe(basin::reference_backend{}, q, k, lse, basin::full{}, basin::received_value{mass}); }
