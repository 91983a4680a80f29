// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

// Statistics by key of the fast path. They are reductions of a column of probabilities, which are known only when a row is
// finished, so the exponentials of a query block are kept and swept later: by the next query block, panel by panel, just
// before it overwrites them.

#include <basin/statistic/entropy.hpp>
#include <basin/statistic/peak.hpp>
#include <basin/statistic/received.hpp>
#include <basin/statistic/received_value.hpp>
#include <basin/statistic/seen.hpp>

#include "column.hpp"
#include "query_block.hpp"
#include "unit.hpp"

namespace basin::detail::simd {

enum class column_kind : unsigned char { sum, peak, seen };

/// How the fast path computes a statistic; `none`: it does not, the strip path must (strip.hpp).
enum class fused_as : unsigned char { none, row, moment, sum, peak, seen };

template <class S>
inline constexpr fused_as fused_form = only_rows<S> && !needs_favourite<S> ? fused_as::row : fused_as::none;
template <class T>
inline constexpr fused_as fused_form<entropy<T>> = fused_as::moment;
template <class T>
inline constexpr fused_as fused_form<received<T>> = fused_as::sum;
template <class T>
inline constexpr fused_as fused_form<received_value<T>> =
    fused_as::sum; // times the norm, which does not depend on the query
template <class T>
inline constexpr fused_as fused_form<peak<T>> = fused_as::peak;
template <class T>
inline constexpr fused_as fused_form<seen<T>> = fused_as::seen;

template <class S>
inline constexpr bool is_column =
    fused_form<S> == fused_as::sum || fused_form<S> == fused_as::peak || fused_form<S> == fused_as::seen;

/// One accumulator per key: of one statistic and one group of queries. Statistics with the same accumulator share it:
/// number 0 is the plain sum over all queries whenever anyone needs it.
template <class T>
struct column {
    column_kind kind;
    query_groups const* groups; // null: all queries
    index_t group;
    T* now;        // [slot] sums of the block being swept; peaks and counts of the chunk
    double* total; // [slot] sums of the chunk
};

template <class Task>
struct column_count {
    /// How many accumulators the statistics of a task need.
    static index_t of(Task const& task) {
        index_t n = 0;
        bool plain = false;
        task.for_each_statistic([&](auto const& s) {
            using S = std::remove_cvref_t<decltype(s)>;
            if constexpr (is_column<S>) {
                if (fused_form<S> == fused_as::sum && !s.groups.given) {
                    n += plain ? 0 : 1;
                    plain = true;
                } else {
                    n += s.groups.count;
                }
            }
        });
        return n;
    }
};

/// The accumulators of one chunk of queries.
template <class Task, class Arch>
class column_set {
    using T = typename Task::accumulation;
    using table = tiles<T, Arch>;
    using v = vec<T, Arch>;

public:
    void carve(arena<Arch>& a, Task const& task, index_t most_keys) {
        count_ = column_count<Task>::of(task);
        std::ptrdiff_t const padded = round_up(most_keys, table::block_keys);
        columns_ = a.template take<column<T>>(count_);
        now_ = a.template take<T>(count_ * padded);
        totals_ = a.template take<double>(count_ * padded);
        members_ = a.template take<int>(std::ptrdiff_t{count_} * table::block_rows);
        member_count_ = a.template take<int>(count_);
        stride_ = padded;
    }
    /// Adds another chunk's results, in the order in which the caller asks.
    void add(Task const&, column_set const& other, index_t slots) {
        for (index_t i = 0; i < count_; ++i) {
            for (index_t s = 0; s < slots; ++s) {
                columns_[i].total[s] += other.columns_[i].total[s];
                T& mine = columns_[i].now[s];
                T const theirs = other.columns_[i].now[s];
                if (columns_[i].kind == column_kind::peak)
                    mine = mine < theirs ? theirs : mine;
                else
                    mine += theirs;
            }
        }
    }

