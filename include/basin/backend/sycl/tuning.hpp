// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include <basin/core/site.hpp>

#include <type_traits>

// All numbers that one would change for another device. The kernels are the same everywhere.
namespace basin::detail::device {

/// f(0) ... f(N - 1), written out: what is indexed by the number can then live in registers. Compilers that cut kernels at
/// barriers must never see the address of such an array, so nothing here may stay a call.
template <index_t N, index_t I = 0, class F>
[[gnu::always_inline]] inline void each(F const& f) {
    if constexpr (I < N) {
        f(I);
        each<N, I + 1>(f);
    }
}
#define BASIN_INLINED __attribute__((always_inline)) // of lambdas, which take no other form; gone after launch.hpp

/// The coarse kernel, for CPUs: a work-item computes blocks of `rows` queries against blocks of `keys` keys with loops
/// over neighbours in memory, which compilers turn into vectors; `lanes` numbers are reduced side by side.
struct coarse_tuning {
    static constexpr index_t rows = 16, keys = 64, lanes = 16;
    static constexpr index_t strip_rows = 4, strip = 32; // of a product that is kept in registers
    static constexpr index_t chunks = 16;                // pieces of a head that keep their own sums by key
};

/// The tile kernel, for GPUs: a work-group computes a tile of Side queries against Side keys at a time; every work-item owns
/// ItemRows x ItemKeys scores and ItemRows x (channels / key_items) numbers of the output, in registers. K and V pass
/// through local memory in slices.
template <index_t Side, index_t ItemRows, index_t ItemKeys, index_t Slice, index_t Channels>
struct tile_shape {
    static constexpr index_t rows = Side, keys = Side, item_rows = ItemRows, item_keys = ItemKeys, slice = Slice;
    static constexpr index_t row_items = rows / item_rows, key_items = keys / item_keys;
    static constexpr index_t items = row_items * key_items;
    static constexpr index_t item_channels = Channels / key_items;
    static constexpr index_t pitch = keys + 4; // of a line in local memory: shifted, so that columns lie in other banks
};
/// Numbers of 8 bytes take smaller tiles: local memory is 48 KiB on NVIDIA and 64 on AMD, and registers are twice as dear.
template <class A, index_t Channels>
struct tile_tuning
    : std::conditional_t<sizeof(A) == 4, tile_shape<64, 8, 4, 16, Channels>, tile_shape<32, 4, 2, 16, Channels>> {};
/// What every GPU gives a work-group.
inline constexpr std::size_t local_bytes = 48 * 1024;

/// How many channels of the values a work-item's registers hold at most, 64 or 128; more are computed in turns.
template <class A>
inline constexpr index_t tile_channels = sizeof(A) == sizeof(float) ? 128 : 64;

} // namespace basin::detail::device
