// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#include "tiny_dlm/attend_backward.hpp"
#include "tiny_dlm/attend_forward.hpp"
#include "tiny_dlm/model_body.hpp"
#include "variants.hpp"

#include <doctest/doctest.h>

namespace {

using namespace tiny_dlm_test;

/// The largest distance between the gradient and a central difference, over all parameters, in units of the allowed error.
double worst(model_config const& config) {
    tiny_dlm::model<double> net(config);
    net.initialise(3);
    // Away from the initial values of norms and logits, where some gradients would look alike.
    for (std::size_t i = 0; i < net.parameters().size(); ++i)
        net.parameters()[i] += 0.1 * std::sin(static_cast<double>(i));
    tiny_dlm::batch const texts = some_texts(config, 3);
    std::vector<double> gradients;
    net.loss_and_gradients(texts, gradients);
    double far = 0;
#ifdef BASIN_TEST_REDUCED // sanitizers: some of each tensor, all of them take minutes
    std::ptrdiff_t const of_large = 61, of_small = 17;
#else
    std::ptrdiff_t const of_large = 3, of_small = 1;
#endif
    for (auto const& t : net.tensors()) {
        for (std::ptrdiff_t i = t.offset; i < t.offset + t.size; i += t.size > 100 ? of_large : of_small) {
            double& x = net.parameters()[static_cast<std::size_t>(i)];
            double const old = x, h = 1e-5;
            x = old + h;
            double const up = net.loss(texts);
            x = old - h;
            double const down = net.loss(texts);
            x = old;
            double const slope = (up - down) / (2 * h), g = gradients[static_cast<std::size_t>(i)];
            far = farther(far, std::abs(slope - g) / (1e-8 + 1e-6 * std::abs(slope)));
        }
    }
    return far;
}

} // namespace

TEST_CASE("gradients of the whole model are those of finite differences, for every variant") {
    for (auto const& v : variants()) {
        CAPTURE(v.name);
        CHECK(worst(v.config) < 1);
    }
}

TEST_CASE("what is not a number is farther than any number, and stays so") {
    double const none = std::numeric_limits<double>::quiet_NaN();
    CHECK(farther(1, 2) == 2);
    CHECK(farther(2, 1) == 2);
    CHECK(!(farther(0, none) < 1));
    CHECK(!(farther(farther(0, none), 0.5) < 1));
}