    void start(Task const& task, index_t slots) {
        index_t n = 0;
        index_t plain = -1;
        auto const add = [&](column_kind kind, query_groups const* groups, index_t group) {
            columns_[n] = {kind, groups, group, now_ + n * stride_, totals_ + n * stride_};
            for (std::ptrdiff_t s = 0; s < round_up(slots, table::block_keys); ++s) {
                columns_[n].now[s] = T(0);
                columns_[n].total[s] = 0;
            }
            return n++;
        };
        // The plain sum comes first: it is the one that the fused tile sweeps by itself.
        task.for_each_statistic([&](auto const& s) {
            using S = std::remove_cvref_t<decltype(s)>;
            if constexpr (fused_form<S> == fused_as::sum) {
                if (!s.groups.given && plain < 0) plain = add(column_kind::sum, nullptr, 0);
            }
        });
        task.for_each_statistic([&](auto const& s) {
            using S = std::remove_cvref_t<decltype(s)>;
            if constexpr (is_column<S>) {
                constexpr fused_as form = fused_form<S>;
                if (form == fused_as::sum && !s.groups.given) return;
                column_kind const kind = form == fused_as::sum    ? column_kind::sum
                                         : form == fused_as::peak ? column_kind::peak
                                                                  : column_kind::seen;
                for (index_t g = 0; g < s.groups.count; ++g) add(kind, s.groups.given ? &s.groups : nullptr, g);
            }
        });
        plain_ = plain == 0;
        others_ = false;
        counts_ = false;
        for (index_t i = 0; i < count_; ++i) {
            counts_ = counts_ || columns_[i].kind == column_kind::seen;
            others_ = others_ || (columns_[i].kind != column_kind::seen && !(plain_ && i == 0));
        }
    }

    /// Whether exponentials have to be kept at all.
    bool sweeps() const { return plain_ || others_; }
    bool counts() const { return counts_; }
    bool plain() const { return plain_; }
    bool others() const { return others_; }
    T* plain_sums(int panel) const { return columns_[0].now + std::ptrdiff_t{panel} * table::panel; }

    /// Whose exponentials are swept from now on: `rows` queries of a text, the first of them at `first_row` of memory.
    void next_block(index_t entry, index_t first_row, int rows) {
        if (entry == listed_.entry && first_row == listed_.first_row && rows == listed_.rows)
            return; // as for the last head
        listed_ = {entry, first_row, rows};
        for (index_t i = 0; i < count_; ++i) {
            column<T> const& c = columns_[i];
            if (c.groups == nullptr || c.kind == column_kind::seen) continue;
            auto const& ids = c.groups->ids; // what is the same for all rows once: the list might alias it
            index_t const* const of_row = &ids(ids.extent(0) == 1 ? 0 : entry, first_row);
            std::ptrdiff_t const stride = ids.stride(1);
            index_t const group = c.group;
            int* const list = members_ + std::ptrdiff_t{i} * table::block_rows;
            int listed = 0; // without a branch: who is in a group looks like chance
            for (int r = 0; r < rows; ++r) {
                list[listed] = r;
                listed += of_row[r * stride] == group ? 1 : 0;
            }
            member_count_[i] = listed;
        }
    }

    /// Sweeps rows [begin, end) of that block, whose exponentials of `panel` lie at `rows_at`; `weights` are its rows' weights for
    /// this panel. `all`: the plain sum, too.
    void sweep(int panel, T const* rows_at, T const* weights, int begin, int end, int vectors, bool all) {
        for (index_t i = all || !plain_ ? 0 : 1; i < count_; ++i) {
            column<T> const& c = columns_[i];
            if (c.kind == column_kind::seen) continue;
            int const* which = nullptr;
            int rows = end - begin;
            T const *from = rows_at + std::ptrdiff_t{begin} * table::panel, *weight = weights + begin;
            if (c.groups != nullptr) { // those of its members that lie between begin and end
                which = members_ + std::ptrdiff_t{i} * table::block_rows;
                rows = member_count_[i];
                while (rows > 0 && which[rows - 1] >= end) --rows;
                for (; rows > 0 && *which < begin; ++which) --rows;
                from = rows_at;
                weight = weights;
            }
            T* const to = c.now + std::ptrdiff_t{panel} * table::panel;
            if (c.kind == column_kind::sum)
                sweep_sums<Arch, T>(from, weight, which, rows, vectors, to);
            else
                sweep_peaks<Arch, T>(from, weight, which, rows, vectors, to);
        }
    }

