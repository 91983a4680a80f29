// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT

// Sinks by the rule of "Attention Sinks in Diffusion Language Models", with its scale said aloud. As printed in the paper,
// masses are means, and epsilon = 3 could never be exceeded; on the scale of sums it means "four times the uniform share".
#include <basin/backend/simd.hpp>
#include <basin/basin.hpp>
#include <basin/detect.hpp>
#include <basin/measure/sweep.hpp>

#include <cstdio>

int main() {
    int const heads = 3, tokens = 64, channels = 8;
    basin::buffer<float, 4> q({1, heads, tokens, channels}), k = q, v = q, out = q;
    q.fill(1);
    for (int c = 0; c < channels; ++c) {
        k(0, 0, 12, c) = 1.0F; // head 0: a sink at 12
        k(0, 1, 12, c) = 0.8F; // head 1: the same one, and another at 40
        k(0, 1, 40, c) = 0.9F;
        k(0, 2, 30, c) = 0.3F; // head 2: a key that is merely liked
    }

    basin::buffer<float, 3> mass({1, heads, tokens});
    basin::attention(basin::simd_backend{}, q, k, v, out, basin::full{}, basin::received{mass});

    auto const rule = basin::exceeds_others{.epsilon = 3, .scale = basin::mass_scale::sum};
    auto const found = basin::detect(basin::simd_backend{}, basin::evidence{mass}, rule);
    for (auto const& s : found.list())
        std::printf("head %d: key %d received %.1f, a mean key 1.0\n", s.head, s.key, s.received);
    std::printf("%s\n", basin::explain(found.list().front()).c_str());

    // The paper chose epsilon = 3 from a sweep: one sort serves any number of thresholds.
    auto const curve = basin::sweep(basin::evidence{mass}, rule, {0, 1, 2, 3, 5, 10});
    for (std::size_t i = 0; i < curve.sinks.size(); ++i)
        std::printf("epsilon %4.1f: %lld of %lld keys are sinks (%.1f %% are not)\n", curve.thresholds[i],
                    curve.sinks[i], curve.keys, 100 * curve.filtered(i));

    try {
        basin::detect(basin::simd_backend{}, basin::evidence{mass},
                      basin::exceeds_others{.epsilon = 3, .scale = basin::mass_scale::mean});
    } catch (basin::argument_error const& e) {
        std::printf("%s\n", e.what());
    }
}

// prints:
// head 0: key 12 received 13.5, a mean key 1.0
// head 1: key 12 received 7.3, a mean key 1.0
// head 1: key 40 received 9.7, a mean key 1.0
// step 0, layer 0, batch 0, head 0: key 12 is a sink by exceeds_others: 13.55 against a threshold of 3.953, 9.596 above it; it received 13.55 from 64 queries (0.212 each), uniform attention would give 1
// epsilon  0.0: 4 of 192 keys are sinks (97.9 % are not)
// epsilon  1.0: 4 of 192 keys are sinks (97.9 % are not)
// epsilon  2.0: 3 of 192 keys are sinks (98.4 % are not)
// epsilon  3.0: 3 of 192 keys are sinks (98.4 % are not)
// epsilon  5.0: 3 of 192 keys are sinks (98.4 % are not)
// epsilon 10.0: 1 of 192 keys are sinks (99.5 % are not)
// exceeds_others: epsilon = 3 can never be exceeded on mass_scale::mean, where a key has at most 1; mass_scale::sum works, where uniform attention gives 1
