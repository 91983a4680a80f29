// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include <basin/backend/concept.hpp>

#include "arena.hpp"
#include "family.hpp"
#include "pack.hpp"

namespace basin::detail::simd {

/// Widens 16-bit storage while packing.
template <class T>
struct load_widened {
    template <class S>
    T operator()(S x) const noexcept {
        return static_cast<T>(static_cast<float>(x));
    }
};

/// The keys and values of one text and head, as kernels read them: which keys are packed (those that somebody may see),
/// where they stand, and their copies. Query heads of a group share a unit unless the policy tells them apart.
template <class Task, class Arch>
struct unit {
    using T = typename Task::accumulation;
    using S = typename Task::scalar_type;
    using table = tiles<T, Arch>;
    using index_type = typename family<T, Arch>::index_type;
    using loader = std::conditional_t<std::is_same_v<S, T>, load_same, load_widened<T>>;
    static constexpr bool hides = has_hides<typename Task::policy_type>;
    static constexpr bool changes_values = has_value<typename Task::policy_type>;
    static constexpr bool per_query_head = hides || changes_values;
    static constexpr bool scores_change = has_score<typename Task::policy_type>;

    text t{};
    index_t head = 0, kv = 0;
    index_t slots = 0; // packed keys
    int panels = 0, depth = 0, padded_depth = 0, width = 0, padded_width = 0;
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

    void carve(arena<Arch>& a, Task const& task, index_t most_keys, bool streaming) {
        depth = static_cast<int>(task.q.extent(3));
        padded_depth = round_up(depth, table::chunk);
        width = task.observing ? 0 : static_cast<int>(task.v.extent(3));
        padded_width = round_up(width, table::lanes);
        std::ptrdiff_t const padded = round_up(most_keys, table::block_keys);
        if constexpr (hides) list = a.template take<index_t>(padded);
        positions = a.template take<index_type>(padded);
        lowest = a.template take<index_t>(padded / table::panel);
        highest = a.template take<index_t>(padded / table::panel);
        finite = a.template take<bool>(padded / table::block_keys);
        keys = a.template take<T>((streaming ? table::block_keys : padded) * padded_depth);
        if (!could_be_in_place(task))
            values = a.template take<T>((streaming ? table::block_keys : padded) * padded_width);
        if constexpr (changes_values) changed = a.template take<T>(std::ptrdiff_t{most_keys} * width);
        if constexpr (Task::needs_key_weight) norms = a.template take<T>(padded);
    }

    /// Chooses the keys of a text and head and notes where they stand.
    [[gnu::noinline]] void open(Task const& task, text const& which, index_t query_head) {
        t = which;
        head = query_head;
        kv = task.key_value_head(query_head);
        index_t const count = t.key_end - t.key_begin;
        slots = count;
        if constexpr (hides) {
            slots = 0;
            head_site const where = task.heads_of(t, head);
            for (index_t i = 0; i < count; ++i) {
                if (!facet::hides(task.policy, where, task.where.key_at(t, t.key_begin + i))) list[slots++] = i;
            }
            listed = slots != count;
        }
        panels = (slots + table::panel - 1) / table::panel;
        for (int p = 0; p < panels; ++p) {
            index_t low = 0x7fffffff, high = 0;
            for (index_t s = p * table::panel; s < (p + 1) * table::panel; ++s) {
                index_t const position = task.where.key_at(t, t.key_begin + place(s < slots ? s : slots - 1));
                positions[s] = position;
                low = math::min(low, position);
                high = math::max(high, position);
            }
            lowest[p] = low;
            highest[p] = high;
        }
        in_place = !task.observing && !changes_values && could_be_in_place(task) && !listed;
        if constexpr (changes_values) change_values(task);
        if constexpr (Task::needs_key_weight) measure_values(task);
    }

