// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include <support/arrays.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <string>

// Foreign arrays against the same numbers in buffers: equal bits.
namespace basin_test {

struct plain {
    mutable basin::buffer<float, 4> q, k, v, out;
    plain(int b, int h, int t, int c) : q(b, h, t, c), k(b, h, t, c), v(b, h, t, c), out(b, h, t, c) {
        random_numbers r{12, 0};
        for (auto* x : {&q, &k, &v})
            for (float& y : *x) y = static_cast<float>(r.uniform(-2, 2));
    }
};

/// `call(run)` must call run(q, k, v, out) with the numbers of x in other arrays, and leave the result in x.out.
template <class Call>
void same_as_plain(plain const& x, Call const& call) {
    auto const policy = basin::all_of(basin::causal{}, basin::softcap{4.0});
    basin::buffer<float, 4> want(x.out.extents());
    basin::attention(basin::reference_backend{}, x.q, x.k, x.v, want, policy);
    x.out.fill(-77);
    call([&](auto&& q, auto&& k, auto&& v, auto&& out) {
        basin::attention(basin::reference_backend{}, q, k, v, static_cast<decltype(out)&&>(out), policy);
    });
    int wrong = 0;
    for (std::ptrdiff_t i = 0; i < want.size(); ++i) wrong += x.out.data()[i] == want.data()[i] ? 0 : 1;
    CHECK(want.size() > 0);
    CHECK(wrong == 0);
}

template <class F>
std::string words(F const& f) {
    try {
        f();
    } catch (basin::error const& e) {
        return e.what();
    }
    return "nothing was thrown";
}

} // namespace basin_test
