// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT

// What including the library costs before anything is called.
#include <basin/backend/simd.hpp>
#include <basin/basin.hpp>

int main() {}
