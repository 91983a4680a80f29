// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include <basin/backend/sycl/tile.hpp>

namespace basin::detail::device {

/// A few numbers of each statistic, in registers.
template <class T, index_t N>
struct some_numbers {
    T of[N];
};
template <index_t N, class Statistics>
[[gnu::always_inline]] inline auto identities(Statistics const& statistics) {
    return statistics.map([](auto const& s) {
        some_numbers<typename std::remove_cvref_t<decltype(s)>::value_type, N> result{};
        device::each<N>([&](index_t i) BASIN_INLINED { result.of[i] = s.identity(); });
        return result;
    });
}
template <std::size_t I, class S>
S& numbers_of(detail::numbered<I, S>& all) {
    return all.value;
}

/// The second sweep, where final probabilities are wanted: statistics by query of pairs, and outputs under a weight.
template <class Task, index_t Channels>
struct tile_pairs_kernel {
    using A = typename Task::accumulation;
    using tuning = tile_tuning<A, Channels>;
    using item_type = tile_item<Task, Channels>;
    static constexpr index_t rows = tuning::item_rows, keys = tuning::item_keys;

    Task x;
    row_facts<A>* facts;
    index_t turn;
    tile_memory<A, Channels> local;

    void operator()(sycl::nd_item<1> const& item) const {
        index_t const group = static_cast<index_t>(item.get_group_linear_id());
        tile_numbers::place const mine = query_tiles(x.where, tuning::rows).at(x.where, x.query_heads(), true, group);
        item_type const it{x, local, item, mine.t, mine.head};
        index_t const begin = mine.begin;
        if (begin >= it.t.query_end) return;

        A o[rows][item_type::item_channels];
        each<rows>([&](index_t i) BASIN_INLINED {
            each<item_type::item_channels>([&](index_t j) BASIN_INLINED { o[i][j] = 0; });
        });
        auto sums = identities<rows>(x.statistics);
        if (it.id == 0) local.indices[tile_memory<A, Channels>::exchange] = 0;
        index_t number = 0;
        coverage seen = coverage::none;
        for (index_t key = it.next_keys(begin, it.t.key_begin, seen); key < it.t.key_end;
             key = it.next_keys(begin, key + tuning::keys, seen)) {
            ++number;
            A s[rows][keys];
            it.scores(begin, key, seen, s);
            each<rows>([&](index_t i) BASIN_INLINED { one_row(it, begin, key, i, s[i], sums); });
            if constexpr (Task::weighs && !Task::observing) it.add_values(key, turn, number, o);
        }
        if (turn == 0) store(it, begin, sums);
        if constexpr (Task::weighs && !Task::observing) {
            A inverse[rows];
            each<rows>([&](index_t i) BASIN_INLINED { inverse[i] = 1; });
            write_output(it, begin, turn, facts, inverse, o);
        }
    }

private:
    template <class Sums>
    [[gnu::always_inline]] void one_row(item_type const& it, index_t begin, index_t key, index_t i, A const (&s)[keys],
                                        Sums& sums) const {
        index_t const query = it.query(begin, i);
        row_facts<A> const row = query < it.t.query_end ? it.facts(facts, query) : row_facts<A>{};
        each<keys>([&](index_t j) BASIN_INLINED {
            index_t const place = it.key(key, j);
            bool const hidden = s[j] == -math::infinity<A>;
            A const p = hidden ? A(0) : sycl::exp(s[j] - row.lse);
            if constexpr (Task::weighs && !Task::observing)
                it.share(it.column(j), it.row_item * rows + i) =
                    hidden ? A(0) : facet::weight(x.policy, p, it.site_at(query, place));
            if (hidden) return;
            x.statistics.each([&](auto n, auto const& statistic) BASIN_INLINED {
                using S = std::remove_cvref_t<decltype(statistic)>;
                if constexpr (S::reduced_to == axis::by_query && !only_rows<S>) {
                    A const weight = needs_key_weight<S> ? value_norm(x, it.t, it.head, place) : A(0);
                    cell<A, index_t, A> const c{p, s[j], weight, place, row};
                    auto& mine = numbers_of<decltype(n)::value>(sums).of[i];
                    mine = statistic.combine(mine, statistic.map(c, it.site_at(query, place)));
                }
            });
        });
    }
    template <class Sums>
    [[gnu::always_inline]] void store(item_type const& it, index_t begin, Sums& sums) const {
        x.statistics.each([&](auto n, auto const& s) BASIN_INLINED {
            using S = std::remove_cvref_t<decltype(s)>;
            if constexpr (S::reduced_to == axis::by_query && !only_rows<S>) {
                it.barrier();
                each<rows>([&](index_t i) BASIN_INLINED {
                    it.exchange(it.row_item * rows + i, it.key_item) = numbers_of<decltype(n)::value>(sums).of[i];
                });
                it.barrier();
                index_t const query = begin + it.id;
                if (it.id < tuning::rows && query < it.t.query_end) {
                    auto reduced = s.identity();
                    for (index_t k = 0; k < tuning::key_items; ++k) reduced = s.combine(reduced, it.exchange(it.id, k));
                    store_row(s, it.t.entry, it.head, query, reduced, it.facts(facts, query));
                }
            }
        });
    }
};

} // namespace basin::detail::device
