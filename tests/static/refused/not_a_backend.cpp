// expect: basin: the first argument must be a backend: reference_backend, eigen_backend, simd_backend, or a type with run(task) const
// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#include <basin/basin.hpp>

basin::buffer<float, 2> q(3, 4), k(5, 4), v(5, 4), out(3, 4);

struct nothing {};
void run() { basin::attention(nothing{}, q, k, v, out, basin::full{}); }
