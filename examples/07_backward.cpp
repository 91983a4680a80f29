// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT

// Sinks are trained. Each head has a sink logit; head 0 is asked to say nothing, head 1 to say what it would say without a
// sink. A tape remembers the forward pass, `learned` says where the gradient of the logits goes.
#include <basin/basin.hpp>
#include <basin/tape.hpp>

#include <cstdio>
#include <vector>

int main() {
    int const heads = 2, tokens = 16, channels = 8;
    basin::buffer<double, 4> q({1, heads, tokens, channels}), k({1, heads, tokens, channels}),
        v({1, heads, tokens, channels}), out({1, heads, tokens, channels}), wanted({1, heads, tokens, channels});
    unsigned seed = 1;
    for (auto* array : {&q, &k, &v})
        for (double& x : *array) x = static_cast<double>((seed = seed * 1664525U + 1013904223U) >> 8U) / (1 << 23) - 1;

    basin::reference_backend const backend;
    basin::attention(backend, q, k, v, wanted, basin::full{});
    for (int i = 0; i < tokens * channels; ++i) wanted.data()[i] = 0; // head 0: nothing

    std::vector<double> logits{0, 0}, d_logits(2);
    basin::buffer<double, 4> d_out(out.extents()), d_q(q.extents()), d_k(k.extents()), d_v(v.extents());
    basin::buffer<double, 3> share({1, heads, tokens});
    for (int step = 0; step <= 60; ++step) {
        auto const policy = basin::learned{basin::sink_logit{logits}, d_logits};
        auto const tape = basin::attend(backend, q, k, v, out, policy, basin::escaped{share});

        double loss = 0;
        for (int i = 0; i < out.size(); ++i) {
            double const off = out.data()[i] - wanted.data()[i];
            loss += off * off / 2;
            d_out.data()[i] = off;
        }
        if (step % 20 == 0)
            std::printf("step %2d: loss %.3f, head 0 lets %2.0f %% escape, head 1 %2.0f %%\n", step, loss,
                        100 * share(0, 0, 0), 100 * share(0, 1, 0));

        tape.backward(basin::upstream{d_out}, basin::gradients{d_q, d_k, d_v});
        for (std::size_t h = 0; h < 2; ++h) logits[h] -= 5 * d_logits[h];
    }
}

// prints:
// step  0: loss 0.739, head 0 lets  6 % escape, head 1  5 %
// step 20: loss 0.006, head 0 lets 94 % escape, head 1  3 %
// step 40: loss 0.003, head 0 lets 96 % escape, head 1  2 %
// step 60: loss 0.002, head 0 lets 97 % escape, head 1  2 %
