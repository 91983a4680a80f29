// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include <basin/core/lift.hpp>
#include <basin/core/policy.hpp>

namespace basin {

/// Adds a table to the scores: (query, key), or (batch, head, query, key), where an extent of 1 broadcasts. It borrows
/// the table, which may be large: keep the array alive while the policy is used. -inf in the table hides a pair.
template <class T>
class bias {
public:
    using lanes = supported;

    template <class Array>
        requires(!std::same_as<std::remove_cvref_t<Array>, bias>)
    explicit bias(Array&& table) : table_(detail::lift_tensor(detail::describe(table, "bias"), "bias")) {
        static_assert(detail::outlives_call<Array>,
                      "basin: a bias borrows its table: keep the array in a variable, a temporary would dangle");
        for (std::size_t i = 0; i < 4; ++i) strides_[i] = table_.extent(i) == 1 ? 0 : table_.stride(i);
    }

    template <class X, class Lane>
    X score(X x, basic_site<Lane> const& s) const {
        // All keys of a lane share one query; only the key is looked up.
        T const* const row =
            table_.data() + s.batch * strides_[0] + s.head * strides_[1] + math::first_of(s.query) * strides_[2];
        return x + math::lookup<X>(row, strides_[3], s.key);
    }
    bias bind(shape_facts const& facts) const {
        index_t const need[4] = {facts.batch, facts.heads, facts.queries, facts.keys};
        char const* const axis[4] = {"batch", "head", "query", "key"};
        for (std::size_t i = 0; i < 4; ++i) {
            if (table_.extent(i) != 1 && table_.extent(i) < need[i]) {
                detail::fail<shape_error>("bias: ", axis[i], " extent is ", table_.extent(i), ", but the call has ",
                                          need[i], "; 1 broadcasts");
            }
        }
        if (table_.data() == nullptr && table_.size() != 0) detail::fail<argument_error>("bias: the table has no data");
        return *this;
    }
    /// What is added, (batch or 1, head or 1, query or 1, key or 1).
    view<T const, 4> const& table() const { return table_; }
    template <class Carrier>
    bias carried(Carrier& carrier) const {
        bias result = *this;
        result.table_ = carrier(table_);
        for (std::size_t i = 0; i < 4; ++i) result.strides_[i] = strides_[i] == 0 ? 0 : result.table_.stride(i);
        return result;
    }

private:
    view<T const, 4> table_;
    tuple_of<std::ptrdiff_t, 4> strides_{};
};
template <class Array>
bias(Array&&) -> bias<std::remove_const_t<detail::element_of<Array>>>;

} // namespace basin
