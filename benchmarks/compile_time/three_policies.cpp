// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT

// What compile_time.sh compiles: a program as users write it, with the simd backend and three policies.
#include <basin/backend/simd.hpp>
#include <basin/basin.hpp>

#include <cstdio>

int main() {
    int const tokens = 64, channels = 16;
    basin::buffer<float, 2> q(tokens, channels), k(tokens, channels), v(tokens, channels), out(tokens, channels);
    basin::buffer<float, 1> mass(tokens);
    basin::simd_backend const backend{};
    basin::attention(backend, q, k, v, out, basin::full{}, basin::received{mass});
    basin::attention(backend, q, k, v, out, basin::sink_token{0, basin::window{8, 8}});
    basin::attention(backend, q, k, v, out, basin::all_of(basin::causal{}, basin::softcap{30}));
    std::printf("%g %g\n", static_cast<double>(mass(0)), static_cast<double>(out(0, 0)));
}
