// expect: basin: submit returns before its arrays are read: keep q, k and v in variables
// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#include <basin/backend/sycl.hpp>
#include <basin/policy/full.hpp>

basin::buffer<float, 4> made();

void dangles(basin::sycl_backend const& backend, basin::buffer<float, 4>& x, basin::buffer<float, 4>& out) {
    auto call = basin::submit(backend, x, made(), x, out, basin::full{});
    call.wait();
}
