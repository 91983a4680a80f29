// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#if defined(BASIN_TEST_EIGEN)
#include "same.hpp"

#include <Eigen/Core>

using namespace basin_test;

namespace {

using row_major = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using column_major = Eigen::MatrixXf;

template <class M>
M matrix_of(basin::buffer<float, 4> const& x) {
    M result(x.extent(2), x.extent(3));
    for (int t = 0; t < x.extent(2); ++t)
        for (int c = 0; c < x.extent(3); ++c) result(t, c) = x(0, 0, t, c);
    return result;
}
template <class M>
void give_back(plain const& x, M const& out) {
    for (int t = 0; t < x.out.extent(2); ++t)
        for (int c = 0; c < x.out.extent(3); ++c) x.out(0, 0, t, c) = out(t, c);
}

template <class M>
void check_matrix() {
    plain const x(1, 1, 7, 5);
    M q = matrix_of<M>(x.q), k = matrix_of<M>(x.k), v = matrix_of<M>(x.v), out(7, 5);
    same_as_plain(x, [&](auto const& run) {
        run(q, k, v, out);
        give_back(x, out);
    });
    // Constant matrices are read, expressions with memory are written: a block, a transpose, a map, a Ref.
    M const& constant = q;
    M large = M::Zero(20, 30);
    large.block(3, 4, 7, 5) = k;
    same_as_plain(x, [&](auto const& run) {
        M result = M::Zero(20, 30);
        run(constant, large.block(3, 4, 7, 5), v, result.block(1, 2, 7, 5));
        give_back(x, M(result.block(1, 2, 7, 5)));
        result.block(1, 2, 7, 5).setZero();
        CHECK(result.isZero()); // nothing beside the block
    });
    M const turned = q.transpose();
    same_as_plain(x, [&](auto const& run) {
        M result(5, 7);
        run(turned.transpose(), k, v, result.transpose());
        give_back(x, M(result.transpose()));
    });
    same_as_plain(x, [&](auto const& run) {
        Eigen::Map<M> const map(q.data(), 7, 5);
        Eigen::Map<M const> const constant_map(k.data(), 7, 5);
        Eigen::Ref<M> result(out);
        run(map, constant_map, Eigen::Ref<M const>(v), result);
        give_back(x, out);
    });
    same_as_plain(x, [&](auto const& run) {
        run(q.middleRows(0, 7), k.topRows(7), v.leftCols(5), out);
        give_back(x, out);
    });
}

} // namespace

TEST_CASE("arrays: Eigen, row-major: matrices, blocks, maps, transposes, Ref") { check_matrix<row_major>(); }
TEST_CASE("arrays: Eigen, column-major: matrices, blocks, maps, transposes, Ref") { check_matrix<column_major>(); }

TEST_CASE("arrays: Eigen maps with strides, fixed sizes, arrays") {
    plain const x(1, 1, 7, 5);
    std::vector<float> spaced(7 * 5 * 6, -1.F);
    using strided = Eigen::Map<row_major, 0, Eigen::Stride<Eigen::Dynamic, Eigen::Dynamic>>;
    strided q(spaced.data(), 7, 5, Eigen::Stride<Eigen::Dynamic, Eigen::Dynamic>(30, 3));
    q = matrix_of<row_major>(x.q);
    Eigen::Matrix<float, 7, 5> k = matrix_of<column_major>(x.k);
    Eigen::ArrayXXf v = matrix_of<column_major>(x.v);
    Eigen::Matrix<float, 7, 5, Eigen::RowMajor> out;
    same_as_plain(x, [&](auto const& run) {
        run(q, k, v, out);
        give_back(x, out);
    });
}

TEST_CASE("arrays: Eigen vectors are statistics, positions and logits") {
    plain const x(1, 1, 6, 4);
    Eigen::VectorXf mass(6), logits(1);
    Eigen::RowVectorXf lse(6);
    Eigen::VectorXi positions(6);
    Eigen::MatrixXf rows(3, 6); // a row of a column-major matrix: stride 3
    positions << 5, 4, 3, 2, 1, 0;
    logits << 0.5F;
    rows.setConstant(-1);
    basin::options o;
    o.query_position = positions;
    basin::attention(basin::reference_backend{}, x.q, x.k, x.v, x.out,
                     basin::all_of(basin::causal{}, basin::sink_logit{std::vector<float>(1, logits(0))}), o,
                     basin::received{mass}, basin::lse{lse}, basin::escaped{rows.row(1)});
    CHECK(mass(5) > 0); // only the first query stands at 5
    CHECK(rows(1, 5) > 0);
    CHECK(rows(1, 5) < 1);
    CHECK(rows(0, 5) == -1);
    CHECK(rows(2, 0) == -1);
    CHECK(std::isfinite(lse(0)));
}
#endif
