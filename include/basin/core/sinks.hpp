// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include <basin/core/policy.hpp>

namespace basin::detail {

/// All sinks in the denominator of one row, seen as one column: its logit is the log-sum-exp of theirs, its value their
/// weighted mean. They are counted once, whatever a kernel does with the keys.
template <class A, class Query>
class sink_column {
public:
    /// `query(c)` is element c of the row's query; `value` has `channels` elements and is written.
    sink_column(Query const& query, index_t query_channels, A scale, A* value, index_t channels)
        : query_(query), query_channels_(query_channels), scale_(scale), value_(value), channels_(channels) {
        for (index_t c = 0; c < channels_; ++c) value_[c] = 0;
    }

    void logit(double x) { add(static_cast<A>(x), static_cast<A const*>(nullptr), 0); }
    template <class T>
    void key_value(T const* key, std::ptrdiff_t key_stride, T const* value, std::ptrdiff_t value_stride) {
        A dot = 0;
        for (index_t c = 0; c < query_channels_; ++c) dot += query_(c) * static_cast<A>(key[c * key_stride]);
        add(dot * scale_, value, value_stride);
    }
    A lse() const { return lse_; }

private:
    template <class T>
    void add(A logit, T const* value, std::ptrdiff_t stride) {
        if (logit == -math::infinity<A>) return;
        if (!(lse_ < math::infinity<A>)) { // already +inf or NaN: nothing finite changes it
            if (logit != logit) lse_ = logit;
            return;
        }
        A const high = math::max(lse_, logit);
        A const sum =
            high < math::infinity<A> ? high + math::log(math::exp(lse_ - high) + math::exp(logit - high)) : high;
        // +inf takes everything; NaN in the logit stays NaN.
        A const share = logit == math::infinity<A> ? A(1) : math::exp(logit - (logit != logit ? logit : sum));
        for (index_t c = 0; c < channels_; ++c) {
            A const x = value == nullptr ? A(0) : static_cast<A>(value[c * stride]);
            value_[c] = share == A(1) ? x : value_[c] * (A(1) - share) + share * x;
        }
        lse_ = logit != logit ? logit : sum;
    }

    Query const& query_;
    index_t query_channels_;
    A scale_;
    A* value_;
    index_t channels_;
    A lse_ = -math::infinity<A>;
};

} // namespace basin::detail
