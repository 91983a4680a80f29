// expect: basin: gradients are written, but an array is const
// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#include <basin/attention_backward.hpp>
#include <basin/basin.hpp>

basin::buffer<float, 2> q(3, 4), k(5, 4), v(5, 4), out(3, 4), d_out(3, 4), d_q(3, 4), d_k(5, 4), d_v(5, 4);
basin::buffer<float, 1> rows(3);

basin::buffer<float, 2> const fixed(3, 4);
auto run() { return basin::gradients{fixed, d_k, d_v}; }
