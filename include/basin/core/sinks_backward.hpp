// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include <basin/core/policy.hpp>

// The sinks in the denominator of one row, backwards. A sink is one more column of the softmax, with probability
// exp(logit - lse): the first visit adds its share to the row's sum of p dp, the second passes the gradient on.
namespace basin::detail {

/// What both visits know of a row. `query(c)` and `d_out(c)` are elements of the row's query and of its output's gradient.
template <class A, class Query, class Upstream>
struct sink_row {
    Query const& query;
    index_t channels;
    A scale;
    Upstream const& d_out;
    index_t value_channels;
    A lse;

    template <class T>
    A logit(T const* key, std::ptrdiff_t stride) const {
        A dot = 0;
        for (index_t c = 0; c < channels; ++c) dot += query(c) * static_cast<A>(key[c * stride]);
        return dot * scale;
    }
    template <class T>
    A d_probability(T const* value, std::ptrdiff_t stride) const {
        A dot = 0;
        for (index_t c = 0; value != nullptr && c < value_channels; ++c)
            dot += d_out(c) * static_cast<A>(value[c * stride]);
        return dot;
    }
    /// An infinite logit takes all.
    A probability(A logit) const { return logit == math::infinity<A> ? A(1) : math::exp(logit - lse); }
};

/// First visit: the sum of p dp over the sinks.
template <class Row, class A>
struct sink_share {
    Row const& row;
    A sum = 0;

    void logit(double) {} // no value: its dp is 0
    template <class T>
    void key_value(T const* key, std::ptrdiff_t key_stride, T const* value, std::ptrdiff_t value_stride) {
        if (value == nullptr) return;
        A const p = row.probability(row.logit(key, key_stride));
        if (p != A(0)) sum += p * row.d_probability(value, value_stride);
    }
};

/// Second visit: gradients of the query, and of what is learned. `centre` is d_lse - D, with D the row's sum of p dp;
/// `add_query(c, x)` adds to the gradient of the query, `sums` collects what is learned.
template <class Row, class A, class AddQuery, class Sums>
class sink_pullback {
public:
    sink_pullback(Row const& row, A centre, AddQuery const& add_query, Sums& sums)
        : row_(row), centre_(centre), add_query_(add_query), sums_(sums) {}

    /// The next sinks are learned, and their sums begin here; -1: they are not.
    void learn(index_t first_sum) { next_ = first_sum; }
    void logit(double x) {
        if (next_ < 0) return;
        A const logit = static_cast<A>(x);
        add(math::abs(logit) < math::infinity<A> ? row_.probability(logit) * centre_ : A(0));
    }
    template <class T>
    void key_value(T const* key, std::ptrdiff_t key_stride, T const* value, std::ptrdiff_t value_stride) {
        A const logit = row_.logit(key, key_stride);
        A const p = row_.probability(logit);
        bool const moves = p != A(0) && logit < math::infinity<A>;
        A const d = moves ? p * (row_.d_probability(value, value_stride) + centre_) * row_.scale : A(0);
        for (index_t c = 0; moves && c < row_.channels; ++c) add_query_(c, d * static_cast<A>(key[c * key_stride]));
        if (next_ < 0) return;
        for (index_t c = 0; c < row_.channels; ++c) add(moves ? d * row_.query(c) : A(0));
        for (index_t c = 0; value != nullptr && c < row_.value_channels; ++c) add(p * row_.d_out(c));
    }

private:
    void add(A d) { sums_.add(next_++, d); }

    Row const& row_;
    A centre_;
    AddQuery const& add_query_;
    Sums& sums_;
    index_t next_ = -1;
};

} // namespace basin::detail
