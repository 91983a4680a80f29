// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include <basin/backend/backward_concept.hpp>

#include "backward_tile.hpp"
#include "unit.hpp"

namespace basin::detail::simd {

/// Whether n numbers, a whole number of vectors, are all finite.
template <class A, class T>
[[gnu::noinline]] bool finite_numbers(T const* x, std::ptrdiff_t n) noexcept {
    vec<T, A> residue(T(0));
    for (std::ptrdiff_t i = 0; i < n; i += tiles<T, A>::lanes)
        residue = multiply_add<A, T>(vec<T, A>::load_aligned(x + i), vec<T, A>(T(0)), residue);
    return all_zero<A, T>(residue);
}

/// Rows of the result of a product: the caller's own, or sums of a unit that are added to them later.
template <class T>
struct result_rows {
    T* first;
    std::ptrdiff_t stride;
};

/// The keys and values of one text and head as the backward pass reads them, in strips of keys: both as panels (for
/// scores and gradients of probabilities), keys also as rows (for d_q). Where the gradients d_k and d_v cannot be added to
/// in place it keeps sums of its own.
template <class Task, class Arch>
struct backward_unit {
    using T = typename Task::accumulation;
    using S = typename Task::scalar_type;
    using P = typename Task::policy_type;
    using table = backward_tiles<T, Arch>;
    using index_type = typename family<T, Arch>::index_type;
    using loader = std::conditional_t<std::is_same_v<S, T>, load_same, load_widened<T>>;
    static constexpr bool hides = has_hides<P>, changes_values = has_value<P>;
    /// Keys are packed anew for each query head of a group.
    static constexpr bool per_query_head = hides || changes_values;
    /// dS comes straight from the registers: nothing but d_out and d_lse counts, and scores are as they are.
    static constexpr bool fused = Task::sum_from_out && !has_score<P>;

    text t{};
    index_t head = 0, kv = 0;
    index_t slots = 0; // packed keys
    int strips = 0, depth = 0, width = 0;
    index_t* list = nullptr; // [slot] place of the key in memory, relative to the text's first
    bool listed = false;
    index_type* positions = nullptr;               // [slot], padded with the last one to whole strips
    index_t *lowest = nullptr, *highest = nullptr; // [strip] of those positions
    bool* finite = nullptr;                        // [strip]
    T *keys = nullptr, *values = nullptr;          // panels
    T* key_rows = nullptr;                         // [column group][slot][columns], unless they are read in place
    T* changed = nullptr;                          // [slot][width] values after the policy's value facet
    T *key_sums = nullptr, *value_sums = nullptr;  // as key_rows: gradients, unless they are added to in place
    bool in_place = false;

    void carve(arena<Arch>& a, Task const& task, index_t most_keys) {
        depth = static_cast<int>(task.q.extent(3));
        width = static_cast<int>(task.v.extent(3));
        room_ = round_up(most_keys, table::strip);
        if constexpr (hides) list = a.template take<index_t>(room_);
        positions = a.template take<index_type>(room_);
        lowest = a.template take<index_t>(room_ / table::strip);
        highest = a.template take<index_t>(room_ / table::strip);
        finite = a.template take<bool>(room_ / table::strip);
        keys = a.template take<T>(room_ * round_up(depth, table::chunk));
        values = a.template take<T>(room_ * round_up(width, table::chunk));
        in_place = std::is_same_v<S, T> && !hides && task.k.stride(3) == 1 && depth == table::panel &&
                   task.k.stride(2) == table::panel;
        if (!in_place) key_rows = a.template take<T>(room_ * round_up(depth, table::lanes));
        if constexpr (changes_values) changed = a.template take<T>(std::ptrdiff_t{most_keys} * width);
        if (hides || task.d_k.stride(3) != 1 || depth % table::lanes != 0)
            key_sums = a.template take<T>(room_ * round_up(depth, table::lanes));
        if (hides || changes_values || task.d_v.stride(3) != 1 || width % table::lanes != 0)
            value_sums = a.template take<T>(room_ * round_up(width, table::lanes));
    }

    /// Chooses the keys of a text and head and notes where they stand.
    void open(Task const& task, text const& which, index_t query_head) {
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
        strips = (slots + table::strip - 1) / table::strip;
        for (int s = 0; s < strips; ++s) {
            index_t low = 0x7fffffff, high = 0;
            for (index_t i = s * table::strip; i < (s + 1) * table::strip; ++i) {
                index_t const position = task.where.key_at(t, t.key_begin + place(i < slots ? i : slots - 1));
                positions[i] = position;
                low = math::min(low, position);
                high = math::max(high, position);
            }
            lowest[s] = low;
            highest[s] = high;
        }
    }

    index_t place(index_t slot) const { return listed ? list[slot] : slot; }
    int keys_in(int strip) const {
        return static_cast<int>(math::min(index_t{table::strip}, slots - strip * table::strip));
    }

