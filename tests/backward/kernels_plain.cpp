// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#include "kernels.hpp"

namespace basin_test {
template void run_forward(training<double>&, any_policy<double, false> const&);
template std::vector<backward_run<double, false>> backward_runs();
} // namespace basin_test
