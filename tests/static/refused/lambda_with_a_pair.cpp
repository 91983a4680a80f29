// expect: basin: this lambda is not trivially copyable, as kernels need it: capture a std::span or a basin::view instead of a container, and numbers one by one instead of a std::pair or std::tuple
// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#include <basin/basin.hpp>

#include <utility>

std::pair<int, int> const span{2, 5};
auto const mine = basin::score_with([span = span](float x, basin::site s) { return s.key < span.second ? x : -x; });
