// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include <basin/core/key_set.hpp>
#include <basin/core/math.hpp>

// What key sets of the same extents have in common. An extent of 1 on the batch or head axis is shared, as everywhere.
namespace basin {
namespace detail {

inline void check_same_extents(key_set const& a, key_set const& b, char const* name) {
    auto const fits = [](index_t x, index_t y) { return x == y || x == 1 || y == 1; };
    if (!fits(a.batch(), b.batch()) || !fits(a.heads(), b.heads()) || a.keys() != b.keys()) {
        fail<shape_error>(name, ": key sets of extents (", a.batch(), ", ", a.heads(), ", ", a.keys(), ") and (",
                          b.batch(), ", ", b.heads(), ", ", b.keys(), ")");
    }
}

template <class Keep>
key_set combined(key_set const& a, key_set const& b, char const* name, Keep const& keep) {
    check_same_extents(a, b, name);
    key_set result(math::max(a.batch(), b.batch()), math::max(a.heads(), b.heads()), a.keys());
    for (index_t i = 0; i < result.batch(); ++i)
        for (index_t h = 0; h < result.heads(); ++h)
            for (index_t key = 0; key < result.keys(); ++key)
                if (keep(a.bits().contains(i, h, key), b.bits().contains(i, h, key))) result.insert(i, h, key);
    return result;
}

} // namespace detail

/// Keys in a or in b.
inline key_set united(key_set const& a, key_set const& b) {
    return detail::combined(a, b, "united", [](bool x, bool y) { return x || y; });
}
/// Keys in both.
inline key_set common(key_set const& a, key_set const& b) {
    return detail::combined(a, b, "common", [](bool x, bool y) { return x && y; });
}
/// Keys in a that are not in b.
inline key_set without(key_set const& a, key_set const& b) {
    return detail::combined(a, b, "without", [](bool x, bool y) { return x && !y; });
}

/// The keys that are in the sets of at least so many heads, shared by all heads (head extent 1).
inline key_set shared_by_heads(key_set const& keys, index_t at_least = 1) {
    if (at_least < 1 || at_least > keys.heads())
        detail::fail<argument_error>("shared_by_heads: at least ", at_least, " of ", keys.heads(), " heads");
    key_set result(keys.batch(), 1, keys.keys());
    for (index_t b = 0; b < keys.batch(); ++b)
        for (index_t key = 0; key < keys.keys(); ++key) {
            index_t heads = 0;
            for (index_t h = 0; h < keys.heads(); ++h) heads += keys.contains(b, h, key) ? 1 : 0;
            if (heads >= at_least) result.insert(b, 0, key);
        }
    return result;
}

/// |a and b| / |a or b| in one head; 1 if both are empty: nothing changed.
inline double jaccard(key_set const& a, key_set const& b, index_t batch, index_t head) {
    detail::check_same_extents(a, b, "jaccard");
    auto const both = common(a, b), either = united(a, b);
    if (batch < 0 || batch >= both.batch() || head < 0 || head >= both.heads())
        detail::fail<argument_error>("jaccard: (", batch, ", ", head, ") is out of range");
    index_t const n = either.count(batch, head);
    return n == 0 ? 1 : static_cast<double>(both.count(batch, head)) / n;
}

/// The mean of the Jaccard overlap over batch entries and heads.
inline double jaccard(key_set const& a, key_set const& b) {
    auto const both = common(a, b), either = united(a, b);
    double sum = 0;
    for (index_t i = 0; i < both.batch(); ++i)
        for (index_t h = 0; h < both.heads(); ++h) {
            index_t const n = either.count(i, h);
            sum += n == 0 ? 1 : static_cast<double>(both.count(i, h)) / n;
        }
    index_t const rows = both.batch() * both.heads();
    return rows == 0 ? 1 : sum / rows;
}

} // namespace basin