    /// After a block has been swept: block sums in float are exact enough, one float run over all rows is not.
    void flush(index_t slots) {
        for (index_t i = 0; i < count_; ++i) {
            if (columns_[i].kind == column_kind::sum) flush_sums<Arch, T>(columns_[i].now, slots, columns_[i].total);
        }
    }

    /// A row that is NaN: so is every key it sees. Rare, so that the policy is asked again, key by key.
    template <class Sees>
    void spoil(int panel, int keys, index_t entry, index_t query, Sees const& sees) {
        for (index_t i = 0; i < count_; ++i) {
            column<T> const& c = columns_[i];
            if (c.kind != column_kind::sum) continue;
            if (c.groups != nullptr && c.groups->of(entry, query) != c.group) continue;
            for (std::ptrdiff_t slot = std::ptrdiff_t{panel} * table::panel, end = slot + keys; slot < end; ++slot) {
                if (sees(slot)) c.total[slot] = std::numeric_limits<double>::quiet_NaN();
            }
        }
    }

    /// Counts the queries that see each key: rows [begin, end) see the whole panel ...
    void count_all(int panel, int keys, int begin, int end, index_t entry, index_t first_row) {
        for (index_t i = 0; i < count_; ++i) {
            column<T> const& c = columns_[i];
            if (c.kind != column_kind::seen) continue;
            int rows = end - begin;
            if (c.groups != nullptr) {
                rows = 0;
                for (int r = begin; r < end; ++r) rows += c.groups->of(entry, first_row + r) == c.group ? 1 : 0;
            }
            T* const to = c.now + std::ptrdiff_t{panel} * table::panel;
            for (int k = 0; k < keys; ++k) to[k] += static_cast<T>(rows);
        }
    }
    /// ... or those of final `scores` that are not -inf, [row][tiles::panel].
    void count_scores(int panel, int vectors, int begin, int end, T const* scores, index_t entry, index_t first_row) {
        for (index_t i = 0; i < count_; ++i) {
            column<T> const& c = columns_[i];
            if (c.kind != column_kind::seen) continue;
            T* const to = c.now + std::ptrdiff_t{panel} * table::panel;
            for (int r = begin; r < end; ++r) {
                if (c.groups != nullptr && c.groups->of(entry, first_row + r) != c.group) continue;
                T const* const row = scores + std::ptrdiff_t{r - begin} * table::panel;
                for (int j = 0; j < vectors * table::lanes; j += table::lanes) {
                    auto const hidden = v::load_aligned(row + j) == v(-std::numeric_limits<T>::infinity());
                    (v::load_aligned(to + j) + xsimd::select(hidden, v(T(0)), v(T(1)))).store_aligned(to + j);
                }
            }
        }
    }

    /// The results of a head into the statistics' arrays.
    void store(Task const& task, unit<Task, Arch> const& u) const {
        if (u.slots == 0) return;
        index_t next = plain_ ? 1 : 0;
        task.for_each_statistic([&](auto const& s) {
            using S = std::remove_cvref_t<decltype(s)>;
            if constexpr (is_column<S>) {
                bool const shared = fused_form<S> == fused_as::sum && !s.groups.given;
                for (index_t g = 0; g < s.groups.count; ++g) {
                    column<T> const& c = columns_[shared ? 0 : next++];
                    auto* const first = &s.output(u.t.entry, u.head, g, u.t.key_begin);
                    std::ptrdiff_t const stride = s.output.stride(3);
                    for (index_t slot = 0; slot < u.slots; ++slot) {
                        T x = c.kind == column_kind::sum ? static_cast<T>(c.total[slot]) : c.now[slot];
                        if constexpr (needs_key_weight<S>) x = x == T(0) ? x : x * u.norms[slot];
                        auto& to = first[u.place(slot) * stride];
                        to = s.combine(to, x);
                    }
                }
            }
        });
    }

private:
    column<T>* columns_ = nullptr;
    T* now_ = nullptr;
    double* totals_ = nullptr;
    int* members_ = nullptr;      // [column][row of the block]: the queries of a column's group, in order
    int* member_count_ = nullptr; // [column]
    struct {
        index_t entry = -1, first_row = 0;
        int rows = 0;
    } listed_{}; // the block that members_ is about
    std::ptrdiff_t stride_ = 0;
    index_t count_ = 0;
    bool plain_ = false, others_ = false, counts_ = false;
};

} // namespace basin::detail::simd
