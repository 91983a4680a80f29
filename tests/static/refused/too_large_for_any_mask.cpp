// expect: basin: this mask is too large for any_mask; put it in a key_bits or combine fewer masks
// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#include <basin/basin.hpp>

auto const large = basin::any_mask(basin::any_of(basin::sink_token{0}, basin::sink_token{1}));
