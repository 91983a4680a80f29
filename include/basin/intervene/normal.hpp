// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

namespace basin::detail {

/// The share of a standard normal below x.
inline double normal_share(double x) { return 0.5 * __builtin_erfc(-x * 0.7071067811865476); }

/// Its inverse: a rational first guess (Acklam), then one step of Halley, good to about 1e-15.
inline double normal_quantile(double p) {
    if (!(p > 0)) return -__builtin_inf();
    if (!(p < 1)) return __builtin_inf();
    constexpr double a[6] = {-39.69683028665376, 220.9460984245205,  -275.9285104469687,
                             138.3577518672690,  -30.66479806614716, 2.506628277459239};
    constexpr double b[5] = {-54.47609879822406, 161.5858368580409, -155.6989798598866, 66.80131188771972,
                             -13.28068155288572};
    constexpr double c[6] = {-0.007784894002430293, -0.3223964580411365, -2.400758277161838,
                             -2.549732539343734,    4.374664141464968,   2.938163982698783};
    constexpr double d[4] = {0.007784695709041462, 0.3224671290700398, 2.445134137142996, 3.754408661907416};
    double x = 0;
    if (p < 0.02425 || p > 1 - 0.02425) {
        double const q = __builtin_sqrt(-2 * __builtin_log(p < 0.5 ? p : 1 - p));
        x = (((((c[0] * q + c[1]) * q + c[2]) * q + c[3]) * q + c[4]) * q + c[5]) /
            ((((d[0] * q + d[1]) * q + d[2]) * q + d[3]) * q + 1);
        if (p > 0.5) x = -x;
    } else {
        double const q = p - 0.5, r = q * q;
        x = (((((a[0] * r + a[1]) * r + a[2]) * r + a[3]) * r + a[4]) * r + a[5]) * q /
            (((((b[0] * r + b[1]) * r + b[2]) * r + b[3]) * r + b[4]) * r + 1);
    }
    double const e = normal_share(x) - p;
    double const u = e * 2.5066282746310002 * __builtin_exp(x * x / 2);
    return x - u / (1 + x * u / 2);
}

/// Student's t with `freedom` degrees of freedom: the expansion of Cornish and Fisher (Abramowitz and Stegun 26.7.5), good
/// to three digits from 4 degrees on.
inline double student_quantile(double p, int freedom) {
    double const z = normal_quantile(p), f = freedom, s = z * z;
    double const g1 = z * (s + 1) / 4;
    double const g2 = z * ((5 * s + 16) * s + 3) / 96;
    double const g3 = z * (((3 * s + 19) * s + 17) * s - 15) / 384;
    double const g4 = z * ((((79 * s + 776) * s + 1482) * s - 1920) * s - 945) / 92160;
    return z + (g1 + (g2 + (g3 + g4 / f) / f) / f) / f;
}

} // namespace basin::detail
