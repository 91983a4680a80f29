// expect: basin: what follows the policy must be options first, then statistics
// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#include <basin/basin.hpp>

basin::buffer<float, 2> q(3, 4), k(5, 4), v(5, 4), out(3, 4);

basin::buffer<float, 1> mass(5);
void run() {
    basin::attention(basin::reference_backend{}, q, k, v, out, basin::full{}, basin::received{mass}, basin::options{});
}
