// expect: basin: q, k, v and out must have the same scalar type: convert one side, basin mixes no precisions silently
// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#include <basin/basin.hpp>

basin::buffer<float, 2> q(3, 4), k(5, 4), v(5, 4), out(3, 4);

basin::buffer<double, 2> wide(5, 4);
void run() { basin::attention(basin::reference_backend{}, q, wide, v, out, basin::full{}); }
