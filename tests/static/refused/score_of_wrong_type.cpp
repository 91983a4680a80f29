// expect: basin: score(x, site) must return the type of x (float for float and 16-bit arrays, double for double): write template <class X, class Lane> X score(X x, basin::basic_site<Lane> const& s) const
// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#include <basin/basin.hpp>

basin::buffer<float, 2> q(3, 4), k(5, 4), v(5, 4), out(3, 4);

struct doubles {
    double score(double x, basin::site) const { return 2 * x; }
};
void run() { basin::attention(basin::reference_backend{}, q, k, v, out, doubles{}); }
