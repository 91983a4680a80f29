// flags: -fno-exceptions -fno-rtti
// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#include <basin/basin.hpp>

void run(basin::buffer<float, 2>& q, basin::buffer<float, 2>& out, basin::buffer<float, 1>& mass) {
    basin::any_mask const chosen(basin::window{2, 2});
    auto const policy = basin::all_of(basin::sink_token{0}, chosen, basin::softcap{30.0}, basin::sink_logit{0});
    basin::attention(basin::reference_backend{}, q, q, q, out, policy, basin::received{mass});
}
