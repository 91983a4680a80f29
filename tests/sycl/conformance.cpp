// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#include <support/backends.hpp>

#include <basin/testing/laws.hpp>

#include <doctest/doctest.h>

using namespace basin;

TEST_CASE("sycl_backend passes check_backend, coarse kernel") {
    auto const r = testing::check_backend(basin_test::sycl_coarse{});
    CHECK_MESSAGE(r.ok(), r.text());
}

TEST_CASE("sycl_backend passes check_backend, tile kernel, arrays copied") {
    auto const r = testing::check_backend(basin_test::sycl_tile{});
    CHECK_MESSAGE(r.ok(), r.text());
}
