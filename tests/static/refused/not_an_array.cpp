// expect: basin: expected an array: basin::view or buffer, Eigen, xtensor, something like mdspan, or (rank 1) a contiguous range
// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#include <basin/basin.hpp>

basin::buffer<float, 2> q(3, 4), k(5, 4), v(5, 4), out(3, 4);

void run() { basin::attention(basin::reference_backend{}, 3, k, v, out, basin::full{}); }
