// expect: for a lambda write mask_if(...) or score_with(...)
// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#include <basin/basin.hpp>

basin::buffer<float, 2> q(3, 4), k(5, 4), v(5, 4), out(3, 4);

void run() {
    basin::attention(basin::reference_backend{}, q, k, v, out, [](basin::site s) { return s.key < s.query; });
}
