// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include <basin/backend/sycl/tile.hpp>

namespace basin::detail::device {

/// The first sweep: a work-group owns a tile of queries and goes through the keys with an online softmax. It leaves the
/// facts of its rows, and the output unless a weight must be known first. Rows whose output is not finite then may have
/// taken an infinite value for a share that later became 0: they go through the keys again, with final shares.
template <class Task, index_t Channels>
struct tile_rows_kernel {
    using A = typename Task::accumulation;
    using tuning = tile_tuning<A, Channels>;
    using item_type = tile_item<Task, Channels>;
    static constexpr index_t rows = tuning::item_rows, keys = tuning::item_keys;
    static constexpr bool multiplies = !Task::observing && !Task::weighs;

    Task x;
    row_facts<A>* facts;
    index_t turn; // the first channel of the values
    tile_memory<A, Channels> local;

    void operator()(sycl::nd_item<1> const& item) const {
        index_t const group = static_cast<index_t>(item.get_group_linear_id());
        tile_numbers::place const mine = query_tiles(x.where, tuning::rows).at(x.where, x.query_heads(), true, group);
        item_type const it{x, local, item, mine.t, mine.head};
        index_t const begin = mine.begin;
        if (begin >= it.t.query_end) return; // for the whole group

        A o[rows][item_type::item_channels];
        each<rows>([&](index_t i) BASIN_INLINED {
            each<item_type::item_channels>([&](index_t j) BASIN_INLINED { o[i][j] = 0; });
        });
        A best[rows];
        index_t best_key[rows];
        each<rows>([&](index_t i) BASIN_INLINED { best[i] = -math::infinity<A>, best_key[i] = -1; });
        if (it.id < tuning::rows) high_of(it) = -math::infinity<A>, sum_of(it) = 0;
        if (it.id == 0) local.indices[tile_memory<A, Channels>::exchange] = final_shares(it) = 0;
        it.barrier();

        index_t number = 0;
        for (bool more = true; more;) {
            coverage seen = coverage::none;
            for (index_t key = it.next_keys(begin, it.t.key_begin, seen); key < it.t.key_end;
                 key = it.next_keys(begin, key + tuning::keys, seen)) {
                ++number;
                A s[rows][keys];
                it.scores(begin, key, seen, s);
                if constexpr (Task::needs_favourite) {
                    each<rows>([&](index_t i) BASIN_INLINED {
                        each<keys>([&](index_t j) BASIN_INLINED {
                            if (s[i][j] > best[i]) best[i] = s[i][j], best_key[i] = it.key(key, j);
                        });
                    });
                }
                if constexpr (!Task::observing) {
                    new_reference(it, s);
                    to_shares(it, s, o);
                    if constexpr (multiplies) {
                        it.add_values(key, turn, number, o);
                    } else {
                        it.barrier();
                    }
                    add_sums(it); // the barriers above have made all partial ones visible
                }
            }
            it.barrier();
            more = false;
            if (final_shares(it) == 0) {
                finish_rows(it, begin, best, best_key);
                it.barrier();
                if constexpr (multiplies) more = find_overflows(it, o);
            }
        }
        if constexpr (multiplies) {
            A inverse[rows];
            each<rows>([&](index_t i) BASIN_INLINED { inverse[i] = it.row_value(2, it.row_item * rows + i); });
            write_output(it, begin, turn, facts, inverse, o);
        }
    }

private:
    static A larger(A a, A b) { return b > a || b != b ? b : a; } // NaN wins, and stays

    // Of a row, by the item of its number: the largest score and the sum of shares so far; later what the output is multiplied
    // by, and the lse. They lie in local memory because registers are what this kernel has least of.
    static A& sum_of(item_type const& it) { return it.row_value(2, it.id); }
    static A& high_of(item_type const& it) { return it.row_value(3, it.id); }
    /// Whether this is the second sweep, of rows that are computed again.
    static index_t& final_shares(item_type const& it) {
        return it.local.indices[tile_memory<A, Channels>::exchange + 1];
    }

    /// Rows find their new largest score; what was summed before shrinks accordingly. In the second sweep scores are
    /// relative to what find_overflows said, and nothing shrinks any more.
    [[gnu::always_inline]] void new_reference(item_type const& it, A const (&s)[rows][keys]) const {
        each<rows>([&](index_t i) BASIN_INLINED {
            A most = -math::infinity<A>;
            each<keys>([&](index_t j) BASIN_INLINED { most = larger(most, s[i][j]); });
            it.exchange(it.row_item * rows + i, it.key_item) = most;
        });
        it.barrier();
        if (it.id < tuning::rows && final_shares(it) == 0) {
            A const before = high_of(it);
            A now = before;
            for (index_t k = 0; k < tuning::key_items; ++k) now = larger(now, it.exchange(it.id, k));
            A const shrink = before == now || before == -math::infinity<A> ? A(1) : sycl::exp(before - now);
            high_of(it) = now;
            sum_of(it) *= shrink;
            it.row_value(0, it.id) = now == -math::infinity<A> ? A(0) : now;
            it.row_value(1, it.id) = shrink;
        }
        it.barrier();
    }
    void add_sums(item_type const& it) const {
        if (it.id >= tuning::rows || final_shares(it) != 0) return;
        A whole = sum_of(it);
        for (index_t k = 0; k < tuning::key_items; ++k) whole += it.exchange(it.id, k);
        sum_of(it) = whole;
    }
    /// Scores become shares, in local memory; their sums are exchanged.
    [[gnu::always_inline]] void to_shares(item_type const& it, A const (&s)[rows][keys],
                                          A (&o)[rows][item_type::item_channels]) const {
        each<rows>([&](index_t i) BASIN_INLINED {
            index_t const row = it.row_item * rows + i;
            A const reference = it.row_value(0, row), shrink = it.row_value(1, row);
            A sum = 0;
            each<keys>([&](index_t j) BASIN_INLINED {
                A const p = s[i][j] == -math::infinity<A> ? A(0) : sycl::exp(s[i][j] - reference);
                sum += p;
                if constexpr (multiplies) it.share(it.column(j), row) = p;
            });
            it.exchange(row, it.key_item) = sum;
            if constexpr (multiplies)
                each<item_type::item_channels>([&](index_t j) BASIN_INLINED { o[i][j] *= shrink; });
        });
    }

