// expect: basin: a policy that is not trivially copyable (it owns memory, or holds a std::pair or std::tuple) needs a member bind(basin::shape_facts) const that returns a form that is
// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#include <basin/basin.hpp>

basin::buffer<float, 2> q(3, 4), k(5, 4), v(5, 4), out(3, 4);

struct owning {
    basin::buffer<float, 1> data;
    bool visible(basin::site) const { return true; }
};
void run() { basin::attention(basin::reference_backend{}, q, k, v, out, owning{}); }
