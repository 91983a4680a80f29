// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#include <support/arrays.hpp>
#include <support/backends.hpp>

#include <doctest/doctest.h>

#include <bit>
#include <cstring>

#if defined(BASIN_TEST_EIGEN)
#include <Eigen/Core>
#endif

// Foreign 16-bit types have the same bits, convert alike, and their arrays are read and written in place.
using namespace basin_test;

namespace {

template <class Ours, class Theirs>
void check_conversions() {
    int wrong = 0;
    for (std::uint32_t bits = 0; bits < 65536; ++bits) {
        auto const ours = static_cast<float>(std::bit_cast<Ours>(static_cast<std::uint16_t>(bits)));
        auto const theirs = static_cast<float>(std::bit_cast<Theirs>(static_cast<std::uint16_t>(bits)));
        wrong += std::bit_cast<std::uint32_t>(ours) == std::bit_cast<std::uint32_t>(theirs) ||
                         (std::isnan(ours) && std::isnan(theirs))
                     ? 0
                     : 1;
    }
    for (std::uint64_t i = 0; i < 300000; ++i) {
        auto const x = std::bit_cast<float>(static_cast<std::uint32_t>(random_numbers::bits(8, i)));
        auto const theirs = std::bit_cast<std::uint16_t>(static_cast<Theirs>(x));
        wrong += std::isnan(x) || Ours(x).bits == theirs ? 0 : 1;
    }
    CHECK(wrong == 0);
}

/// Attention on arrays of a foreign type equals attention on arrays of ours, bit for bit.
template <class Ours, class Theirs>
void check_arrays() {
    index_t const n = 9, d = 5;
    std::vector<Theirs> q(45), k(45), v(45), out(45);
    basin::buffer<Ours, 2> oq(n, d), ok(n, d), ov(n, d), oout(n, d);
    random_numbers r{3, 0};
    for (std::size_t i = 0; i < 45; ++i) {
        auto const set = [&](Theirs& theirs, Ours& ours) {
            ours = Ours(static_cast<float>(r.uniform(-2, 2)));
            std::memcpy(static_cast<void*>(&theirs), &ours, 2);
        };
        set(q[i], oq.data()[i]);
        set(k[i], ok.data()[i]);
        set(v[i], ov.data()[i]);
    }
    for_each_backend([&]<class Backend>() {
        basin::buffer<float, 1> lse(n), lse_again(n);
        basin::view<Theirs, 2> const result(out.data(), {{n, d}});
        basin::attention(Backend{}, basin::view<Theirs const, 2>(q.data(), {{n, d}}),
                         basin::view<Theirs const, 2>(k.data(), {{n, d}}),
                         basin::view<Theirs const, 2>(v.data(), {{n, d}}), result, basin::causal{}, basin::lse{lse});
        basin::attention(Backend{}, oq, ok, ov, oout, basin::causal{}, basin::lse{lse_again});
        CHECK(std::memcmp(static_cast<void const*>(out.data()), static_cast<void const*>(oout.data()), 90) == 0);
        for (int i = 0; i < n; ++i) CHECK(lse(i) == lse_again(i));
        CHECK(static_cast<float>(oout(0, 0)) == static_cast<float>(ov(0, 0))); // the first row sees itself only
    });
}

} // namespace

#if defined(BASIN_TEST_EIGEN)
TEST_CASE("Eigen::half has the bits of half") {
    check_conversions<basin::half, Eigen::half>();
    check_arrays<basin::half, Eigen::half>();
}

TEST_CASE("Eigen::bfloat16 has the bits of bfloat16") {
    check_conversions<basin::bfloat16, Eigen::bfloat16>();
    check_arrays<basin::bfloat16, Eigen::bfloat16>();
}

TEST_CASE("an Eigen matrix of Eigen::half is taken as it is") {
    Eigen::Matrix<Eigen::half, Eigen::Dynamic, Eigen::Dynamic> q(2, 3), k(2, 3), v(2, 3), out(2, 3);
    q.setConstant(Eigen::half(0.F));
    k.setConstant(Eigen::half(1.F));
    v.row(0).setConstant(Eigen::half(1.F));
    v.row(1).setConstant(Eigen::half(2.F));
    basin::attention(basin::reference_backend{}, q, k, v, out, basin::full{});
    CHECK(static_cast<float>(out(1, 2)) == 1.5F);
}
#endif

#if defined(__FLT16_MAX__) && (defined(__clang__) ? __clang_major__ >= 15 : (__GNUC__ >= 13 || defined(__x86_64__)))
TEST_CASE("_Float16 has the bits of half") {
    check_conversions<basin::half, basin::native_half>();
    check_arrays<basin::half, basin::native_half>();
}
#endif
