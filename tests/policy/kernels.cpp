// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#include "shapes.hpp"

namespace basin_test {

template <class T>
std::vector<named_solver<T>> solvers_of_erased(erased<T> const& policy) {
    return solvers_of<T>(policy);
}
template <class T>
void run_once(problem<T>& p, formulas const& f, std::vector<named_solver<T>> const& solvers) {
    run_and_compare(p, f, solvers);
}

template std::vector<named_solver<basin::half>> solvers_of_erased(erased<basin::half> const&);
#if !defined(BASIN_TEST_ERASED) || !defined(BASIN_TEST_REDUCED)
template std::vector<named_solver<basin::bfloat16>> solvers_of_erased(erased<basin::bfloat16> const&);
#endif
#if defined(BASIN_TEST_ERASED)
template std::vector<named_solver<float>> solvers_of_erased(erased<float> const&);
#if !defined(BASIN_TEST_REDUCED)
template std::vector<named_solver<double>> solvers_of_erased(erased<double> const&);
#endif
#endif
template void run_once(problem<float>&, formulas const&, std::vector<named_solver<float>> const&);
template void run_once(problem<double>&, formulas const&, std::vector<named_solver<double>> const&);
template void run_once(problem<basin::half>&, formulas const&, std::vector<named_solver<basin::half>> const&);
template void run_once(problem<basin::bfloat16>&, formulas const&, std::vector<named_solver<basin::bfloat16>> const&);

} // namespace basin_test
