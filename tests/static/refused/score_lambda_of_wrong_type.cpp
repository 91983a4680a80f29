// expect: basin: score(x, site) must return the type of x
// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#include <basin/basin.hpp>

basin::buffer<float, 2> q(3, 4), k(5, 4), v(5, 4), out(3, 4);

void run() {
    basin::attention(basin::reference_backend{}, q, k, v, out, basin::score_with([](auto x, auto) { return x * 0.5; }));
}
