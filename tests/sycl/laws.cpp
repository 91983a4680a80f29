// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT

// The runners of the random laws, both kernels, in the place of the other backends'.
#include "../laws/make_runner.hpp"

#include <support/backends.hpp>

namespace laws {
std::vector<runner> simd_runners() {
    return {make_runner<basin_test::sycl_coarse, float>("sycl coarse float", false),
            make_runner<basin_test::sycl_tile, float>("sycl tile float", false),
            make_runner<basin_test::sycl_coarse, double>("sycl coarse double", false),
            make_runner<basin_test::sycl_tile, double>("sycl tile double", false)};
}
std::vector<runner> eigen_runners() { return {}; }
} // namespace laws
