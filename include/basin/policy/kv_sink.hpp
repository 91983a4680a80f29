// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include <basin/core/lift.hpp>
#include <basin/core/policy.hpp>

namespace basin {

/// Extra keys (and values) that belong to no token: (key-value head, n, channel), or (n, channel) for a single head. Their
/// logit is scale * q.k, no policy touches it, positions do not rotate it. Without values the mass that goes there
/// contributes nothing. A sink token's keys and values depend on no content, so that a trained one becomes a kv_sink.
/// Borrows its arrays, which are a model's parameters.
template <class T>
class kv_sink {
public:
    template <class Keys>
        requires(!std::same_as<std::remove_cvref_t<Keys>, kv_sink>)
    explicit kv_sink(Keys&& keys) : keys_(lift(keys, "kv_sink keys")) {
        static_assert(detail::outlives_call<Keys>,
                      "basin: a kv_sink borrows its arrays: keep them in variables, a temporary would dangle");
    }
    template <class Keys, class Values>
    kv_sink(Keys&& keys, Values&& values) : keys_(lift(keys, "kv_sink keys")), values_(lift(values, "kv_sink values")) {
        static_assert(detail::outlives_call<Keys> && detail::outlives_call<Values>,
                      "basin: a kv_sink borrows its arrays: keep them in variables, a temporary would dangle");
        if (values_.data() == nullptr) detail::fail<argument_error>("kv_sink: the values have no data");
    }

    template <class Visitor>
    void visit_sinks(head_site const& s, Visitor& visitor) const {
        index_t const head = keys_.extent(0) == 1 ? 0 : s.key_value_head;
        for (index_t i = 0; i < keys_.extent(1); ++i) {
            T const* const value = values_.data() == nullptr ? nullptr : &values_(head, i, 0);
            visitor.key_value(&keys_(head, i, 0), keys_.stride(2), value, values_.stride(2));
        }
    }
    kv_sink bind(shape_facts const& facts) const {
        if (keys_.extent(0) != 1)
            detail::check_extent("kv_sink keys", "head", keys_.extent(0), "k", facts.key_value_heads);
        detail::check_extent("kv_sink keys", "channel", keys_.extent(2), "k", facts.channels);
        if (keys_.data() == nullptr && keys_.size() != 0)
            detail::fail<argument_error>("kv_sink: the keys have no data");
        if (values_.data() != nullptr) {
            detail::check_extent("kv_sink values", "head", values_.extent(0), "kv_sink keys", keys_.extent(0));
            detail::check_extent("kv_sink values", "token", values_.extent(1), "kv_sink keys", keys_.extent(1));
            if (facts.value_channels != 0)
                detail::check_extent("kv_sink values", "channel", values_.extent(2), "v",
                                     facts.value_channels); // 0: observe reads no values
        }
        return *this;
    }
    /// The extra keys, (key-value head or 1, n, channel).
    view<T const, 3> const& keys() const { return keys_; }
    /// The extra values; no data where they are zero.
    view<T const, 3> const& values() const { return values_; }
    template <class Carrier>
    kv_sink carried(Carrier& carrier) const {
        kv_sink result = *this;
        result.keys_ = carrier(keys_);
        result.values_ = carrier(values_);
        return result;
    }

private:
    template <class Array>
    static view<T const, 3> lift(Array& array, char const* argument) {
        auto const x = detail::describe(array, argument);
        if (x.rank == 2) return {x.data, {{1, x.extents[0], x.extents[1]}}, {{0, x.strides[0], x.strides[1]}}};
        if (x.rank == 3)
            return {x.data, {{x.extents[0], x.extents[1], x.extents[2]}}, {{x.strides[0], x.strides[1], x.strides[2]}}};
        detail::fail<shape_error>(argument, ": expected (key-value head, n, channel), got rank ", x.rank);
    }

    view<T const, 3> keys_, values_;
};
template <class Keys>
kv_sink(Keys&&) -> kv_sink<std::remove_const_t<detail::element_of<Keys>>>;
template <class Keys, class Values>
kv_sink(Keys&&, Values&&) -> kv_sink<std::remove_const_t<detail::element_of<Keys>>>;

} // namespace basin
