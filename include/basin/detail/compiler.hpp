// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

// One sentence instead of hundreds of errors. The header that does not exist ends the compilation there.
#if !defined(_MSC_VER) && __cplusplus < 202002L
#error basin needs C++20: compile with -std=c++20 or newer
#include <basin/stop>
#elif defined(__clang__) && !defined(__apple_build_version__) && __clang_major__ < 13
#error basin needs clang 13 or newer: choose another compiler, in CMake by -DCMAKE_CXX_COMPILER=...
#include <basin/stop>
#elif defined(__GNUC__) && !defined(__clang__) && __GNUC__ < 12
#error basin needs g++ 12 or newer: choose another compiler, in CMake by -DCMAKE_CXX_COMPILER=...
#include <basin/stop>
#endif
