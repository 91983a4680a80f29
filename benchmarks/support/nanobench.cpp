// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT

// The one translation unit that holds nanobench itself; the programs see its declarations only.
#define ANKERL_NANOBENCH_IMPLEMENT
#include <nanobench.h>
