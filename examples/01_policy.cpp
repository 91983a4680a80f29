// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT

// A policy says who may see whom. Here: a neighbourhood of two tokens on each side, and everyone sees the first four.
#include <basin/backend/eigen.hpp>
#include <basin/basin.hpp>

#include <Eigen/Core>
#include <cstdio>

int main() {
    int const tokens = 12, channels = 4;
    // All scores are 0, so that a query takes the mean of what it sees, and the result can be checked by hand.
    Eigen::MatrixXf const q = Eigen::MatrixXf::Zero(tokens, channels), k = Eigen::MatrixXf::Zero(tokens, channels);
    // The value of a token is its position.
    Eigen::MatrixXf const v = Eigen::VectorXf::LinSpaced(tokens, 0, tokens - 1).replicate(1, channels);
    Eigen::MatrixXf out(tokens, channels);

    auto const policy = basin::any_of(basin::window{.before = 2, .after = 2}, basin::prefix{4});
    basin::attention(basin::eigen_backend{}, q, k, v, out, policy);

    for (int query : {0, 5, 9}) std::printf("token %d takes %.2f\n", query, static_cast<double>(out(query, 0)));
}

// Token 9 sees 0 1 2 3 and 7 8 9 10 11: (6 + 45) / 9.
//
// prints:
// token 0 takes 1.50
// token 5 takes 3.50
// token 9 takes 5.67
