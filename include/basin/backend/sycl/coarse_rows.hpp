// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include <basin/backend/sycl/coarse_plan.hpp>
#include <basin/backend/sycl/exp.hpp>

namespace basin::detail::device {

/// Numbers next to each other, computed on at once: a vector of the compiler (GCC's and Clang's, which processors with
/// narrower ones take in pieces), because what compilers make of such loops by themselves is often cut in odd places.
template <class A>
struct pack {
    static constexpr index_t size = 64 / sizeof(A);
    typedef A type __attribute__((vector_size(64)));

    // By reference: how functions are given such vectors depends on the processor that is compiled for.
    static void load(type& x, A const* from) { __builtin_memcpy(&x, from, sizeof x); }
    static void store(type const& x, A* to) { __builtin_memcpy(to, &x, sizeof x); }
};

/// c += a b for strip_rows rows and one strip of columns, all of c in registers: the loop that CPUs spend their time in. Transposed:
/// c += a^T b.
template <bool Transposed = false, class A>
inline void add_product(A const* a, std::ptrdiff_t a_row, A const* b, std::ptrdiff_t b_row, A* c, std::ptrdiff_t c_row,
                        index_t depth) {
    using lanes = pack<A>;
    constexpr index_t rows = coarse_tuning::strip_rows, packs = coarse_tuning::strip / lanes::size;
    typename lanes::type sum[rows][packs], factor[packs];
    for (index_t r = 0; r < rows; ++r)
        for (index_t l = 0; l < packs; ++l) lanes::load(sum[r][l], c + r * c_row + l * lanes::size);
    for (index_t k = 0; k < depth; ++k) {
        for (index_t l = 0; l < packs; ++l) lanes::load(factor[l], b + k * b_row + l * lanes::size);
        for (index_t r = 0; r < rows; ++r) {
            A const y = Transposed ? a[k * a_row + r] : a[r * a_row + k];
            for (index_t l = 0; l < packs; ++l) sum[r][l] += y * factor[l];
        }
    }
    for (index_t r = 0; r < rows; ++r)
        for (index_t l = 0; l < packs; ++l) lanes::store(sum[r][l], c + r * c_row + l * lanes::size);
}

/// One row of scores, all keys wide: its softmax, and everything that statistics want of it.
template <class Task>
struct coarse_row {
    using A = typename Task::accumulation;
    using tuning = coarse_tuning;
    static constexpr index_t lanes = tuning::lanes;

    Task const& x;
    coarse_plan const& plan;
    text t;
    index_t head, query;
    A const* seen; // per block of keys: 0 where nothing is seen
    A const* scores;
    A* shares;
    row_facts<A> row{};
    A inverse = 1; // what shares must be multiplied by to be probabilities

    template <class F>
    void each_block(F const& f) const {
        for (index_t b = first_block(t); b < end_block(t); ++b)
            if (seen[b] != A(0)) f(std::ptrdiff_t{b} * tuning::keys);
    }

    /// From scores to shares = exp(score - reference), and the facts of the row.
    void softmax(A sink) {
        A high = sink;
        bool spoilt = sink != sink;
        A most[lanes];
        std::int32_t bad[lanes];
        for (index_t l = 0; l < lanes; ++l) most[l] = -math::infinity<A>, bad[l] = 0;
        each_block([&](std::ptrdiff_t begin) {
            for (index_t j = 0; j < tuning::keys; j += lanes)
                for (index_t l = 0; l < lanes; ++l) {
                    A const y = scores[begin + j + l];
                    most[l] = y > most[l] ? y : most[l];
                    bad[l] |= y != y ? 1 : 0;
                }
        });
        for (index_t l = 0; l < lanes; ++l) {
            high = most[l] > high ? most[l] : high;
            spoilt = spoilt || bad[l] != 0;
        }
        A reference = high > -math::infinity<A> ? high : A(0);
        if constexpr (Task::observing) reference = x.known_lse(t.entry, head, 0, query);
        A sums[lanes];
        for (index_t l = 0; l < lanes; ++l) sums[l] = 0;
        each_block([&](std::ptrdiff_t begin) {
            A part[tuning::keys]; // shares may be where scores are, which would forbid vectors
            for (index_t j = 0; j < tuning::keys; ++j) {
                A const y = scores[begin + j];
                part[j] = y == -math::infinity<A> ? A(0) : exp_in_loop(y - reference);
            }
            for (index_t j = 0; j < tuning::keys; j += lanes)
                for (index_t l = 0; l < lanes; ++l) sums[l] += part[j + l];
            for (index_t j = 0; j < tuning::keys; ++j) shares[begin + j] = part[j];
        });
        if constexpr (Task::observing) {
            row.lse = reference;
            row.escaped = sink == -math::infinity<A> ? A(0) : sink == row.lse ? A(1) : math::exp(sink - row.lse);
        } else if (!spoilt && sink == math::infinity<A>) { // an infinite sink takes all
            row.lse = sink;
            row.escaped = 1;
            inverse = 0;
        } else if (spoilt || high == math::infinity<A>) {
            row.lse = row.escaped = inverse = __builtin_nanf("");
            if (sink == -math::infinity<A>) row.escaped = 0;
        } else if (high > -math::infinity<A>) {
            A const share = sink == -math::infinity<A> ? A(0) : exp_in_loop(sink - high);
            A sum = share;
            for (index_t l = 0; l < lanes; ++l) sum += sums[l];
            row.lse = high + math::log(sum);
            inverse = A(1) / sum;
            row.escaped = share == sum ? A(1) : share * inverse;
        }
        if constexpr (Task::needs_favourite) find_favourite(high);
    }

