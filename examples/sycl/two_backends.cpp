// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT

// The same policy and statistics on simd_backend and on whatever device SYCL chooses: how far apart are they?
// ACPP_VISIBILITY_MASK=omp (or cuda, hip, ...) says which devices AdaptiveCpp may choose from.

#include <basin/backend/simd.hpp>
#include <basin/backend/sycl.hpp>
#include <basin/basin.hpp>

#include <cmath>
#include <cstdio>

using namespace basin;

struct answer {
    buffer<float, 4> out;
    buffer<float, 3> mass, spread;
};

template <class Backend>
answer compute(Backend const& backend, buffer<float, 4> const& q, buffer<float, 4> const& k,
               buffer<float, 4> const& v) {
    answer a{buffer<float, 4>(q.extents()), buffer<float, 3>(1, 4, 200), buffer<float, 3>(1, 4, 200)};
    auto const policy = sink_token{{0}, block_causal{32}} & softcap{20} & sink_logit{0.5};
    attention(backend, q, k, v, a.out, policy, received{a.mass}, entropy{a.spread});
    return a;
}

float largest_difference(auto const& a, auto const& b) {
    float worst = 0;
    for (std::ptrdiff_t i = 0; i < a.size(); ++i) {
        float const off = std::fabs(a.data()[i] - b.data()[i]);
        if (!(off <= worst)) worst = off; // NaN counts too, which fmax would leave out
        if (std::isnan(worst)) break;
    }
    return worst;
}

int main() {
    buffer<float, 4> q(1, 4, 200, 64), k(1, 4, 200, 64), v(1, 4, 200, 64);
    for (auto* const x : {&q, &k, &v})
        for (std::ptrdiff_t i = 0; i < x->size(); ++i)
            x->data()[i] = std::sin(0.37F * static_cast<float>(i * i % 1009));

    answer const here = compute(simd_backend{}, q, k, v);
    for (auto const kernel : {sycl_kernel::coarse, sycl_kernel::tile}) {
        sycl_backend const device{.kernel = kernel};
        answer const there = compute(device, q, k, v);
        float const out = largest_difference(here.out, there.out), mass = largest_difference(here.mass, there.mass),
                    spread = largest_difference(here.spread, there.spread);
        std::printf("%s kernel: out %.1e, received %.1e, entropy %.1e\n",
                    kernel == sycl_kernel::coarse ? "coarse" : "tile", static_cast<double>(out),
                    static_cast<double>(mass), static_cast<double>(spread));
        if (!(out < 1e-5F && mass < 1e-4F && spread < 1e-4F)) return 1;
    }
    std::printf("largest differences are rounding\n");
}
