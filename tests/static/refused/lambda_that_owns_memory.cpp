// expect: basin: this lambda is not trivially copyable, as kernels need it: capture a std::span or a basin::view instead of a container, and numbers one by one instead of a std::pair or std::tuple
// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#include <basin/basin.hpp>

#include <vector>

std::vector<int> document(5);
auto const mine = basin::mask_if([document = document](basin::site s) { return document[s.query] == document[s.key]; });
