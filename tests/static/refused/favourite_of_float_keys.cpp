// expect: basin: favourite{keys, probabilities}: the array of keys holds basin::index_t (32-bit)
// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#include <basin/basin.hpp>

basin::buffer<float, 1> keys(3), probabilities(3);
auto const wrong = basin::favourite{keys, probabilities};
