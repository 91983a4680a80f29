// expect: basin: the elements are not numbers that basin knows: float, double, half, bfloat16; a list of matrices is one call for each
// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#include <basin/basin.hpp>
#include <vector>

std::vector<basin::buffer<float, 2>> q, k, v, out;

void run() {
    basin::attention(basin::reference_backend{}, basin::heads(q), basin::heads(k), basin::heads(v), basin::heads(out),
                     basin::full{});
}
