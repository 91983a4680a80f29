// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include <basin/backend/sycl/device_task.hpp>
#include <basin/backend/sycl/packed.hpp>
#include <basin/backend/sycl/tuning.hpp>

#include <sycl/sycl.hpp>

// What the three tile kernels share: a work-group computes one tile of scores, tuning::rows queries by tuning::keys keys,
// every work-item item_rows x item_keys of them in registers.
namespace basin::detail::device {

/// The local memory of a work-group.
template <class A, index_t Channels>
struct tile_memory {
    using tuning = tile_tuning<A, Channels>;
    static constexpr index_t slices = tuning::slice * math::max(2 * tuning::pitch, Channels); // of Q and K, later of V
    static constexpr index_t shares = tuning::keys * tuning::pitch; // probabilities, key by key
    static constexpr index_t exchange = tuning::rows * (tuning::key_items + 1);
    static constexpr index_t row_values = 4 * tuning::rows;
    static constexpr index_t numbers = slices + shares + exchange + row_values;
    static constexpr std::size_t bytes = numbers * sizeof(A) + (exchange + 2) * sizeof(index_t);
    // What the kernels take for granted of a table.
    static_assert(tuning::keys == tuning::rows && tuning::rows <= tuning::items && tuning::rows <= tuning::pitch);
    static_assert(tuning::row_items <= tuning::key_items);
    static_assert(bytes <= local_bytes, "basin: tiles of this table need more local memory than GPUs have");

    sycl::local_accessor<A, 1> all;
    sycl::local_accessor<index_t, 1>
        indices; // exchange of places; then whether a slice is not finite, and how often rows were swept

    explicit tile_memory(sycl::handler& h)
        : all{sycl::range<1>{numbers}, h}, indices{sycl::range<1>{exchange + 2}, h} {}
};

template <class Task, index_t Channels>
struct tile_item {
    using A = typename Task::accumulation;
    using tuning = tile_tuning<A, Channels>;
    using memory = tile_memory<A, Channels>;
    static constexpr index_t rows = tuning::item_rows, keys = tuning::item_keys;

    Task const& x;
    memory const& local;
    sycl::nd_item<1> const& item;
    text t;
    index_t head;
    index_t id = static_cast<index_t>(item.get_local_linear_id());
    index_t row_item = id / tuning::key_items, key_item = id % tuning::key_items;
    // Read before all loops around barriers: what is loaded inside a turn of one and asked for behind its barriers,
    // AdaptiveCpp 24.06 forgets on CPUs.
    index_t channels = x.q.extent(3), value_channels = x.v.extent(3);

    void barrier() const { sycl::group_barrier(item.get_group()); }
    A& slice(index_t i) const { return local.all[static_cast<std::size_t>(i)]; }
    A& share(index_t key, index_t row) const {
        return local.all[static_cast<std::size_t>(memory::slices + key * tuning::pitch + row)];
    }
    static constexpr std::size_t exchange_at(index_t row, index_t other) {
        return static_cast<std::size_t>(row * (tuning::key_items + 1) + other);
    }
    A& exchange(index_t row, index_t other) const {
        return local.all[static_cast<std::size_t>(memory::slices + memory::shares) + exchange_at(row, other)];
    }
    A& row_value(index_t which, index_t row) const {
        return local.all[static_cast<std::size_t>(memory::slices + memory::shares + memory::exchange +
                                                  which * tuning::rows + row)];
    }
    row_facts<A>& facts(row_facts<A>* all, index_t query) const {
        return all[(std::ptrdiff_t{t.entry} * x.query_heads() + head) * x.q.extent(2) + query];
    }

    /// The place of this item's i-th query and j-th key.
    index_t query(index_t tile_begin, index_t i) const { return tile_begin + row_item * rows + i; }
    index_t key(index_t tile_begin, index_t j) const { return tile_begin + column(j); }
    /// This item's j-th key or channel of a tile. Items next to each other have neighbours, which lie in other banks.
    index_t column(index_t j) const { return j * tuning::key_items + key_item; }
    site site_at(index_t query_place, index_t key_place) const {
        return {t.number, head, x.where.query_at(t, query_place), x.where.key_at(t, key_place)};
    }
    /// Whether anything is seen in the tile of queries [query_begin, ...) and keys [key_begin, ...): the same for all items.
    coverage covered(index_t query_begin, index_t key_begin) const {
        return cover(x, t, head, query_begin, math::min(query_begin + tuning::rows, t.query_end), key_begin,
                     math::min(key_begin + tuning::keys, t.key_end));
    }

    /// The first tile of keys from `begin` on in which queries [query_begin, ...) see anything, and how much of it; from
    /// t.key_end on where there is none. A loop around barriers asks this instead of skipping tiles: of `continue` there
    /// AdaptiveCpp 24.06 makes a loop without an end.
    index_t next_keys(index_t query_begin, index_t begin, coverage& seen) const {
        for (; begin < t.key_end; begin += tuning::keys)
            if ((seen = covered(query_begin, begin)) != coverage::none) break;
        return begin;
    }

