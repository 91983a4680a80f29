// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include <basin/core/math.hpp>
#include <basin/core/site.hpp>

#include "arena.hpp"
#include "query_block.hpp"

namespace basin::detail::simd {

/// The arrays of a runner, whatever its task: compiled once.
template <class T, class Arch>
struct chunk_arrays {
    using table = tiles<T, Arch>;
    struct row_range {
        int begin, end; // rows; empty: nothing to sweep
    };

    query_block<T> block_{};
    T *queries_ = nullptr, *strip_ = nullptr, *marks_ = nullptr, *scratch_ = nullptr, *sink_ = nullptr,
      *escaped_ = nullptr;
    T *inverse_ = nullptr, *final_ = nullptr, *weights_ = nullptr;
    index_t* positions_ = nullptr;
    row_range* pending_ = nullptr;

    struct extents {
        index_t most_keys, most_queries;
        int depth, width;
        bool keeps, moment, sinks;
    };
    [[gnu::noinline]] void carve(arena<Arch>& a, extents const& e) {
        constexpr int block_rows = table::block_rows;
        std::ptrdiff_t const room = block_rows + table::lanes;
        int const padded_width = round_up(e.width, table::lanes);
        queries_ = a.template take<T>(std::ptrdiff_t{block_rows} * round_up(e.depth, table::chunk));
        block_.output = a.template take<T>(std::ptrdiff_t{block_rows} * padded_width);
        block_.output_stride = padded_width;
        block_.sums = a.template take<T>(std::ptrdiff_t{block_rows} * table::lanes);
        block_.moments = e.moment ? a.template take<T>(std::ptrdiff_t{block_rows} * table::lanes) : nullptr;
        block_.reference = a.template take<T>(room);
        block_.states = a.template take<tile_state>(table::block_tiles);
        // Few queries: a strip of a whole block's rows would be megabytes that nobody uses but the system clears.
        int const rows = round_up(static_cast<int>(math::min(e.most_queries, index_t{block_rows})), table::rows);
        block_.panel_stride = std::ptrdiff_t{rows} * table::panel;
        block_.mark_stride = block_rows;
        std::ptrdiff_t const panels =
            e.keeps ? round_up(e.most_keys, table::block_keys) / table::panel : table::block_panels;
        strip_ = a.template take<T>(panels * block_.panel_stride);
        scratch_ = a.template take<T>(std::ptrdiff_t{table::rows} * table::panel);
        positions_ = a.template take<index_t>(block_rows);
        sink_ = a.template take<T>(e.sinks ? room : 0);
        escaped_ = a.template take<T>(e.sinks ? room : 0);
        if (e.keeps) {
            marks_ = a.template take<T>(panels * block_rows + table::lanes);
            inverse_ = a.template take<T>(room);
            final_ = a.template take<T>(room);
            weights_ = a.template take<T>(room);
            pending_ = a.template take<row_range>(panels);
        }
    }
};

} // namespace basin::detail::simd
