// expect: basin: all gradients, d_out among them, are in the accumulation type: float for float and 16-bit arrays, double for double
// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#include <basin/attention_backward.hpp>
#include <basin/basin.hpp>

basin::buffer<float, 2> q(3, 4), k(5, 4), v(5, 4), out(3, 4), d_out(3, 4), d_q(3, 4), d_k(5, 4), d_v(5, 4);
basin::buffer<float, 1> rows(3);

basin::buffer<double, 2> wide(3, 4);
void run() {
    basin::attention_backward(basin::reference_backend{}, basin::saved{q, k, v, out, rows}, basin::upstream{wide},
                              basin::gradients{d_q, d_k, d_v}, basin::full{});
}
