// expect: basin: this lambda owns memory: capture a std::span or a basin::view of it instead of the container
// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#include <basin/basin.hpp>

#include <vector>

std::vector<int> document(5);
auto const mine = basin::mask_if([document = document](basin::site s) { return document[s.query] == document[s.key]; });
