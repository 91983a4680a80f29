// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#include "tiny_dlm/layers.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>

namespace {

using tiny_dlm::fixed_weights;
using tiny_dlm::matrix;
using tiny_dlm::weights;

template <class T>
matrix<T> numbers(Eigen::Index rows, Eigen::Index columns, double seed) {
    matrix<T> x(rows, columns);
    for (Eigen::Index i = 0; i < x.size(); ++i)
        x.data()[i] = static_cast<T>(std::sin(seed + 1.7 * static_cast<double>(i)));
    return x;
}

/// `run(weights, their gradients)` with both at every distance from an aligned address; it gives what it computed beside them.
/// How often any bit was another than at the first.
template <class T, class Run>
int differences(matrix<T> const& given, Run const& run) {
    std::vector<T> first;
    int different = 0;
    for (std::ptrdiff_t shift = 0; shift < 16; ++shift) {
        auto const size = static_cast<std::size_t>(given.size());
        std::vector<T> held(size + 32), made(size + 32);
        std::copy_n(given.data(), given.size(), held.begin() + shift);
        weights<T> const gradient(made.data() + shift, given.rows(), given.cols());
        std::vector<T> all = run(fixed_weights<T>(held.data() + shift, given.rows(), given.cols()), gradient);
        all.insert(all.end(), made.begin() + shift, made.begin() + shift + given.size());
        if (shift == 0) first = all;
        different += all == first ? 0 : 1;
    }
    return different;
}
template <class T>
void append(std::vector<T>& to, matrix<T> const& x) {
    to.insert(to.end(), x.data(), x.data() + x.size());
}

template <class T>
void check_addresses() {
    for (Eigen::Index const width : {9, 16, 37, 64}) {
        CAPTURE(width);
        matrix<T> const x = numbers<T>(7, width, 0.3), d_y = numbers<T>(7, width, 0.8), d_wide = numbers<T>(7, 24, 0.5);
        CHECK(differences<T>(numbers<T>(1, width, 0.1), [&](fixed_weights<T> gain, weights<T> d_gain) {
                  std::vector<T> inverse, all;
                  matrix<T> y, d_x = matrix<T>::Ones(7, width);
                  tiny_dlm::rms_norm<T>(x, gain, y, inverse);
                  tiny_dlm::rms_norm_backward<T>(x, gain, inverse, d_y, d_x, d_gain);
                  append(all, y);
                  append(all, d_x);
                  return all;
              }) == 0);
        CHECK(differences<T>(numbers<T>(24, width, 0.2), [&](fixed_weights<T> w, weights<T> d_w) {
                  std::vector<T> all;
                  matrix<T> y, d_x;
                  tiny_dlm::linear<T>(x, w, y);
                  tiny_dlm::linear_backward<T>(x, w, d_wide, d_x, d_w);
                  append(all, y);
                  append(all, d_x);
                  return all;
              }) == 0);
    }
}

} // namespace

TEST_CASE("layers give the same bits wherever parameters and gradients lie in memory") {
    check_addresses<float>();
    check_addresses<double>();
}
