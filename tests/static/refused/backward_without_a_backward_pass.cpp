// expect: basin: this backend has no backward pass: it needs a member run_backward(task) const
// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#include <basin/attention_backward.hpp>
#include <basin/basin.hpp>

basin::buffer<float, 2> q(3, 4), k(5, 4), v(5, 4), out(3, 4), d_out(3, 4), d_q(3, 4), d_k(5, 4), d_v(5, 4);
basin::buffer<float, 1> rows(3);

struct forward_only {
    template <class Task>
    void run(Task const&) const {}
};
void run() {
    basin::attention_backward(forward_only{}, basin::saved{q, k, v, out, rows}, basin::upstream{d_out},
                              basin::gradients{d_q, d_k, d_v}, basin::full{});
}
