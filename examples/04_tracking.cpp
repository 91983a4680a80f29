// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT

// Sinks through denoising: a tracker gives each sink an identity, and says what happens to it from step to step.
#include <basin/basin.hpp>
#include <basin/detect.hpp>
#include <basin/track.hpp>

#include <cstdio>

namespace {
/// The keys of a toy model at a step of denoising: a sink that drifts to the right as tokens are decoded, one on a line break
/// that stays, and one that lives for two steps only.
void make_keys(basin::buffer<float, 4>& k, int step) {
    k.fill(0);
    for (int c = 0; c < 8; ++c) {
        k(0, 0, 8 + 3 * step, c) = 1;
        k(0, 0, 50, c) = 0.9F;
        if (step == 3 || step == 4) k(0, 0, 40, c) = 1;
    }
}
} // namespace

int main() {
    int const tokens = 64, channels = 8, steps = 7;
    basin::buffer<float, 4> q({1, 1, tokens, channels}), k = q, v = q, out = q;
    basin::buffer<float, 3> mass({1, 1, tokens});
    q.fill(1);

    basin::tracker track{{.max_shift = 4}};
    for (int step = 0; step < steps; ++step) {
        make_keys(k, step);
        basin::attention(basin::reference_backend{}, q, k, v, out, basin::full{}, basin::received{mass});
        // Tokens to the left of the drifting sink are decoded, the others still masked.
        std::vector<basin::token_kind> kinds(tokens, basin::token_kind::masked);
        for (int i = 0; i < 8 + 3 * step; ++i) kinds[static_cast<std::size_t>(i)] = basin::token_kind::decoded;

        auto const found =
            basin::detect(basin::reference_backend{}, basin::evidence{mass}.kinds(kinds), basin::exceeds_others{});
        for (auto const& e : track.update(step, 0, found)) {
            std::printf("step %d: sink %d %s", e.step, e.track, basin::name_of(e.what));
            if (e.what == basin::happening::moved)
                std::printf(" from %d to %d\n", e.from, e.to);
            else
                std::printf(" at %d\n", e.to >= 0 ? e.to : e.from);
        }
    }

    std::printf("%lld born, %lld died, %lld living\n", track.births(), track.deaths(), track.living());
    for (auto const& l : track.lives()) {
        auto const &from = l.path.front(), &to = l.path.back();
        std::printf("sink %d: %d steps, key %d to %d, %.1f at its strongest, on a %s token\n", l.track, l.steps,
                    from.key, to.key, l.peak, basin::name_of(to.kind));
    }
}

// prints:
// step 0: sink 0 born at 8
// step 0: sink 1 born at 50
// step 1: sink 0 moved from 8 to 11
// step 2: sink 0 moved from 11 to 14
// step 3: sink 0 moved from 14 to 17
// step 3: sink 2 born at 40
// step 4: sink 0 moved from 17 to 20
// step 5: sink 0 moved from 20 to 23
// step 5: sink 2 died at 40
// step 6: sink 0 moved from 23 to 26
// 3 born, 1 died, 2 living
// sink 0: 7 steps, key 8 to 26, 11.8 at its strongest, on a masked token
// sink 1: 7 steps, key 50 to 50, 8.9 at its strongest, on a masked token
// sink 2: 2 steps, key 40 to 40, 10.1 at its strongest, on a masked token
