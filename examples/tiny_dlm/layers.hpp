// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Core>

#include <cmath>
#include <vector>

// The dense parts of a transformer, forward and backward, written with Eigen. Everything is a matrix with one token per row.
// A backward function takes the gradient of the loss by its output and gives that by its input and by its parameters; it
// overwrites, except where it says that it adds. Parameters lie anywhere in a flat array: sum products of them, which Eigen adds up
// from the first on, never such an array itself, where Eigen begins at the first aligned element and bits would depend on addresses.
namespace tiny_dlm {

template <class T>
using matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
template <class T>
using row_vector = Eigen::Matrix<T, 1, Eigen::Dynamic>;
/// A tensor inside the flat array of parameters or gradients.
template <class T>
using weights = Eigen::Map<matrix<T>>;
template <class T>
using fixed_weights = Eigen::Map<matrix<T> const>;

// ---- linear: y = x W', with W (outputs, inputs) ---------------------------------------------------------------------

template <class T, class X>
void linear(X const& x, fixed_weights<T> const& w, matrix<T>& y) {
    y.noalias() = x * w.transpose();
}
template <class T, class X, class Y>
void linear_backward(X const& x, fixed_weights<T> const& w, Y const& d_y, matrix<T>& d_x, weights<T> d_w) {
    d_w.noalias() = d_y.transpose() * x;
    d_x.noalias() = d_y * w;
}

// ---- RMSNorm: y = x / sqrt(mean(x^2) + 1e-6) * gain -------------------------------------------------------------------

template <class T>
void rms_norm(matrix<T> const& x, fixed_weights<T> const& gain, matrix<T>& y, std::vector<T>& inverse) {
    inverse.resize(static_cast<std::size_t>(x.rows()));
    y.resize(x.rows(), x.cols());
    for (Eigen::Index i = 0; i < x.rows(); ++i) {
        T const scale = T(1) / std::sqrt(x.row(i).squaredNorm() / static_cast<T>(x.cols()) + T(1e-6));
        inverse[static_cast<std::size_t>(i)] = scale;
        y.row(i).array() = x.row(i).array() * scale * gain.row(0).array();
    }
}
/// Adds to d_x: the residual stream's own gradient is already there.
template <class T>
void rms_norm_backward(matrix<T> const& x, fixed_weights<T> const& gain, std::vector<T> const& inverse,
                       matrix<T> const& d_y, matrix<T>& d_x, weights<T> d_gain) {
    d_gain.setZero();
    for (Eigen::Index i = 0; i < x.rows(); ++i) {
        T const scale = inverse[static_cast<std::size_t>(i)];
        auto const g = d_y.row(i).array() * gain.row(0).array();
        T const along = (g * x.row(i).array()).sum() * scale * scale / static_cast<T>(x.cols());
        d_gain.row(0).array() += d_y.row(i).array() * x.row(i).array() * scale;
        d_x.row(i).array() += (g - x.row(i).array() * along) * scale;
    }
}

// ---- RoPE: pairs (c, c + channels / 2) of every head turn with the position --------------------------------------------

template <class T>
struct rotary {
    matrix<T> cosine, sine; ///< (position, channels / 2)

    rotary(int positions, int channels, double base) : cosine(positions, channels / 2), sine(positions, channels / 2) {
        for (int p = 0; p < positions; ++p) {
            for (int c = 0; c < channels / 2; ++c) {
                double const angle = p * std::pow(base, -2.0 * c / channels);
                cosine(p, c) = static_cast<T>(std::cos(angle));
                sine(p, c) = static_cast<T>(std::sin(angle));
            }
        }
    }
    /// Turns the first `columns` columns of x in place; row i stands at position[i % position.size()]. Backward is turning back.
    void turn(matrix<T>& x, Eigen::Index columns, std::vector<int> const& position, bool back) const {
        Eigen::Index const half = cosine.cols();
        auto const texts = static_cast<Eigen::Index>(position.size());
        for (Eigen::Index i = 0; i < x.rows(); ++i) {
            int const p = position[static_cast<std::size_t>(i % texts)];
            T const* const co = &cosine(p, 0);
            T const* const si = &sine(p, 0);
            for (T* head = &x(i, 0); head != &x(i, 0) + columns; head += 2 * half)
                turn_pairs(head, head + half, co, si, half, back ? T(-1) : T(1));
        }
    }

private:
    /// The four do not overlap.
    static void turn_pairs(T* __restrict first, T* __restrict second, T const* __restrict co, T const* __restrict si,
                           Eigen::Index half, T sign) {
        for (Eigen::Index c = 0; c < half; ++c) {
            T const a = first[c], b = second[c], s = sign * si[c];
            first[c] = a * co[c] - b * s;
            second[c] = b * co[c] + a * s;
        }
    }
};

// ---- activations ----------------------------------------------------------------------------------------------------

/// relu(up)^2.
template <class T>
void squared_relu(matrix<T> const& up, matrix<T>& y) {
    y = up.cwiseMax(T(0)).cwiseAbs2();
}
template <class T>
void squared_relu_backward(matrix<T> const& up, matrix<T> const& d_y, matrix<T>& d_up) {
    d_up = d_y.cwiseProduct(up.cwiseMax(T(0)) * T(2));
}
/// silu(a) * b, where x = [a, b].
template <class T>
void gated(matrix<T> const& x, matrix<T>& y) {
    auto const a = x.leftCols(x.cols() / 2).array(), b = x.rightCols(x.cols() / 2).array();
    y = (a / (T(1) + (-a).exp()) * b).matrix();
}
template <class T>
void gated_backward(matrix<T> const& x, matrix<T> const& d_y, matrix<T>& d_x) {
    Eigen::Index const half = x.cols() / 2;
    auto const a = x.leftCols(half).array(), b = x.rightCols(half).array();
    d_x.resize(x.rows(), x.cols());
    d_x.rightCols(half) = (d_y.array() * a / (T(1) + (-a).exp())).matrix();
    auto const s = T(1) / (T(1) + (-a).exp());
    d_x.leftCols(half) = (d_y.array() * b * s * (T(1) + a * (T(1) - s))).matrix();
}

// ---- cross-entropy --------------------------------------------------------------------------------------------------

/// The sum of weight x cross-entropy over the rows, from the first to the last. With `gradient`, logits become its gradient.
template <class T>
double cross_entropy(matrix<T>& logits, std::vector<int> const& target, std::vector<float> const& weight,
                     bool gradient) {
    double total = 0;
    for (Eigen::Index i = 0; i < logits.rows(); ++i) {
        auto row = logits.row(i).array();
        int const right = target[static_cast<std::size_t>(i)];
        T const w = static_cast<T>(weight[static_cast<std::size_t>(i)]);
        T const high = row.maxCoeff(), own = row(right) - high;
        row = (row - high).exp();
        T const sum = row.sum();
        total += static_cast<double>(w) * static_cast<double>(std::log(sum) - own);
        if (!gradient) continue;
        row *= w / sum;
        row(right) -= w;
    }
    return total;
}

} // namespace tiny_dlm
