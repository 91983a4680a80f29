// expect: basin: this score makes a plain number of its argument, so that dual numbers cannot differentiate it
// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#include <basin/attention_backward.hpp>
#include <basin/basin.hpp>

basin::buffer<float, 2> q(3, 4), k(5, 4), v(5, 4), out(3, 4), d_out(3, 4), d_q(3, 4), d_k(5, 4), d_v(5, 4);
basin::buffer<float, 1> rows(3);

#include <cmath>

struct bends {
    template <class X>
    X score(X x, basin::site) const {
        return static_cast<X>(std::tanh(x));
    }
};
void run() {
    basin::attention_backward(basin::reference_backend{}, basin::saved{q, k, v, out, rows}, basin::upstream{d_out},
                              basin::gradients{d_q, d_k, d_v}, bends{});
}