    /// This item's scores, after the policy; -inf where hidden or outside.
    [[gnu::always_inline]] void scores(index_t query_begin, index_t key_begin, coverage seen,
                                       A (&s)[rows][keys]) const {
        index_t const kv = x.key_value_head(head);
        each<rows>([&](index_t i) BASIN_INLINED { each<keys>([&](index_t j) BASIN_INLINED { s[i][j] = 0; }); });
        constexpr index_t k_slice = tuning::slice * tuning::pitch;
        for (index_t first = 0; first < channels; first += tuning::slice) {
            barrier(); // the slices of before have been read
            for (index_t e = id; e < tuning::rows * tuning::slice; e += tuning::items) {
                index_t const c = e % tuning::slice, r = e / tuning::slice;
                bool const in = first + c < channels;
                bool const has_query = in && query_begin + r < t.query_end, has_key = in && key_begin + r < t.key_end;
                slice(c * tuning::pitch + r) =
                    has_query ? static_cast<A>(x.q(t.entry, head, query_begin + r, first + c)) : A(0);
                slice(k_slice + c * tuning::pitch + r) =
                    has_key ? static_cast<A>(x.k(t.entry, kv, key_begin + r, first + c)) : A(0);
            }
            barrier();
#pragma GCC unroll 4
            for (index_t c = 0; c < tuning::slice; ++c) {
                A q[rows], k[keys];
                each<rows>([&](index_t i) BASIN_INLINED { q[i] = slice(c * tuning::pitch + row_item * rows + i); });
                each<keys>([&](index_t j) BASIN_INLINED { k[j] = slice(k_slice + c * tuning::pitch + column(j)); });
                each<rows>([&](index_t i)
                               BASIN_INLINED { each<keys>([&](index_t j) BASIN_INLINED { s[i][j] += q[i] * k[j]; }); });
            }
        }
        each<rows>([&](index_t i) BASIN_INLINED {
            each<keys>([&](index_t j) BASIN_INLINED {
                s[i][j] = after_policy(s[i][j], query(query_begin, i), key(key_begin, j), seen);
            });
        });
    }
    /// What the policy makes of a product; -inf where it hides the pair.
    A after_policy(A product, index_t at_query, index_t at_key, coverage seen) const {
        if (at_query >= t.query_end || at_key >= t.key_end) return -math::infinity<A>;
        site const at = site_at(at_query, at_key);
        if (seen != coverage::all && !facet::visible(x.policy, at)) return -math::infinity<A>;
        return facet::score(x.policy, product * x.scale, at);
    }

    static constexpr index_t item_channels = tuning::item_channels;

