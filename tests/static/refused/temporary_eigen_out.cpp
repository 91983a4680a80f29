// expect: basin: out is a temporary: its result would be lost; give attention a named array
// needs: eigen
// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#include <basin/basin.hpp>

#include <Eigen/Core>

void run(Eigen::MatrixXf const& q) {
    basin::attention(basin::reference_backend{}, q, q, q, Eigen::MatrixXf(3, 3), basin::full{});
}
