// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT

// A policy of one's own is a type with one member. It composes with the others, runs on every backend and can be drawn.
#include <basin/backend/eigen.hpp>
#include <basin/backend/simd.hpp>
#include <basin/basin.hpp>
#include <basin/testing/render.hpp>

#include <cstdio>

/// Even tokens see even ones, odd tokens see odd ones.
struct same_parity {
    constexpr bool visible(basin::site s) const { return (s.query ^ s.key) % 2 == 0; }
};

int main() {
    int const tokens = 8, channels = 4;
    auto const who = basin::all_of(same_parity{}, basin::causal{});
    std::printf("%s", basin::testing::render_text(who, {.queries = tokens, .keys = tokens}).c_str());

    basin::buffer<float, 2> q({tokens, channels}), k({tokens, channels}), v({tokens, channels}),
        out({tokens, channels});
    basin::buffer<float, 1> seen(tokens);
    auto const policy = basin::all_of(who, basin::softcap{30});
    auto const run = [&](char const* name, auto const& backend) {
        basin::attention(backend, q, k, v, out, policy, basin::seen{seen});
        std::printf("%s: token 1 is seen by %.0f, token 7 by %.0f\n", name, static_cast<double>(seen(1)),
                    static_cast<double>(seen(7)));
    };
    run("reference", basin::reference_backend{});
    run("eigen", basin::eigen_backend{});
    run("simd", basin::simd_backend{});
}

// prints:
// #.......
// .#......
// #.#.....
// .#.#....
// #.#.#...
// .#.#.#..
// #.#.#.#.
// .#.#.#.#
// reference: token 1 is seen by 4, token 7 by 1
// eigen: token 1 is seen by 4, token 7 by 1
// simd: token 1 is seen by 4, token 7 by 1
