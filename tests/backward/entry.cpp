// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#include <basin/basin.hpp>
#include <basin/tape.hpp>
#include <support/random.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <vector>

using namespace basin;

namespace {

void fill_random(double* x, std::ptrdiff_t n, std::uint64_t seed) {
    basin_test::random_numbers random{seed};
    for (std::ptrdiff_t i = 0; i < n; ++i) x[i] = random.uniform(-1, 1);
}

/// The largest difference between a gradient and the central differences of a loss, relative to the largest of them.
template <class Loss>
double error_of(Loss const& loss, double* x, double const* d, std::ptrdiff_t n) {
    double worst = 0, largest = 1e-300;
    for (std::ptrdiff_t i = 0; i < n; ++i) {
        double const before = x[i], step = 1e-5;
        x[i] = before + step;
        double const more = loss();
        x[i] = before - step;
        double const less = loss();
        x[i] = before;
        double const slope = (more - less) / (2 * step);
        worst = std::fmax(worst, std::fabs(slope - d[i]));
        largest = std::fmax(largest, std::fabs(slope));
    }
    return worst / largest;
}

} // namespace

TEST_CASE("a learned sink logit and a tape follow finite differences") {
    buffer<double, 4> q(1, 2, 5, 3), k(1, 1, 7, 3), v(1, 1, 7, 4), out(1, 2, 5, 4), d_out(1, 2, 5, 4);
    buffer<double, 4> d_q(1, 2, 5, 3), d_k(1, 1, 7, 3), d_v(1, 1, 7, 4);
    fill_random(q.data(), q.size(), 1);
    fill_random(k.data(), k.size(), 2);
    fill_random(v.data(), v.size(), 3);
    fill_random(d_out.data(), d_out.size(), 4);
    std::vector<double> logits{0.5, -0.25}, d_logits{0, 0}, degree{1.5}, d_degree{0};
    auto const forward = [&] {
        return attend(reference_backend{}, q, k, v, out,
                      all_of(window{2, 3}, learned{sink_logit{logits}, d_logits}, softcap{2},
                             learned{temperature{degree[0]}, d_degree}));
    };
    auto const loss = [&] {
        forward();
        double sum = 0;
        for (std::ptrdiff_t i = 0; i < out.size(); ++i) sum += out.data()[i] * d_out.data()[i];
        return sum;
    };
    forward().backward(upstream{d_out}, gradients{d_q, d_k, d_v});
    CHECK(error_of(loss, q.data(), d_q.data(), q.size()) < 1e-7);
    CHECK(error_of(loss, k.data(), d_k.data(), k.size()) < 1e-7);
    CHECK(error_of(loss, v.data(), d_v.data(), v.size()) < 1e-7);
    CHECK(error_of(loss, logits.data(), d_logits.data(), 2) < 1e-7);
    CHECK(error_of(loss, degree.data(), d_degree.data(), 1) < 1e-7);
}
