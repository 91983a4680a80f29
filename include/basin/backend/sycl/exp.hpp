// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include <basin/core/math.hpp>
#include <basin/core/scalar.hpp>

namespace basin::detail::device {

/// exp(x) for x <= 0 or a little above, in plain arithmetic without branches, so that a loop over it becomes vectors.
/// -inf gives exactly 0, NaN gives NaN, 0 gives exactly 1. Relative error below 2e-7 (float), 1e-15 (double).
inline float exp_in_loop(float x) {
    float const t = !(x > -104.0F) ? -104.0F : x > 88.0F ? 88.0F : x; // NaN is replaced, and put back at the end
    float const shifted = t * 1.44269504088896341F + 12582912.0F;     // round to an integer, in the low bits
    float const n = shifted - 12582912.0F;
    float const f = (t - n * 0.693359375F) + n * 2.12194440e-4F;
    float p = 1.9875691500e-4F;
    p = p * f + 1.3981999507e-3F;
    p = p * f + 8.3334519073e-3F;
    p = p * f + 4.1665795894e-2F;
    p = p * f + 1.6666665459e-1F;
    p = p * f + 5.0000001201e-1F;
    p = p * f * f + f + 1.0F;
    // Two factors, so that results below the smallest normal number do not wrap around.
    std::int32_t const k = static_cast<std::int32_t>(n), half = k / 2;
    float const a = bits_of<float>((half + 127) << 23), b = bits_of<float>((k - half + 127) << 23);
    float const y = p * a * b;
    return x != x ? x : x < -104.0F ? 0.0F : y;
}
inline double exp_in_loop(double x) {
    double const t = !(x > -746.0) ? -746.0 : x > 709.0 ? 709.0 : x;
    double const shifted = t * 1.4426950408889634074 + 6755399441055744.0;
    double const n = shifted - 6755399441055744.0;
    double const f = (t - n * 6.93145751953125e-1) - n * 1.42860682030941723212e-6;
    double p = 1.0 / 6227020800.0; // Taylor: |f| <= 0.35, the next term is below 1e-17
    p = p * f + 1.0 / 479001600.0;
    p = p * f + 1.0 / 39916800.0;
    p = p * f + 1.0 / 3628800.0;
    p = p * f + 1.0 / 362880.0;
    p = p * f + 1.0 / 40320.0;
    p = p * f + 1.0 / 5040.0;
    p = p * f + 1.0 / 720.0;
    p = p * f + 1.0 / 120.0;
    p = p * f + 1.0 / 24.0;
    p = p * f + 1.0 / 6.0;
    p = p * f + 0.5;
    p = p * f * f + f + 1.0;
    std::int64_t const k = static_cast<std::int32_t>(n), half = k / 2;
    double const a = bits_of<double>((half + 1023) << 52), b = bits_of<double>((k - half + 1023) << 52);
    double const y = p * a * b;
    return x != x ? x : x < -746.0 ? 0.0 : y;
}

} // namespace basin::detail::device
