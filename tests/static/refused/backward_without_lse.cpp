// expect: basin: saved needs the lse of the forward call: attention(..., lse{rows}), then saved{q, k, v, out, rows}
// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#include <basin/attention_backward.hpp>
#include <basin/basin.hpp>

basin::buffer<float, 2> q(3, 4), k(5, 4), v(5, 4), out(3, 4), d_out(3, 4), d_q(3, 4), d_k(5, 4), d_v(5, 4);
basin::buffer<float, 1> rows(3);

auto run() { return basin::saved{q, k, v, out}; }
