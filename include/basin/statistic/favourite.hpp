// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include <basin/core/statistic.hpp>

namespace basin {

/// The key that a query gives most to (its index along the key axis, the first of equals, -1 if the query sees nothing)
/// and the probability it gives: `favourite{keys, probabilities}`, both (batch, head, query), keys of index_t.
template <class T>
struct favourite : query_statistic<T> {
    using only_rows = void;
    using needs_favourite = void;
    /// Where the places of the likeliest keys are written.
    view<index_t, 4> keys{};

    favourite() = default;
    template <class Keys, class Probabilities>
    favourite(Keys&& key, Probabilities&& probability) : query_statistic<T>(static_cast<Probabilities&&>(probability)) {
        constexpr bool fits = std::is_same_v<std::remove_const_t<detail::element_of<Keys>>, index_t>;
        static_assert(fits, "basin: favourite{keys, probabilities}: the array of keys holds basin::index_t (32-bit)");
        if constexpr (fits)
            keys = detail::statistic_output<index_t>::lift(static_cast<Keys&&>(key), false, "favourite keys");
    }

    static constexpr char const* name = "favourite";
    static constexpr T identity() { return T(0); }
    T combine(T a, T b) const { return math::max(a, b); }
    /// Accumulating keeps the likelier of the old and the new favourite.
    void store(index_t b, index_t h, index_t query, T, row_facts<T> const& row) const {
        auto& p = this->output(b, h, 0, query);
        auto& key = keys(b, h, 0, query);
        if (key >= 0 && !(row.favourite_p > p)) return;
        p = row.favourite_p;
        key = row.favourite;
    }
};
template <class Keys, class Probabilities>
favourite(Keys&&, Probabilities&&) -> favourite<detail::element_of<Probabilities>>;

} // namespace basin
