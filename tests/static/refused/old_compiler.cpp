// expect(gcc): basin needs g++ 12 or newer: choose another compiler
// errors: 2
// expect(clang): basin needs clang 13 or newer: choose another compiler
// flags: -U__GNUC__ -D__GNUC__=11 -U__clang_major__ -D__clang_major__=12
// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#include <basin/basin.hpp>