    index_t place(index_t slot) const { return listed ? list[slot] : slot; }
    int key_blocks() const { return (panels + table::block_panels - 1) / table::block_panels; }
    int keys_in_panel(int p) const {
        return static_cast<int>(math::min(index_t{table::panel}, slots - p * table::panel));
    }
    int keys_in_block(int b) const {
        return static_cast<int>(math::min(index_t{table::block_keys}, slots - b * table::block_keys));
    }

    /// Packs one key block: to its place, or to the front of the arrays when streaming. For a single query nobody asks
    /// whether the values are finite.
    [[gnu::noinline]] void pack(Task const& task, int b, bool streaming, bool single = false) {
        index_t const first = b * table::block_keys;
        int const count = keys_in_block(b);
        std::ptrdiff_t const to = streaming ? 0 : first;
        // In natural units if scores are to be changed, else already in powers of two.
        T const factor = scores_change ? task.scale : task.scale * T(1.4426950408889634);
        pack_keys<Arch, T>(source(task.k), first, count, depth, factor, loader{}, keys + to * padded_depth);
        if (task.observing) return;
        if constexpr (changes_values) {
            finite[b] = pack_values_of(row_source<T>{changed, width, 1, nullptr}, load_same{}, first, count, streaming);
        } else if (single && read_directly(task)) {
            finite[b] = true; // not known, and not asked: single_row.hpp
        } else if (in_place) {
            finite[b] = finite_in_place(source(task.v), first, count);
        } else {
            finite[b] = pack_values_of(source(task.v), loader{}, first, count, streaming);
        }
    }

    T const* panel_keys(int p, bool streaming) const {
        return keys + std::ptrdiff_t{streaming ? p % table::block_panels : p} * table::panel * padded_depth;
    }
    /// A single query reads each value once: wherever they lie in whole vectors, copying them would cost more than it saves.
    bool read_directly(Task const& task) const {
        return std::is_same_v<S, T> && !changes_values && !listed && task.v.stride(3) == 1 && width % table::lanes == 0;
    }
    /// Values of a key block, column group g: the first key's first column; from key to key it is group_columns, or, if
    /// read directly, the stride of the array.
    T const* block_values(Task const& task, int b, int g, bool streaming, bool single = false) const {
        if (in_place || (single && read_directly(task))) {
            if constexpr (std::is_same_v<S, T>)
                return &task.v(t.entry, kv, t.key_begin + b * table::block_keys, 0) + std::ptrdiff_t{g} * table::panel;
        }
        std::ptrdiff_t const all = streaming ? table::block_keys : round_up(slots, table::block_keys);
        std::ptrdiff_t const columns = group_columns<Arch, T>(width, g);
        return values + all * table::panel * g + (streaming ? 0 : std::ptrdiff_t{b} * table::block_keys) * columns;
    }

private:
    static bool could_be_in_place(Task const& task) {
        if (task.observing) return true; // no values at all
        return std::is_same_v<S, T> && !changes_values && !hides && task.v.stride(3) == 1 &&
               task.v.extent(3) == table::panel && task.v.stride(2) == table::panel;
    }
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
    T value_at(Task const& task, index_t slot, index_t c) const {
        index_t const i = t.key_begin + place(slot);
        return facet::value(task.policy, static_cast<T>(task.v(t.entry, kv, i, c)),
                            value_site{t.number, head, static_cast<index_t>(positions[slot]), c});
    }
    void change_values(Task const& task) {
        for (index_t s = 0; s < slots; ++s)
            for (index_t c = 0; c < width; ++c) changed[std::ptrdiff_t{s} * width + c] = value_at(task, s, c);
    }
    void measure_values(Task const& task) {
        for (index_t s = 0; s < slots; ++s) {
            double sum = 0; // the square of a small float is 0 in float
            for (index_t c = 0; c < width; ++c) {
                auto const x = static_cast<double>(value_at(task, s, c));
                sum += x * x;
            }
            norms[s] = static_cast<T>(math::sqrt(sum));
        }
    }
};

} // namespace basin::detail::simd