    void pack(Task const& task, int strip) {
        index_t const first = strip * table::strip;
        int const count = keys_in(strip);
        // In natural units if scores are to be changed, else already in powers of two; dS is to carry the scale.
        T const factor = has_score<P> ? task.scale : task.scale * T(1.4426950408889634);
        T const slope_factor = fused ? task.scale : T(1);
        T *const k = keys + panel_offset(strip, depth), *const v = values + panel_offset(strip, width);
        pack_keys<Arch, T>(source(task.k), first, count, depth, factor, loader{}, k);
        if constexpr (changes_values) {
            change_values(task, first, count);
            row_source<T> const from{changed, width, 1, nullptr};
            pack_keys<Arch, T>(from, first, count, width, slope_factor, load_same{}, v);
        } else {
            pack_keys<Arch, T>(source(task.v), first, count, width, slope_factor, loader{}, v);
        }
        std::ptrdiff_t const panels = round_up(count, table::panel);
        finite[strip] = finite_numbers<Arch, T>(k, panels * round_up(depth, table::chunk)) &&
                        finite_numbers<Arch, T>(v, panels * round_up(width, table::chunk));
        for (int g = 0; !in_place && g * table::panel < depth; ++g) {
            row_source<S> group = source(task.k);
            group.data += g * table::panel * group.channel_stride;
            int const columns = math::min(depth - g * table::panel, static_cast<int>(table::panel));
            pack_values<Arch, T>(group, first, count, columns, loader{}, key_rows + row_offset(depth, g, strip), 0);
        }
        if (key_sums != nullptr) clear(key_sums, depth, strip);
        if (value_sums != nullptr) clear(value_sums, width, strip);
    }

    T const* key_panels(int strip) const { return keys + panel_offset(strip, depth); }
    T const* value_panels(int strip) const { return values + panel_offset(strip, width); }
    T const* rows_of_keys(Task const& task, int strip, int g) const {
        if constexpr (std::is_same_v<S, T>) {
            if (in_place) return &task.k(t.entry, kv, t.key_begin + strip * table::strip, 0);
        }
        return key_rows + row_offset(depth, g, strip);
    }
    result_rows<T> d_keys(Task const& task, int strip, int g) const {
        return result(task.d_k, key_sums, depth, strip, g);
    }
    result_rows<T> d_values(Task const& task, int strip, int g) const {
        return result(task.d_v, value_sums, width, strip, g);
    }

    bool keeps_sums() const { return key_sums != nullptr || value_sums != nullptr; }
    /// Own sums of a strip to the caller's gradients.
    void close(Task const& task, int strip) const {
        index_t const first = strip * table::strip;
        for (index_t s = first; s < first + keys_in(strip); ++s) {
            index_t const key = t.key_begin + place(s);
            if (key_sums != nullptr) add_row(task.d_k, key, key_sums, depth, s);
            if (value_sums != nullptr) {
                if constexpr (!changes_values) {
                    add_row(task.d_v, key, value_sums, width, s);
                } else {
                    for (index_t c = 0; c < width; ++c)
                        task.d_v(t.entry, kv, key, c) +=
                            facet::value_pullback(task.policy, static_cast<T>(task.v(t.entry, kv, key, c)),
                                                  sum_at(value_sums, width, s, c), value_place(s, c));
                }
            }
        }
    }

    /// What the policy is asked about: these query positions and one strip.
    tile span(index_t query_head, index_t const* queries, int count, int strip) const {
        tile x{t.number, query_head, queries[0], queries[0] + 1, lowest[strip], highest[strip] + 1};
        for (int i = 1; i < count; ++i) {
            x.query_begin = math::min(x.query_begin, queries[i]);
            x.query_end = math::max(x.query_end, queries[i] + 1);
        }
        return x;
    }

private:
    row_source<S> source(view<S const, 4> const& x) const {
        return {&x(t.entry, kv, t.key_begin, 0), x.stride(2), x.stride(3), listed ? list : nullptr};
    }
    static std::ptrdiff_t panel_offset(int strip, int channels) {
        return std::ptrdiff_t{strip} * table::strip * round_up(channels, table::chunk);
    }
    std::ptrdiff_t row_offset(int channels, int g, int strip) const {
        return room_ * table::panel * g + std::ptrdiff_t{strip} * table::strip * group_columns<Arch, T>(channels, g);
    }
    result_rows<T> result(view<T, 4> const& d, T* sums, int channels, int strip, int g) const {
        if (sums != nullptr) return {sums + row_offset(channels, g, strip), group_columns<Arch, T>(channels, g)};
        return {&d(t.entry, kv, t.key_begin + strip * table::strip, g * table::panel), d.stride(2)};
    }
    void add_row(view<T, 4> const& d, index_t key, T const* sums, int channels, index_t slot) const {
        std::ptrdiff_t const step = d.stride(3);
        for (int first = 0; first < channels; first += table::panel) {
            T const* const from =
                sums + room_ * first + std::ptrdiff_t{slot} * group_columns<Arch, T>(channels, first / table::panel);
            T* const to = &d(t.entry, kv, key, first);
            int const n = math::min(channels - first, static_cast<int>(table::panel));
            if (step == 1) {
                for (int c = 0; c < n; ++c) to[c] += from[c];
            } else {
                for (int c = 0; c < n; ++c) to[c * step] += from[c];
            }
        }
    }
    T sum_at(T const* sums, int channels, index_t slot, index_t c) const {
        int const g = static_cast<int>(c) / table::panel;
        return sums[room_ * table::panel * g + std::ptrdiff_t{slot} * group_columns<Arch, T>(channels, g) +
                    c % table::panel];
    }
    void clear(T* sums, int channels, int strip) const {
        for (int g = 0; g * table::panel < channels; ++g) {
            T* const at = sums + row_offset(channels, g, strip);
            for (int i = 0; i < table::strip * group_columns<Arch, T>(channels, g); ++i) at[i] = T(0);
        }
    }
    value_site value_place(index_t slot, index_t c) const {
        return {t.number, head, static_cast<index_t>(positions[slot]), c};
    }
    void change_values(Task const& task, index_t first, int count) {
        for (index_t s = first; s < first + count; ++s)
            for (index_t c = 0; c < width; ++c)
                changed[std::ptrdiff_t{s} * width + c] = facet::value(
                    task.policy, static_cast<T>(task.v(t.entry, kv, t.key_begin + place(s), c)), value_place(s, c));
    }

    std::ptrdiff_t room_ = 0; // slots, whole strips
};

} // namespace basin::detail::simd
