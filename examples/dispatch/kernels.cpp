// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#include "kernels.hpp"

#include <basin/backend/simd.hpp>

// ATTEND is the name for the instruction set that this is compiled for.
void ATTEND(call const& x) {
    auto const policy = basin::all_of(basin::window{.before = 64, .after = 64}, basin::softcap{30});
    basin::attention(basin::simd_backend{}, x.q, x.k, x.v, x.out, policy, basin::received{x.mass});
}
