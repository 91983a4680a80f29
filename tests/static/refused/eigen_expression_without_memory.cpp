// expect: basin: this Eigen expression has no memory of its own: call .eval() and keep the result in a variable
// needs: eigen
// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#include <basin/basin.hpp>

#include <Eigen/Core>

void run(Eigen::MatrixXf const& q, Eigen::MatrixXf const& k, Eigen::MatrixXf const& v, Eigen::MatrixXf& out) {
    basin::attention(basin::reference_backend{}, q + q, k, v, out, basin::full{});
}
