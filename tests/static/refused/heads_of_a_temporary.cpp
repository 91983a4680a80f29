// expect: basin: heads(), batches() and bthc() borrow: give them a named array, not a temporary
// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#include <basin/basin.hpp>

auto const dangling = basin::heads(basin::buffer<float, 3>(2, 3, 4));
