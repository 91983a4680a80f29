// expect: basin: a kv_sink borrows its arrays: keep them in variables, a temporary would dangle
// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#include <basin/basin.hpp>

auto const dangling = basin::kv_sink{basin::buffer<float, 2>(1, 4)};
