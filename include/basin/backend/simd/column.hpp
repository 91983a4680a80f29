// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

// Statistics by key from stored exponentials. An exponential stored under reference `mark` is the probability
// e * 2^(mark - m) / l once the row's final reference m and sum l are known.

#include <cstddef>

#include "exp2.hpp"
#include "tiles.hpp"

namespace basin::detail::simd {

// weights[row] = inverse[row] * 2^(marks[row] - final_reference[row]) for `rows` rows rounded up to whole vectors (all arrays have
// that room). A row to be left out (padding, no visible key) has inverse 0.
template <class A, class T>
[[gnu::noinline]] void sweep_weights(T const* marks, T const* final_reference, T const* inverse, int rows,
                                     T* weights) noexcept {
    using v = vec<T, A>;
    for (int r = 0; r < rows; r += tiles<T, A>::lanes) {
        // A mark above the final reference was made before the row started, over zeros; 2^500 * 0 would be NaN.
        v const rise = at_most<A, T>(v::load_unaligned(marks + r) - v::load_unaligned(final_reference + r), v(T(0)));
        v const power = pow2<A, T>(rise);
        v const scale = v::load_unaligned(inverse + r);
        // left-out rows may pair any mark with any reference, and 0 x inf is NaN
        xsimd::select(scale == v(T(0)), scale, scale * power).store_unaligned(weights + r);
    }
}

// sums[key] += sum over rows of weights[row] * exponentials[row][key]; rows of tiles::panel keys. Rows with weight 0 are
// skipped: what they hold may be left over from an earlier call. Two rows at a time, each with sums of its own: one set of sums
// would wait for itself.
template <class A, class T>
[[gnu::noinline]] void sweep_sums(T const* exponentials, T const* weights, int const* which, int rows, int vectors,
                                  T* sums) noexcept {
    using table = tiles<T, A>;
    using v = vec<T, A>;
    v even[table::vectors], odd[table::vectors];
#pragma GCC unroll 4
    for (int j = 0; j < table::vectors; ++j) {
        even[j] = j < vectors ? v::load_aligned(sums + j * table::lanes) : v(T(0));
        odd[j] = v(T(0));
    }
    auto const add = [&](int i, v* s) {
        int const r = which == nullptr ? i : which[i];
        if (weights[r] == T(0)) return;
        v const w(weights[r]);
        T const* const row = exponentials + std::ptrdiff_t{r} * table::panel;
#pragma GCC unroll 4
        for (int j = 0; j < table::vectors; ++j)
            if (j < vectors) s[j] = multiply_add<A, T>(w, v::load_aligned(row + j * table::lanes), s[j]);
    };
    for (int i = 0; i + 1 < rows; i += 2) {
        add(i, even);
        add(i + 1, odd);
    }
    if (rows % 2 != 0) add(rows - 1, even);
#pragma GCC unroll 4
    for (int j = 0; j < table::vectors; ++j)
        if (j < vectors) (even[j] + odd[j]).store_aligned(sums + j * table::lanes);
}

// peaks[key] = max(peaks[key], weights[row] * exponentials[row][key]). Rows that are NaN have weight 0 and are left out.
template <class A, class T>
[[gnu::noinline]] void sweep_peaks(T const* exponentials, T const* weights, int const* which, int rows, int vectors,
                                   T* peaks) noexcept {
    using table = tiles<T, A>;
    using v = vec<T, A>;
    v s[table::vectors];
#pragma GCC unroll 4
    for (int j = 0; j < table::vectors; ++j) s[j] = j < vectors ? v::load_aligned(peaks + j * table::lanes) : v(T(0));
    for (int i = 0; i < rows; ++i) {
        int const r = which == nullptr ? i : which[i];
        if (weights[r] == T(0)) continue;
        v const w(weights[r]);
        T const* const row = exponentials + std::ptrdiff_t{r} * table::panel;
#pragma GCC unroll 4
        for (int j = 0; j < table::vectors; ++j)
            if (j < vectors) s[j] = at_least<A, T>(w * v::load_aligned(row + j * table::lanes), s[j]);
    }
#pragma GCC unroll 4
    for (int j = 0; j < table::vectors; ++j)
        if (j < vectors) s[j].store_aligned(peaks + j * table::lanes);
}

// Block sums into totals: float sums of 96 rows are exact enough, one float run over all rows loses the small terms.
template <class A, class T>
[[gnu::noinline]] void flush_sums(T* sums, std::ptrdiff_t keys, double* totals) noexcept {
    for (std::ptrdiff_t k = 0; k < keys; ++k) {
        totals[k] += static_cast<double>(sums[k]);
        sums[k] = T(0);
    }
}

} // namespace basin::detail::simd