    /// Statistics of pairs; shares become what values are multiplied by.
    template <class Sums>
    void pairs(A const* norms, Sums const& sums_of) {
        x.statistics.each([&](auto number, auto const& s) { one_statistic(s, norms, sums_of(number, s)); });
        if constexpr (Task::weighs && !Task::observing) {
            each_block([&](std::ptrdiff_t begin) {
                for (std::ptrdiff_t j = begin; j < begin + tuning::keys; ++j)
                    shares[j] = scores[j] == -math::infinity<A>
                                    ? A(0)
                                    : facet::weight(x.policy, shares[j] * inverse, site_at(j));
            });
        } else if constexpr (!Task::observing) {
            // Probabilities before they meet values, not outputs after: what underflows to 0 takes nothing of an infinite
            // value, and sums of large values do not overflow on the way. A lost row is written as NaN without them.
            A const factor = inverse;
            if (factor == factor) {
                each_block([&](std::ptrdiff_t begin) {
                    for (index_t j = 0; j < tuning::keys; ++j) shares[begin + j] *= factor;
                });
            }
        }
    }

private:
    site site_at(std::ptrdiff_t place) const {
        return {t.number, head, x.where.query_at(t, query), x.where.key_at(t, static_cast<index_t>(place))};
    }
    void find_favourite(A) {
        A best = -math::infinity<A>;
        each_block([&](std::ptrdiff_t begin) {
            for (std::ptrdiff_t j = begin; j < begin + tuning::keys; ++j) {
                if (!(scores[j] > best)) continue;
                best = scores[j];
                row.favourite = static_cast<index_t>(j);
            }
        });
        if (row.favourite >= 0) row.favourite_p = shares[row.favourite] * inverse;
    }

    template <class S>
    void one_statistic(S const& s, A const* norms, typename S::value_type* sums) {
        using value = typename S::value_type;
        value reduced = s.identity();
        if constexpr (!only_rows<S>) {
            [[maybe_unused]] value side[lanes];
            if constexpr (S::reduced_to == axis::by_query)
                for (index_t l = 0; l < lanes; ++l) side[l] = s.identity();
            each_block([&](std::ptrdiff_t begin) {
                value mapped[tuning::keys]; // what is read and what is written might be the same: vectors need to know
                if (x.where.key_position.listed())
                    map_block<true>(s, norms, begin, mapped);
                else
                    map_block<false>(s, norms, begin, mapped);
                if constexpr (S::reduced_to == axis::by_query) {
                    for (index_t j = 0; j < tuning::keys; j += lanes)
                        for (index_t l = 0; l < lanes; ++l) side[l] = s.combine(side[l], mapped[j + l]);
                } else { // other keys of the block belong to other texts, which other workers may be at
                    std::ptrdiff_t const from = math::max(begin, std::ptrdiff_t{t.key_begin}) - begin;
                    std::ptrdiff_t const to = math::min(begin + tuning::keys, std::ptrdiff_t{t.key_end}) - begin;
                    for (std::ptrdiff_t j = from; j < to; ++j) mapped[j] = s.combine(sums[begin + j], mapped[j]);
                    for (std::ptrdiff_t j = from; j < to; ++j) sums[begin + j] = mapped[j];
                }
            });
            if constexpr (S::reduced_to == axis::by_query)
                for (index_t l = 0; l < lanes; ++l) reduced = s.combine(reduced, side[l]);
        }
        if constexpr (S::reduced_to == axis::by_query) store_row(s, t.entry, head, query, reduced, row);
    }
    /// What a statistic sees in a block of keys; the identity where they are hidden.
    template <bool Listed, class S>
    void map_block(S const& s, A const* norms, std::ptrdiff_t begin,
                   typename S::value_type (&mapped)[tuning::keys]) const {
        row_facts<A> const facts = row;
        A const factor = inverse;
        index_t const first = Listed ? 0 : x.where.key_at(t, 0), query_position = x.where.query_at(t, query);
        for (index_t j = 0; j < tuning::keys; ++j) {
            std::ptrdiff_t const slot = begin + j;
            bool const hidden = scores[slot] == -math::infinity<A>;
            // A statistic may look its key up: what is asked about hidden keys, and thrown away, is about one of the text.
            index_t const place = math::min(math::max(static_cast<index_t>(slot), t.key_begin), t.key_end - 1);
            index_t const key = Listed ? x.where.key_at(t, place) : first + place;
            cell<A, index_t, A> const c{shares[slot] * factor, scores[slot], needs_key_weight<S> ? norms[slot] : A(0),
                                        place, facts};
            typename S::value_type const seen_there = s.map(c, site{t.number, head, query_position, key});
            mapped[j] = hidden ? s.identity() : seen_there;
        }
    }
};

} // namespace basin::detail::device
