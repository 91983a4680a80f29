// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT

// One program, built once, that takes the widest instructions of the processor on which it starts.
#include "kernels.hpp"

#include <cmath>
#include <cstdio>

struct path {
    char const* name;
    void (*attend)(call const&);
};

static path best() {
    // Processors that have these have the rest of x86-64-v4 and x86-64-v3.
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512vl"))
        return {"avx512", attend_avx512};
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2"))
        return {"avx2", attend_avx2};
    return {"sse2", attend_sse2};
}

int main() {
    int const tokens = 200, channels = 32;
    basin::buffer<float, 4> q({1, 1, tokens, channels}), k = q, v = q, out = q, expected = q;
    basin::buffer<float, 3> mass({1, 1, tokens}), expected_mass = mass;
    unsigned seed = 1;
    for (auto* array : {&q, &k, &v})
        for (float& x : *array) x = float((seed = seed * 1664525u + 1013904223u) >> 8) / float(1u << 23) - 1;

    path const here = best();
    here.attend({q, k, v, out, mass});

    auto const policy = basin::all_of(basin::window{.before = 64, .after = 64}, basin::softcap{30});
    basin::attention(basin::reference_backend{}, q, k, v, expected, policy, basin::received{expected_mass});
    float worst = 0;
    for (std::ptrdiff_t i = 0; i < out.size(); ++i)
        worst = std::fmax(worst, std::fabs(out.data()[i] - expected.data()[i]));
    for (std::ptrdiff_t i = 0; i < mass.size(); ++i)
        worst = std::fmax(worst, std::fabs(mass.data()[i] - expected_mass.data()[i]));

    // Errors cross the border as they would inside one program.
    basin::buffer<float, 3> wrong({1, 1, 3});
    bool caught = false;
    try {
        here.attend({q, k, v, out, wrong});
    } catch (basin::shape_error const&) {
        caught = true;
    }
    std::printf("%s %s the reference; a wrong shape was %s\n", here.name,
                worst < 1e-4f ? "agrees with" : "DIFFERS from", caught ? "refused" : "NOT refused");
    return worst < 1e-4f && caught ? 0 : 1;
}