    /// Whether any row must be computed again; the same for all items. Such rows start anew, and their shares will be final
    /// ones, relative to the lse; the others will get shares of 0, relative to infinity, and stay as they are.
    [[gnu::always_inline]] bool find_overflows(item_type const& it, A (&o)[rows][item_type::item_channels]) const {
        each<rows>([&](index_t i) BASIN_INLINED {
            A worst = 0; // or NaN
            each<item_type::item_channels>([&](index_t j) BASIN_INLINED { worst += o[i][j] - o[i][j]; });
            it.exchange(it.row_item * rows + i, it.key_item) = worst;
        });
        it.barrier();
        if (it.id < tuning::rows) {
            A worst = 0;
            for (index_t k = 0; k < tuning::key_items; ++k) worst += it.exchange(it.id, k);
            // rows whose lse is not finite have said their output already
            A const lse = it.row_value(3, it.id);
            bool const again = worst != A(0) && lse - lse == A(0);
            if (again) it.row_value(2, it.id) = 1;
            it.row_value(0, it.id) = again ? lse : math::infinity<A>;
            it.row_value(1, it.id) = 1;
        }
        if (it.id == 0) final_shares(it) = 1;
        it.barrier();
        bool any = false;
        for (index_t row = 0; row < tuning::rows; ++row) any = any || it.row_value(0, row) < math::infinity<A>;
        each<rows>([&](index_t i) BASIN_INLINED {
            bool const again = it.row_value(0, it.row_item * rows + i) < math::infinity<A>;
            each<item_type::item_channels>([&](index_t j) BASIN_INLINED { o[i][j] = again ? A(0) : o[i][j]; });
        });
        return any;
    }

    [[gnu::always_inline]] void finish_rows(item_type const& it, index_t begin, A const (&best)[rows],
                                            index_t const (&best_key)[rows]) const {
        if constexpr (Task::needs_favourite) {
            each<rows>([&](index_t i) BASIN_INLINED {
                index_t const row = it.row_item * rows + i;
                it.exchange(row, it.key_item) = best[i];
                local.indices[item_type::exchange_at(row, it.key_item)] = best_key[i];
            });
            it.barrier();
        }
        index_t const query = begin + it.id;
        if (it.id >= tuning::rows) return;
        A const high = high_of(it), sum = sum_of(it);
        it.row_value(2, it.id) = it.row_value(3, it.id) = math::infinity<A>;
        if (query >= it.t.query_end) return;
        row_facts<A> row;
        A inverse = 1;
        A const sink = sinks_of(x, it.t, it.head, query);
        if constexpr (Task::observing) {
            row.lse = x.known_lse(it.t.entry, it.head, 0, query);
            row.escaped = sink == -math::infinity<A> ? A(0) : sink == row.lse ? A(1) : sycl::exp(sink - row.lse);
        } else if (high == high && sink == math::infinity<A>) { // an infinite sink takes all
            row.lse = sink;
            row.escaped = 1;
            inverse = high == sink ? __builtin_nanf("") : A(0); // beside another infinity nobody knows
        } else if (high != high || high == math::infinity<A> || sink != sink) {
            row.lse = row.escaped = __builtin_nanf("");
            if (sink == -math::infinity<A>) row.escaped = 0;
        } else if (high > -math::infinity<A> || sink > -math::infinity<A>) {
            A const most = math::max(high, sink);
            A const keys_part = high == -math::infinity<A> ? A(0) : sum * sycl::exp(high - most);
            A const sink_part = sink == -math::infinity<A> ? A(0) : sycl::exp(sink - most);
            row.lse = most + sycl::log(keys_part + sink_part);
            // o is relative to `high`: multiply by exp(high - most) / (keys_part + sink_part)
            inverse = high == -math::infinity<A> ? A(0) : sycl::exp(high - most) / (keys_part + sink_part);
            row.escaped = keys_part == A(0) ? A(1) : sink_part / (keys_part + sink_part);
        }
        if constexpr (Task::needs_favourite) find_favourite(it, row);
        it.row_value(2, it.id) = inverse;
        it.row_value(3, it.id) = row.lse;
        it.facts(facts, query) = row;
        if (turn != 0) return; // said already
        x.statistics.each([&](auto, auto const& s) BASIN_INLINED {
            if constexpr (only_rows<std::remove_cvref_t<decltype(s)>>)
                store_row(s, it.t.entry, it.head, query, s.identity(), row);
        });
    }
    void find_favourite(item_type const& it, row_facts<A>& row) const {
        A best = -math::infinity<A>;
        for (index_t k = 0; k < tuning::key_items; ++k) {
            A const y = it.exchange(it.id, k);
            index_t const place = local.indices[item_type::exchange_at(it.id, k)];
            if (place < 0 || (row.favourite >= 0 && !(y > best) && !(y == best && place < row.favourite))) continue;
            best = y;
            row.favourite = place;
        }
        if (row.favourite >= 0) row.favourite_p = sycl::exp(best - row.lse);
    }
};

} // namespace basin::detail::device
