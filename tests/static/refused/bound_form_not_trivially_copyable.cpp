// expect: basin: what bind() returns must be trivially copyable: hold views, not containers
// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#include <basin/basin.hpp>

basin::buffer<float, 2> q(3, 4), k(5, 4), v(5, 4), out(3, 4);

struct owning {
    basin::buffer<float, 1> data;
    bool visible(basin::site) const { return true; }
};
struct binds_to_owner {
    bool visible(basin::site) const { return true; }
    owning bind(basin::shape_facts const&) const { return {}; }
};
void run() { basin::attention(basin::reference_backend{}, q, k, v, out, binds_to_owner{}); }
