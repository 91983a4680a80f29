// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include <basin/core/policy.hpp>
#include <basin/core/view.hpp>

namespace basin {
namespace detail {

// What kernels take of the policy. No class of its own: kernels are named after their types, and SYCL names kernels only
// by what can be declared ahead.
struct bound_alibi {
    using lanes = supported;
    /// One for each head.
    double const* slopes;
    index_t heads;
    /// What a slope of 1 counts, see in_units.
    double unit = 1;
    template <class X, class Lane>
    X score(X x, basic_site<Lane> const& s) const {
        return x - math::convert<X>(math::abs(s.query - s.key)) * X(slopes[s.head] * unit);
    }
    bound_alibi in_units(double factor) const { return {slopes, heads, unit * factor}; }
    template <class Carrier>
    bound_alibi carried(Carrier& carrier) const {
        return {carrier(slopes, heads), heads, unit};
    }
    /// For `learned`: the derivative by the slope of this head.
    template <class X, class Lane, class Add>
    void score_parameters(X, basic_site<Lane> const& s, Add const& add) const {
        add(s.head, -math::convert<X>(math::abs(s.query - s.key)));
    }
    static index_t parameters(shape_facts const& facts) { return facts.heads; }
};

} // namespace detail

/// A penalty that grows with distance: score - slope * |query - key|, one slope per head. Symmetric, as bidirectional
/// models need it. `alibi::geometric(heads)` gives the slopes 2^(-8 (h + 1) / heads) of the original work.
class alibi {
public:
    using bound = detail::bound_alibi;

    explicit alibi(std::initializer_list<double> slopes) : slopes_(static_cast<index_t>(slopes.size())) {
        index_t head = 0;
        for (double const slope : slopes) slopes_(head++) = slope;
    }
    /// From any rank-1 array of numbers, as a trained parameter is stored; the numbers are copied.
    template <class Array>
        requires requires(Array const& a) {
            a.size();
            a[0];
        }
    explicit alibi(Array const& slopes) : slopes_(static_cast<index_t>(slopes.size())) {
        for (index_t head = 0; head < slopes_.extent(0); ++head)
            slopes_(head) = static_cast<double>(slopes[static_cast<std::size_t>(head)]);
    }
    /// The slopes of the ALiBi paper: a geometric sequence over the heads.
    static alibi geometric(index_t heads) {
        alibi result({});
        result.slopes_ = buffer<double, 1>(heads);
        for (index_t h = 0; h < heads; ++h) result.slopes_(h) = math::pow(2.0, -8.0 * (h + 1) / heads);
        return result;
    }

    template <class X, class Lane>
    X score(X x, basic_site<Lane> const& s) const {
        return bound{slopes_.data(), slopes_.extent(0)}.score(x, s);
    }
    bound bind(shape_facts const& facts) const {
        if (slopes_.extent(0) != facts.heads)
            detail::fail<shape_error>("alibi: has slopes for ", slopes_.extent(0), " heads, but q has ", facts.heads);
        return {slopes_.data(), slopes_.extent(0)};
    }

private:
    buffer<double, 1> slopes_;
};

} // namespace basin
