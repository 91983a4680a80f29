// expect: basin: q, k, v and out must have the same scalar type
// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#include <basin/basin.hpp>

basin::buffer<float, 2> q(3, 4), k(5, 4), v(5, 4), out(3, 4);

basin::buffer<basin::half, 2> narrow(3, 4);
void run() { basin::attention(basin::reference_backend{}, q, k, v, narrow, basin::full{}); }
