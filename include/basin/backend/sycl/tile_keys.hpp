// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include <basin/backend/sycl/tile_pairs.hpp>

namespace basin::detail::device {

/// The sweep of statistics by key: a work-group owns a tile of keys and goes through all queries, so that sums need no
/// atomics and always have the same order.
template <class Task, index_t Channels>
struct tile_keys_kernel {
    using A = typename Task::accumulation;
    using tuning = tile_tuning<A, Channels>;
    using item_type = tile_item<Task, Channels>;
    static constexpr index_t rows = tuning::item_rows, keys = tuning::item_keys;

    Task x;
    row_facts<A>* facts;
    index_t group; // of queries
    tile_memory<A, Channels> local;

    void operator()(sycl::nd_item<1> const& item) const {
        index_t const number = static_cast<index_t>(item.get_group_linear_id());
        tile_numbers::place const mine = key_tiles(x.where, tuning::keys).at(x.where, x.query_heads(), false, number);
        item_type const it{x, local, item, mine.t, mine.head};
        index_t const begin = mine.begin;
        if (begin >= it.t.key_end) return;
        A weight[keys];
        each<keys>([&](index_t j) BASIN_INLINED {
            index_t const place = it.key(begin, j);
            weight[j] = Task::needs_key_weight && place < it.t.key_end ? value_norm(x, it.t, it.head, place) : A(0);
        });
        auto sums = identities<keys>(x.statistics);
        coverage seen = coverage::none;
        for (index_t query = next_queries(it, it.t.query_begin, begin, seen); query < it.t.query_end;
             query = next_queries(it, query + tuning::rows, begin, seen)) {
            A s[rows][keys];
            it.scores(query, begin, seen, s);
            each<rows>([&](index_t i) BASIN_INLINED { one_row(it, it.query(query, i), begin, s[i], weight, sums); });
        }
        store(it, begin, sums);
    }

    /// How many groups of queries a statistic has; a sweep serves one of them.
    template <class S>
    static index_t groups_of(S const& s) {
        if constexpr (S::reduced_to == axis::by_key)
            return s.output.extent(2);
        else
            return 0;
    }

private:
    template <class S>
    bool counts(S const& s, index_t entry, index_t query) const {
        return group < groups_of(s) && s.groups.of(entry, query) == group;
    }
    /// Whether any query of a tile is in a group; the same for all items.
    bool has_group(text const& t, index_t begin) const {
        bool found = false;
        x.statistics.each([&](auto, auto const& s) BASIN_INLINED {
            if constexpr (std::remove_cvref_t<decltype(s)>::reduced_to == axis::by_key)
                for (index_t i = begin; i < math::min(begin + tuning::rows, t.query_end); ++i)
                    found = found || counts(s, t.entry, i);
        });
        return found;
    }

    /// As tile_item::next_keys, for queries: the tiles that count in this sweep.
    index_t next_queries(item_type const& it, index_t begin, index_t key_begin, coverage& seen) const {
        for (; begin < it.t.query_end; begin += tuning::rows) {
            seen = group > 0 && !has_group(it.t, begin) ? coverage::none : it.covered(begin, key_begin);
            if (seen != coverage::none) break;
        }
        return begin;
    }

    template <class Sums>
    [[gnu::always_inline]] void one_row(item_type const& it, index_t query, index_t begin, A const (&s)[keys],
                                        A const (&weight)[keys], Sums& sums) const {
        if (query >= it.t.query_end) return;
        row_facts<A> const row = it.facts(facts, query);
        each<keys>([&](index_t j) BASIN_INLINED {
            if (s[j] == -math::infinity<A>) return;
            index_t const place = it.key(begin, j);
            cell<A, index_t, A> const c{sycl::exp(s[j] - row.lse), s[j], weight[j], place, row};
            x.statistics.each([&](auto n, auto const& statistic) BASIN_INLINED {
                using S = std::remove_cvref_t<decltype(statistic)>;
                if constexpr (S::reduced_to == axis::by_key) {
                    if (!counts(statistic, it.t.entry, query)) return;
                    auto& mine = numbers_of<decltype(n)::value>(sums).of[j];
                    mine = statistic.combine(mine, statistic.map(c, it.site_at(query, place)));
                }
            });
        });
    }

    /// Items with the same keys and other rows put their sums together, in the order of rows.
    template <class Sums>
    [[gnu::always_inline]] void store(item_type const& it, index_t begin, Sums& sums) const {
        x.statistics.each([&](auto n, auto const& s) BASIN_INLINED {
            if constexpr (std::remove_cvref_t<decltype(s)>::reduced_to == axis::by_key) {
                it.barrier();
                each<keys>([&](index_t j) BASIN_INLINED {
                    it.exchange(it.column(j), it.row_item) = numbers_of<decltype(n)::value>(sums).of[j];
                });
                it.barrier();
                index_t const place = begin + it.id;
                if (group < groups_of(s) && it.id < tuning::keys && place < it.t.key_end) {
                    auto& slot = s.output(it.t.entry, it.head, group, place);
                    for (index_t r = 0; r < tuning::row_items; ++r) slot = s.combine(slot, it.exchange(it.id, r));
                }
            }
        });
    }
};

} // namespace basin::detail::device
