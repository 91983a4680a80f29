// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include "parameters.hpp"

#include <Eigen/Core>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace tiny_dlm {

/// How weights follow gradients.
struct schedule {
    int steps = 800, warm_up = 50;
    double rate = 5e-3, floor = 0.05; ///< the largest learning rate, and the share of it that is left at the end
    double decay = 0.1, clip = 1;
    double first = 0.9, second = 0.98; ///< AdamW's betas

    /// Warm-up, then cosine.
    double rate_at(int step) const {
        if (step < warm_up) return rate * (step + 1) / warm_up;
        double const way = static_cast<double>(step - warm_up) / std::max(1, steps - warm_up);
        return rate * (floor + (1 - floor) * 0.5 * (1 + std::cos(std::numbers::pi * std::min(1.0, way))));
    }
};

/// AdamW on the flat array of all parameters.
class optimizer {
public:
    std::vector<float> mean, square; ///< running averages of the gradient and of its square
    int steps = 0;                   ///< made so far

    explicit optimizer(std::size_t parameters) : mean(parameters), square(parameters) {}

    /// Clips the gradient's norm, moves the parameters, returns the norm before clipping.
    double move(std::vector<float>& parameters, std::vector<float> const& gradients,
                std::vector<tensor_info> const& tensors, schedule const& how) {
        using numbers = Eigen::Map<Eigen::ArrayXf>;
        using given = Eigen::Map<Eigen::ArrayXf const>;
        auto const size = static_cast<Eigen::Index>(gradients.size());
        double const norm = given(gradients.data(), size).cast<double>().matrix().norm();
        auto const shrink = static_cast<float>(norm > how.clip ? how.clip / norm : 1);
        double const rate = how.rate_at(steps);
        ++steps;
        auto const b1 = static_cast<float>(how.first), b2 = static_cast<float>(how.second);
        auto const length = static_cast<float>(rate / (1 - std::pow(how.first, steps)));
        auto const correction = static_cast<float>(1 / (1 - std::pow(how.second, steps)));
        for (tensor_info const& t : tensors) {
            float const keep = t.decays ? static_cast<float>(1 - rate * how.decay) : 1.0F;
            auto const g = given(gradients.data() + t.offset, t.size) * shrink;
            numbers p(parameters.data() + t.offset, t.size);
            numbers m(mean.data() + t.offset, t.size), v(square.data() + t.offset, t.size);
            m = b1 * m + (1 - b1) * g;
            v = b2 * v + (1 - b2) * g.square();
            p = p * keep - length * m / ((v * correction).sqrt() + 1e-8F);
        }
        return norm;
    }
};

} // namespace tiny_dlm
