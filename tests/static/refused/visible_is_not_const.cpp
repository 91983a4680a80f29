// expect: basin: this is not a policy:
// expect: const and public
// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#include <basin/basin.hpp>

basin::buffer<float, 2> q(3, 4), k(5, 4), v(5, 4), out(3, 4);

struct forgetful {
    bool visible(basin::site) { return true; }
};
void run() { basin::attention(basin::reference_backend{}, q, k, v, out, forgetful{}); }
