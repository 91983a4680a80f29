// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

// Keys and values of one text and head as kernels read them. Nothing here knows a policy, so that a program with many of them
// compiles it once.

#include <basin/core/layout.hpp>

#include "arena.hpp"
#include "family.hpp"
#include "pack.hpp"
#include "single_row.hpp"
#include "value_tile.hpp"

namespace basin::detail::simd {

/// Widens 16-bit storage while packing.
template <class T>
struct load_widened {
    template <class S>
    T operator()(S x) const noexcept {
        return static_cast<T>(static_cast<float>(x));
    }
};

template <class S, class T, class Arch>
struct packed_keys {
    using table = tiles<T, Arch>;
    using index_type = typename family<T, Arch>::index_type;
    using loader = std::conditional_t<std::is_same_v<S, T>, load_same, load_widened<T>>;

    text t{};
    index_t head = 0, kv = 0;
    index_t slots = 0; // packed keys
    int panels = 0, depth = 0, padded_depth = 0, width = 0, padded_width = 0;
    T factor{}; // of the keys: the scale, in powers of two, or in natural units for a policy that knows no others
    index_t* list = nullptr; // [slot] place of the key in memory, relative to the text's first
    bool listed = false;
    index_type* positions = nullptr;               // [slot], padded with the last one to whole panels
    index_t *lowest = nullptr, *highest = nullptr; // [panel] of those positions
    T* keys = nullptr;                             // packed; with streaming, the panels of one key block
    T* values = nullptr;                           // packed
    T* changed = nullptr;                          // values after the policy's value facet, [key][width]
    bool* finite = nullptr;                        // [key block] all values are
    T* norms = nullptr;                            // [slot] of the values, where a statistic asks
    bool in_place = false;

    index_t place(index_t slot) const { return listed ? list[slot] : slot; }
    int key_blocks() const { return (panels + table::block_panels - 1) / table::block_panels; }
    int keys_in_panel(int p) const {
        return static_cast<int>(math::min(index_t{table::panel}, slots - p * table::panel));
    }
    int keys_in_block(int b) const {
        return static_cast<int>(math::min(index_t{table::block_keys}, slots - b * table::block_keys));
    }

    /// Packs one key block: to its place, or to the front of the arrays when streaming. Without values (width 0) the keys
    /// alone. For a single query nobody asks whether the values are finite.
    [[gnu::noinline]] void pack(view<S const, 4> const& k, view<S const, 4> const& v, int b, bool streaming,
                                bool single = false) {
        index_t const first = b * table::block_keys;
        int const count = keys_in_block(b);
        std::ptrdiff_t const to = streaming ? 0 : first;
        pack_keys<Arch, T>(source(k), first, count, depth, factor, loader{}, keys + to * padded_depth);
        if (width == 0) return;
        if (changed != nullptr) {
            finite[b] = pack_values_of(row_source<T>{changed, width, 1, nullptr}, load_same{}, first, count, streaming);
        } else if (single && read_directly(v)) {
            finite[b] = true; // not known, and not asked: single_row.hpp
        } else if (in_place) {
            finite[b] = finite_in_place(source(v), first, count);
        } else {
            finite[b] = pack_values_of(source(v), loader{}, first, count, streaming);
        }
    }

    T const* panel_keys(int p, bool streaming) const {
        return keys + std::ptrdiff_t{streaming ? p % table::block_panels : p} * table::panel * padded_depth;
    }
    /// A single query reads each value once: wherever they lie in whole vectors, copying them would cost more than it saves.
    bool read_directly(view<S const, 4> const& v) const {
        return std::is_same_v<S, T> && changed == nullptr && !listed && v.stride(3) == 1 && width % table::lanes == 0;
    }
    /// Values of a key block, column group g: the first key's first column; from key to key it is group_columns, or, if
    /// read directly, the stride of the array.
    T const* block_values(view<S const, 4> const& v, int b, int g, bool streaming, bool single = false) const {
        if (in_place || (single && read_directly(v))) {
            if constexpr (std::is_same_v<S, T>)
                return &v(t.entry, kv, t.key_begin + b * table::block_keys, 0) + std::ptrdiff_t{g} * table::panel;
        }
        std::ptrdiff_t const all = streaming ? table::block_keys : round_up(slots, table::block_keys);
        std::ptrdiff_t const columns = group_columns<Arch, T>(width, g);
        return values + all * table::panel * g + (streaming ? 0 : std::ptrdiff_t{b} * table::block_keys) * columns;
    }

    /// Rows of the tiles [begin, end) gather the values of one key block.
    [[gnu::noinline]] void add_values(view<S const, 4> const& v, query_block<T> const& block, int b, int begin, int end,
                                      bool streaming, bool single) const {
        int const next = b + 1 < key_blocks() ? b + 1 : 0;
        bool const direct = streaming && single && read_directly(v);
        for (int g = 0; g * table::panel < width; ++g) {
            int const columns = group_columns<Arch, T>(width, g);
            value_task<T> const task{block_values(v, b, g, streaming, direct),
                                     direct ? v.stride(2) : columns,
                                     keys_in_block(b),
                                     g * table::panel,
                                     columns,
                                     begin,
                                     end,
                                     block_values(v, next, g, streaming, direct)};
            if (single)
                value_row<Arch, T>(block, task);
            else if (finite[b])
                value_panel<Arch, T>(block, task);
            else
                careful_value_panel<Arch, T>(block, task);
        }
    }

private:
    row_source<S> source(view<S const, 4> const& x) const {
        return {&x(t.entry, kv, t.key_begin, 0), x.stride(2), x.stride(3), listed ? list : nullptr};
    }
    bool finite_in_place(row_source<S> const& from, index_t first, int count) const {
        if constexpr (std::is_same_v<S, T>)
            return finite_values<Arch, T>(from, first, count, width);
        else
            return false; // never called: only accumulation types are read in place
    }
    /// Each column group on its own: a group's rows lie back to back over all keys.
    template <class Source, class Load>
    bool pack_values_of(row_source<Source> from, Load const& load, index_t first, int count, bool streaming) {
        bool all_finite = true;
        std::ptrdiff_t const all = streaming ? table::block_keys : round_up(slots, table::block_keys);
        std::ptrdiff_t const to = streaming ? 0 : first;
        for (int g = 0; g * table::panel < width; ++g) {
            row_source<Source> group = from;
            group.data += g * table::panel * from.channel_stride;
            int const columns = width - g * table::panel < table::panel ? width - g * table::panel : table::panel;
            T* const at = values + all * table::panel * g + to * group_columns<Arch, T>(width, g);
            all_finite = pack_values<Arch, T>(group, first, count, columns, load, at, 0) && all_finite;
        }
        return all_finite;
    }
};

} // namespace basin::detail::simd
