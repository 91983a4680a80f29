// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include <basin/core/lift.hpp>
#include <basin/core/policy.hpp>

// What a statistic is: a reduction over the probabilities of a head, made while attention runs, in O(queries + keys) memory.
//   static constexpr axis reduced_to          by_key or by_query
//   identity()                                what an empty reduction gives
//   X map(cell<X, Lane>, site) const          one pair's share
//   X combine(X, X) const                     associative and commutative
//   finish(x, row_facts) const                by_query only: the number to store, from the reduction and the row
// Derive from key_statistic or query_statistic, which hold the output array. Members that are templates may say
// `using lanes = supported;` and are then called with many keys at once.
namespace basin {

/// Whether a statistic has a number for each key (by_key) or for each query (by_query).
enum class axis : std::uint8_t { by_key, by_query };

/// What is known of a query once all its keys have been seen.
template <class A>
struct row_facts {
    A lse = -math::infinity<A>; ///< natural logarithm of the sum of exponentials, sinks included
    A escaped = 0;              ///< share of the mass that went to sinks in the denominator
    index_t favourite = -1;     ///< place (along the key axis) of the likeliest key, the first of equals; -1: none
    A favourite_p = 0;          ///< its probability
};

/// A pair that was seen. `p` is the final probability, after sinks; `key_weight` the Euclidean norm of the key's value;
/// `place` the key's index along the key axis (its position is in the site).
template <class X, class Lane = index_t, class A = X>
struct cell {
    /// The probability, the score after the policy, and the norm of the key's value (only where a statistic asked for it).
    X p, score, key_weight;
    /// The key's index along the key axis.
    Lane place;
    /// What is known of its query.
    row_facts<A> const& row;
};

/// Queries may be sorted into groups (masked and decoded tokens keep separate sinks): ids (batch, query) in [0, count).
struct query_groups {
    /// The group of each query, (batch or 1, query).
    view<index_t const, 2> ids{};
    /// How many groups.
    index_t count = 1;
    bool given = false;

    query_groups() = default;
    template <class Array>
    query_groups(Array&& array, index_t n) : count(n), given(true) {
        static_assert(detail::outlives_call<Array>, "basin: group ids are borrowed: keep them in a variable");
        auto const x = detail::describe(array, "by_group");
        static_assert(std::is_same_v<std::remove_const_t<std::remove_pointer_t<decltype(x.data)>>, index_t>,
                      "basin: group ids are basin::index_t (32-bit)");
        if (x.rank == 1)
            ids = {x.data, {{1, x.extents[0]}}, {{0, x.strides[0]}}};
        else if (x.rank == 2)
            ids = {x.data, {{x.extents[0], x.extents[1]}}, {{x.strides[0], x.strides[1]}}};
        else
            detail::fail<shape_error>("by_group: ids have rank 1 (query) or 2 (batch, query), not ", x.rank);
        if (n < 1) detail::fail<argument_error>("by_group: ", n, " groups; at least one is needed");
    }
    /// The group of a query; 0 where there are none.
    index_t of(index_t entry, index_t query) const { return given ? ids(ids.extent(0) == 1 ? 0 : entry, query) : 0; }
};

/// `received{mass, by_group(ids, 2)}`: the output gets a group axis, (batch, head, group, key).
template <class Array>
query_groups by_group(Array&& ids, index_t count) {
    return query_groups(static_cast<Array&&>(ids), count);
}

namespace detail {

template <class T>
struct statistic_output {
    using value_type = T;
    view<T, 4> output{}; // (batch, head, group, token)
    bool adds = false;

    template <class Array>
    static view<T, 4> lift(Array&& array, bool grouped, char const* name) {
        static_assert(outlives_call<Array>,
                      "basin: a statistic writes into your array: give it a named one, not a temporary");
        static_assert(!std::is_const_v<element_of<Array>>,
                      "basin: a statistic writes into its array, but this one is const");
        static_assert(std::same_as<std::remove_cv_t<element_of<Array>>, T>,
                      "basin: a statistic's array holds the statistic's own scalar, the accumulation type: float for "
                      "float and 16-bit arrays, double for double; counts too");
        if constexpr (std::same_as<element_of<Array>, T>)
            return lift_statistic(describe(array, name), grouped, name);
        else
            return {}; // the words have been said
    }
};

} // namespace detail

/// Base of statistics per key: output (batch, head, key), or (batch, head, group, key).
template <class T>
struct key_statistic : detail::statistic_output<T> {
    static constexpr axis reduced_to = axis::by_key;
    query_groups groups{};

    key_statistic() = default;
    template <class Array>
        requires detail::array_like<std::remove_cvref_t<Array>>
    explicit key_statistic(Array&& array, query_groups split = {}) : groups(split) {
        this->output = detail::statistic_output<T>::lift(static_cast<Array&&>(array), split.given, "statistic");
    }
};

/// Base of statistics per query: output (batch, head, query).
template <class T>
struct query_statistic : detail::statistic_output<T> {
    static constexpr axis reduced_to = axis::by_query;

    query_statistic() = default;
    template <class Array>
        requires detail::array_like<std::remove_cvref_t<Array>>
    explicit query_statistic(Array&& array) {
        this->output = detail::statistic_output<T>::lift(static_cast<Array&&>(array), false, "statistic");
    }
};

/// Adds to what the array holds instead of overwriting it: `accumulate(received{mass})`. "Adding" is the statistic's own
/// combine: a maximum for peak, a sum of exponentials for lse.
template <class S>
S accumulate(S s) {
    s.adds = true;
    return s;
}

/// A reduction over the probabilities of a head, made while attention runs: `identity`, `map`, `combine` and, by query,
/// `finish`. Derive from key_statistic or query_statistic, which hold the output.
template <class S>
concept statistic = std::is_trivially_copyable_v<S> && requires(S const& s, typename S::value_type x) {
    { S::reduced_to } -> std::convertible_to<axis>;
    { s.identity() } -> std::convertible_to<typename S::value_type>;
    { s.combine(x, x) } -> std::convertible_to<typename S::value_type>;
    { s.adds } -> std::convertible_to<bool>;
    s.output;
};

/// Facts a statistic asks of a kernel beyond probabilities; absent means no.
template <class S>
concept needs_key_weight = requires { typename S::needs_key_weight; };
/// A statistic that asks for the likeliest key of each query.
template <class S>
concept needs_favourite = requires { typename S::needs_favourite; };
/// The statistic is a function of the row's facts alone: no pair has to be looked at.
template <class S>
concept only_rows = requires { typename S::only_rows; };

namespace detail {

/// The final number of a row, stored. A statistic with more than one output has its own store().
template <class S, class A>
[[gnu::always_inline]] inline void store_row(S const& s, index_t b, index_t h, index_t query,
                                             typename S::value_type reduced, row_facts<A> const& row) {
    if constexpr (requires { s.store(b, h, query, reduced, row); }) {
        s.store(b, h, query, reduced, row);
    } else {
        auto& slot = s.output(b, h, 0, query);
        if constexpr (requires { s.finish(reduced, row); })
            slot = s.combine(slot, s.finish(reduced, row));
        else
            slot = s.combine(slot, reduced);
    }
}

} // namespace detail
} // namespace basin
