// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include <basin/backend/sycl/tuning.hpp>

// Another table for the tile kernels, included before everything else by the suite: a work-item owns 2 scores instead of
// 8 x 4. What an item owns is written out, and every policy and statistic with it, so that some hundred kernels are compiled
// in a fraction of the time; borders of tiles are met more often as well. calls.cpp, detect.cpp, order.cpp, table.cpp and typical.cpp run
// with the library's own table.
namespace basin::detail::device {

template <class A>
struct tile_tuning<A, 64> : tile_shape<16, 2, 1, 8, 64> {};
template <class A>
struct tile_tuning<A, 128> : tile_shape<16, 2, 1, 8, 128> {};
template <>
inline constexpr index_t tile_channels<float> = 64; // more are computed in turns, as in double

} // namespace basin::detail::device
