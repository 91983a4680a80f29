// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include "parameters.hpp"

#include <Eigen/Core>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

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

    /// Clips the gradient's norm, moves the parameters, returns the norm before clipping. `execute(n, f)` runs f(0) ... f(n - 1),
    /// perhaps at once, as a basin::thread_pool does.
    template <class Execute>
    double move(std::vector<float>& parameters, std::vector<float> const& gradients,
                std::vector<tensor_info> const& tensors, schedule const& how, Execute&& execute) {
        using numbers = Eigen::Map<Eigen::ArrayXf>;
        using given = Eigen::Map<Eigen::ArrayXf const>;
        struct piece { // small enough to stay in the nearest cache from one line below to the next
            std::ptrdiff_t begin, size;
            bool decays;
        };
        std::vector<piece> pieces;
        for (tensor_info const& t : tensors) {
            for (std::ptrdiff_t done = 0; done < t.size; done += 2048)
                pieces.push_back({t.offset + done, std::min<std::ptrdiff_t>(2048, t.size - done), t.decays});
        }
        auto const each_piece = [&](auto const& f) {
            constexpr int lots = 16;
            execute(lots, [&](int lot) {
                std::size_t const end = pieces.size() * static_cast<std::size_t>(lot + 1) / lots;
                for (std::size_t i = pieces.size() * static_cast<std::size_t>(lot) / lots; i < end; ++i) f(i);
            });
        };
        std::vector<double> squares(pieces.size());
        each_piece([&](std::size_t i) {
            squares[i] = given(gradients.data() + pieces[i].begin, pieces[i].size).cast<double>().square().sum();
        });
        double const norm = std::sqrt(std::accumulate(squares.begin(), squares.end(), 0.0));
        auto const shrink = static_cast<float>(norm > how.clip ? how.clip / norm : 1);
        double const rate = how.rate_at(steps);
        ++steps;
        auto const b1 = static_cast<float>(how.first), b2 = static_cast<float>(how.second);
        auto const length = static_cast<float>(rate / (1 - std::pow(how.first, steps)));
        auto const correction = static_cast<float>(1 / (1 - std::pow(how.second, steps)));
        each_piece([&](std::size_t i) {
            auto const [begin, size, decays] = pieces[i];
            float const keep = decays ? static_cast<float>(1 - rate * how.decay) : 1.0F;
            auto const g = given(gradients.data() + begin, size) * shrink;
            numbers p(parameters.data() + begin, size), m(mean.data() + begin, size), v(square.data() + begin, size);
            // Computed in Eigen's own memory: in ours, its address would decide which numbers go one by one instead of as
            // vectors, and a vector's square root may round otherwise.
            Eigen::ArrayXf now = b1 * m + (1 - b1) * g;
            m = now;
            now = b2 * v + (1 - b2) * g.square();
            v = now;
            now = p * keep - length * m / ((v * correction).sqrt() + 1e-8F);
            p = now;
        });
        return norm;
    }
};

} // namespace tiny_dlm
