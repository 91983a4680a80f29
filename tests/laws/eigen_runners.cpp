// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#include "make_runner.hpp"

#if defined(BASIN_TEST_EIGEN) && __has_include(<basin/backend/eigen.hpp>)
#include <basin/backend/eigen.hpp>
namespace laws {
std::vector<runner> eigen_runners() {
    return {make_runner<eigen_backend, float>("eigen float", false),
            make_runner<eigen_backend, double>("eigen double", false)};
}
} // namespace laws
#else
namespace laws {
std::vector<runner> eigen_runners() { return {}; }
} // namespace laws
#endif
