// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include <basin/core/policy.hpp>
#include <basin/core/view.hpp>

namespace basin {
namespace detail {

// What kernels take of the policy. No class of its own: kernels are named after their types, and SYCL names kernels only
// by what can be declared ahead.
struct bound_sink_logit {
    /// One for each head, or one for all.
    double const* logits;
    index_t step; // 0: shared by all heads
    /// How many logits there are.
    index_t count;
    /// The logit of a head.
    double sink_logit(head_site const& s) const { return logits[std::ptrdiff_t{s.head} * step]; }
    template <class Carrier>
    bound_sink_logit carried(Carrier& carrier) const {
        return {carrier(logits, count), step, count};
    }
};

} // namespace detail

/// An extra column of the softmax that has no value: mass that goes there escapes. One logit for all heads
/// (`sink_logit{0}` is softmax-off-by-one), or one per head as gpt-oss learns them (`sink_logit{{0.5, -1.0}}`). Natural
/// units: neither the scale nor any policy touches it. -inf is as if absent.
class sink_logit {
public:
    using bound = detail::bound_sink_logit;

    explicit sink_logit(std::initializer_list<double> per_head) : logits_(static_cast<index_t>(per_head.size())) {
        index_t head = 0;
        for (double const logit : per_head) logits_(head++) = logit;
    }
    /// From any rank-1 array of numbers, as a model's parameter is stored; the numbers are copied.
    template <class Array>
        requires requires(Array const& a) {
            a.size();
            a[0];
        }
    explicit sink_logit(Array const& per_head) : logits_(static_cast<index_t>(per_head.size())) {
        for (index_t head = 0; head < logits_.extent(0); ++head)
            logits_(head) = static_cast<double>(per_head[static_cast<std::size_t>(head)]);
    }

    bound bind(shape_facts const& facts) const {
        if (!shared() && logits_.extent(0) != facts.heads) {
            detail::fail<shape_error>("sink_logit: has logits for ", logits_.extent(0), " heads, but q has ",
                                      facts.heads);
        }
        return {logits_.data(), shared() ? 0 : 1, logits_.extent(0)};
    }
    double operator()(head_site const& s) const { return logits_(shared() ? 0 : s.head); }
    template <class Visitor>
    void visit_sinks(head_site const& s, Visitor& visitor) const {
        visitor.logit((*this)(s));
    }

private:
    bool shared() const { return logits_.extent(0) == 1; }

    buffer<double, 1> logits_;
};

} // namespace basin