    /// o += shares x values for the keys of one tile; the shares lie in local memory. `turn`: the first channel.
    [[gnu::always_inline]] void add_values(index_t key_begin, index_t turn, index_t tile_number,
                                           A (&o)[rows][item_channels]) const {
        index_t const vh = x.key_value_head(head);
        index_t& spoilt = local.indices[memory::exchange];
        for (index_t first = 0; first < tuning::keys && key_begin + first < t.key_end; first += tuning::slice) {
            barrier(); // the slices of before have been read, and the shares are written
            for (index_t e = id; e < tuning::slice * Channels; e += tuning::items) {
                index_t const c = e % Channels, place = key_begin + first + e / Channels;
                A y = 0;
                if (place < t.key_end && turn + c < value_channels) {
                    y = static_cast<A>(x.v(t.entry, vh, place, turn + c));
                    y = facet::value(x.policy, y, value_site{t.number, head, x.where.key_at(t, place), turn + c});
                }
                if (y - y != A(0))
                    sycl::atomic_ref<index_t, sycl::memory_order::relaxed, sycl::memory_scope::work_group>(spoilt)
                        .store(tile_number);
                slice(e) = y;
            }
            barrier();
            // An infinite value in a key with share 0 must stay unread.
            if (spoilt == tile_number)
                guarded(first, o);
            else
                plain(first, o);
        }
    }

private:
    [[gnu::always_inline]] void plain(index_t first, A (&o)[rows][item_channels]) const {
#pragma GCC unroll 4
        for (index_t k = 0; k < tuning::slice; ++k) {
            A p[rows], v[item_channels];
            each<rows>([&](index_t i) BASIN_INLINED { p[i] = share(first + k, row_item * rows + i); });
            each<item_channels>([&](index_t j) BASIN_INLINED { v[j] = slice(k * Channels + column(j)); });
            each<rows>([&](index_t i) BASIN_INLINED {
                each<item_channels>([&](index_t j) BASIN_INLINED { o[i][j] += p[i] * v[j]; });
            });
        }
    }
    [[gnu::always_inline]] void guarded(index_t first, A (&o)[rows][item_channels]) const {
        for (index_t k = 0; k < tuning::slice; ++k)
            each<rows>([&](index_t i) BASIN_INLINED {
                A const p = share(first + k, row_item * rows + i);
                each<item_channels>([&](index_t j) BASIN_INLINED {
                    o[i][j] = p == A(0) ? o[i][j] : o[i][j] + p * slice(k * Channels + column(j));
                });
            });
    }
};

/// The Euclidean norm of a key's value, as a query head reads it.
template <class Task>
typename Task::accumulation value_norm(Task const& x, text const& t, index_t head, index_t place) {
    using A = typename Task::accumulation;
    A sum = 0;
    if constexpr (!Task::observing) {
        for (index_t c = 0; c < x.v.extent(3); ++c) {
            A const y = facet::value(x.policy, static_cast<A>(x.v(t.entry, x.key_value_head(head), place, c)),
                                     value_site{t.number, head, x.where.key_at(t, place), c});
            sum += y * y;
        }
    }
    return sycl::sqrt(sum);
}

/// The sinks of one row as a log-sum-exp; their values are wanted for a few channels at the end alone.
template <class Task>
typename Task::accumulation sinks_of(Task const& x, text const& t, index_t head, index_t query) {
    using A = typename Task::accumulation;
    if constexpr (detail::has_sinks<typename Task::policy_type>) {
        auto const q = [&](index_t c) { return static_cast<A>(x.q(t.entry, head, query, c)); };
        detail::sink_column<A, decltype(q)> sinks(q, x.q.extent(3), x.scale, static_cast<A*>(nullptr), 0);
        facet::visit_sinks(x.policy, x.heads_of(t, head), sinks);
        return sinks.lse();
    } else {
        return -math::infinity<A>;
    }
}

/// Visits the sinks of a row and keeps the mean of their values for one item's channels.
template <class Item, class Query>
struct sink_values {
    using A = typename Item::A;
    Item const& it;
    Query const& query;
    index_t turn;
    A lse;
    A mean[Item::item_channels] = {};
    bool taken = false; // an infinite sink has taken all; later ones get nothing

    void logit(double y) { taken = taken || static_cast<A>(y) == math::infinity<A>; }
    template <class T>
    void key_value(T const* key, std::ptrdiff_t key_stride, T const* value, std::ptrdiff_t value_stride) {
        A dot = 0;
        for (index_t c = 0; c < it.x.q.extent(3); ++c) dot += query(c) * static_cast<A>(key[c * key_stride]);
        A const y = dot * it.x.scale;
        A share = y == -math::infinity<A> ? A(0) : math::exp(y - lse);
        if (lse == math::infinity<A>) share = y == lse && !taken ? A(1) : A(0);
        taken = taken || y == math::infinity<A>;
        if (value == nullptr || share == A(0)) return;
        each<Item::item_channels>([&](index_t j) BASIN_INLINED {
            if (turn + it.column(j) < it.x.v.extent(3))
                mean[j] += share * static_cast<A>(value[(turn + it.column(j)) * value_stride]);
        });
    }
};

/// Writes this item's part of the output: o / sum, and what the sinks add.
template <class Item, class A>
[[gnu::always_inline]] inline void write_output(Item const& it, index_t query_begin, index_t turn,
                                                row_facts<A> const* facts_of_rows, A const (&inverse)[Item::rows],
                                                A const (&o)[Item::rows][Item::item_channels]) {
    using Task = std::remove_cvref_t<decltype(it.x)>;
    each<Item::rows>([&](index_t i) BASIN_INLINED {
        index_t const place = it.query(query_begin, i);
        if (place >= it.t.query_end) return;
        row_facts<A> const row = it.facts(const_cast<row_facts<A>*>(facts_of_rows), place);
        auto const q = [&](index_t c) { return static_cast<A>(it.x.q(it.t.entry, it.head, place, c)); };
        sink_values<Item, decltype(q)> sinks{it, q, turn, sinks_of(it.x, it.t, it.head, place)};
        if (row.escaped != A(0)) facet::visit_sinks(it.x.policy, it.x.heads_of(it.t, it.head), sinks);
        each<Item::item_channels>([&](index_t j) BASIN_INLINED {
            index_t const c = turn + it.column(j);
            if (c >= it.x.v.extent(3)) return;
            A y = inverse[i] == A(0) ? A(0) : o[i][j] * inverse[i]; // nothing of an infinite value is nothing
            if (row.escaped != A(0)) y += row.escaped * sinks.mean[j];
            it.x.out(it.t.entry, it.head, place, c) =
                static_cast<typename Task::scalar_type>(row.lse == row.lse ? y : row.lse);
        });
    });
}

} // namespace basin::detail::device
