// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include <basin/backend/concept.hpp>

#include "packed_keys.hpp"

namespace basin::detail::simd {

/// What a policy has to say about the keys of a text and head: which are packed (those that somebody may see), where they
/// stand, what their values become. Query heads of a group share a unit unless the policy tells them apart.
template <class Task, class Arch>
struct unit : packed_keys<typename Task::scalar_type, typename Task::accumulation, Arch> {
    using T = typename Task::accumulation;
    using S = typename Task::scalar_type;
    using base = packed_keys<S, T, Arch>;
    using base::keys, base::values, base::changed, base::finite, base::norms, base::in_place, base::place;
    using base::padded_width, base::factor, base::list, base::listed, base::positions, base::lowest, base::highest;
    using base::t, base::head, base::kv, base::slots, base::panels, base::depth, base::padded_depth, base::width;
    using typename base::index_type;
    using typename base::table;
    static constexpr bool hides = has_hides<typename Task::policy_type>;
    static constexpr bool changes_values = has_value<typename Task::policy_type>;
    static constexpr bool per_query_head = hides || changes_values;
    static constexpr bool scores_change = has_score<typename Task::policy_type>;
    // Powers of two are what the kernels sum; a policy that only knows natural units gets them, for two products a pair.
    static constexpr bool natural = !takes_units<typename Task::policy_type>;

    void carve(arena<Arch>& a, Task const& task, index_t most_keys, bool streaming) {
        depth = static_cast<int>(task.q.extent(3));
        padded_depth = round_up(depth, table::chunk);
        width = task.observing ? 0 : static_cast<int>(task.v.extent(3));
        padded_width = round_up(width, table::lanes);
        factor = natural ? task.scale : task.scale * T(1.4426950408889634);
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

private:
    static bool could_be_in_place(Task const& task) {
        if (task.observing) return true; // no values at all
        return std::is_same_v<S, T> && !changes_values && !hides && task.v.stride(3) == 1 &&
               task.v.extent(3) == table::panel && task.v.stride(2) == table::panel;
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
