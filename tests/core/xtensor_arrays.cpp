// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#if defined(BASIN_TEST_XTENSOR)
#include "same.hpp"

// xtensor 0.26 moved its headers.
#if __has_include(<xtensor/containers/xtensor.hpp>)
#include <xtensor/containers/xadapt.hpp>
#include <xtensor/containers/xarray.hpp>
#include <xtensor/containers/xtensor.hpp>
#include <xtensor/views/xview.hpp>
#else
#include <xtensor/xadapt.hpp>
#include <xtensor/xarray.hpp>
#include <xtensor/xtensor.hpp>
#include <xtensor/xview.hpp>
#endif

using namespace basin_test;

namespace {

template <class X>
void copy(basin::buffer<float, 4> const& from, X& to) {
    for (int b = 0; b < from.extent(0); ++b)
        for (int h = 0; h < from.extent(1); ++h)
            for (int t = 0; t < from.extent(2); ++t)
                for (int c = 0; c < from.extent(3); ++c) to(b, h, t, c) = from(b, h, t, c);
}
template <class X>
void give_back(plain const& x, X const& out) {
    for (int b = 0; b < x.out.extent(0); ++b)
        for (int h = 0; h < x.out.extent(1); ++h)
            for (int t = 0; t < x.out.extent(2); ++t)
                for (int c = 0; c < x.out.extent(3); ++c) x.out(b, h, t, c) = out(b, h, t, c);
}

template <class X>
void check_containers(plain const& x, X q, X k, X v, X out) {
    copy(x.q, q);
    copy(x.k, k);
    copy(x.v, v);
    same_as_plain(x, [&](auto const& run) {
        run(q, k, v, out);
        give_back(x, out);
    });
}

} // namespace

TEST_CASE("arrays: xtensor containers, row- and column-major, extents of 1 included") {
    for (auto const& [b, h] : {std::pair{2, 3}, std::pair{1, 1}}) {
        plain const x(b, h, 5, 4);
        std::array<std::size_t, 4> const shape = {static_cast<std::size_t>(b), static_cast<std::size_t>(h), 5, 4};
        xt::xtensor<float, 4> const fixed(shape);
        check_containers(x, fixed, fixed, fixed, fixed);
        xt::xtensor<float, 4, xt::layout_type::column_major> const columns(shape);
        check_containers(x, columns, columns, columns, columns);
        xt::xarray<float> const any(std::vector<std::size_t>(shape.begin(), shape.end()));
        check_containers(x, any, any, any, any);
    }
}

TEST_CASE("arrays: xtensor views and adaptors are read and written in place") {
    plain const x(1, 1, 5, 4);
    xt::xtensor<float, 3> large = xt::zeros<float>({3, 9, 8});
    auto q = xt::view(large, 1, xt::range(2, 7), xt::range(3, 7));
    for (std::size_t t = 0; t < 5; ++t)
        for (std::size_t c = 0; c < 4; ++c) q(t, c) = x.q(0, 0, t, c);
    auto const k = xt::adapt(x.k.data(), 20, xt::no_ownership(), std::array<std::size_t, 2>{5, 4});
    auto const v = xt::adapt(x.v.data(), 20, xt::no_ownership(), std::array<std::size_t, 4>{1, 1, 5, 4});
    same_as_plain(x, [&](auto const& run) {
        xt::xtensor<float, 3> result = xt::zeros<float>({3, 9, 8});
        auto out = xt::view(result, 2, xt::range(1, 6), xt::range(0, 4));
        run(q, k, v, out);
        for (std::size_t t = 0; t < 5; ++t)
            for (std::size_t c = 0; c < 4; ++c) {
                x.out(0, 0, t, c) = out(t, c);
                out(t, c) = 0;
            }
        for (float const y : result) CHECK(y == 0); // nothing beside the view
    });
}

TEST_CASE("arrays: xtensor arrays are statistics and positions") {
    plain const x(1, 2, 6, 4);
    xt::xtensor<float, 3> mass = xt::zeros<float>({1, 2, 6});
    xt::xtensor<index_t, 1> const positions = {5, 4, 3, 2, 1, 0};
    basin::options o;
    o.query_position = positions;
    basin::attention(basin::reference_backend{}, x.q, x.k, x.v, x.out, basin::causal{}, o, basin::received{mass});
    float sum = 0;
    for (float const y : mass) sum += y;
    CHECK(sum == doctest::Approx(12));
    CHECK(mass(0, 1, 5) < 1); // the only query there looks at five others too
}

TEST_CASE("arrays: an xarray of five axes is refused in words") {
    plain const x(1, 1, 5, 4);
    xt::xarray<float> const five = xt::zeros<float>({1, 1, 1, 5, 4});
    CHECK(words([&] { basin::attention(basin::reference_backend{}, five, x.k, x.v, x.out, basin::full{}); }) ==
          "q: an array has at most 4 axes, this one has 5");
}
#endif
