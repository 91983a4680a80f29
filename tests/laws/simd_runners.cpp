// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#include "make_runner.hpp"

#if defined(BASIN_TEST_SIMD) && __has_include(<basin/backend/simd.hpp>)
#include <basin/backend/simd.hpp>
namespace laws {
std::vector<runner> simd_runners() {
    return {make_runner<simd_backend, float>("simd float", false),
            make_runner<simd_backend, double>("simd double", false)};
}
} // namespace laws
#else
namespace laws {
std::vector<runner> simd_runners() { return {}; }
} // namespace laws
#endif
