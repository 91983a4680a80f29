// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

// What the program asks of its kernels. The file kernels.cpp is compiled three times, for three instruction sets; only
// these names leave it.
#include <basin/basin.hpp>

/// One call: arrays are (batch, head, token, channel), mass is (batch, head, key).
struct call {
    basin::view<float const, 4> q, k, v;
    basin::view<float, 4> out;
    basin::view<float, 3> mass;
};

extern "C" {
void attend_sse2(call const& x);
void attend_avx2(call const& x);
void attend_avx512(call const& x);
}
