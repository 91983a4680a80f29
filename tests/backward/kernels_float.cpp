// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#include "kernels.hpp"

namespace basin_test {
template void run_forward(training<float>&, any_policy<float, false> const&);
template std::vector<backward_run<float, false>> backward_runs();
template void run_forward(training<basin::half>&, any_policy<float, false> const&);
template std::vector<backward_run<basin::half, false>> backward_runs();
template void run_forward(training<basin::bfloat16>&, any_policy<float, false> const&);
template std::vector<backward_run<basin::bfloat16, false>> backward_runs();
} // namespace basin_test
