// expect: basin: a statistic needs the members identity(), map(cell, site) and combine(a, b), const and public
// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#include <basin/basin.hpp>

basin::buffer<float, 2> q(3, 4), k(5, 4), v(5, 4), out(3, 4);

struct mine : basin::key_statistic<float> {
    using key_statistic::key_statistic;
    static constexpr float identity() { return 0; }
    float map(basin::cell<float> const& c, basin::site const&) const { return c.p; }
};
basin::buffer<float, 1> mass(5);
void run() { basin::attention(basin::reference_backend{}, q, k, v, out, basin::full{}, mine{mass}); }
