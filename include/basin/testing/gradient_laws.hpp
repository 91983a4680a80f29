// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include <basin/core/pullback.hpp>
#include <basin/testing/array_lanes.hpp>
#include <basin/testing/cover_laws.hpp>

namespace basin::testing {
namespace inner {

/// The derivative of f at x by central differences of fourth order.
template <class F>
double slope_of(F const& f, double x) {
    double const h = 1e-3;
    return (8 * (f(x + h) - f(x - h)) - (f(x + 2 * h) - f(x - 2 * h))) / (12 * h);
}

struct no_sums {
    void add(index_t, double) {}
};

inline constexpr double tried_slopes[] = {-2.75, -0.5, 0.125, 1.5};

/// Lanes pull back as their keys do alone.
template <class Bound>
void check_lane_pullback(report& r, Bound const& p, shape_facts const& f, double ulps) {
    using family = array_family<double, 4>;
    using lane = index_lanes<family>;
    using numbers = number_lanes<family>;
    if (f.keys == 0) return;
    no_sums sums;
    for_each_head(f, [&](index_t b, index_t h) {
        for (index_t query = 0; query < f.queries; ++query)
            for (double const x : tried_slopes) {
                auto const keys = family::index::make([&](int i) { return math::min(query + i, f.keys - 1); });
                basic_site<lane> const s{b, h, lane(query), lane(keys)};
                auto const d = facet::score_pullback(p, numbers(x), numbers(0.75), s, sums);
                for (int i = 0; i < family::width; ++i) {
                    site const one{b, h, query, static_cast<index_t>(keys.at[i])};
                    double const alone = facet::score_pullback(p, x, 0.75, one, sums);
                    r.expect(close(d.raw.at[i], alone, ulps * 0x1p-52),
                             [&] { return "lanes equal scalars: the slope of score differs at " + words(one); });
                }
            }
    });
}

} // namespace inner

/// The laws of a policy's derivatives: what score, weight and value pass back is their slope by finite differences, be it
/// found by dual numbers or by a score_slope of its own; and lanes equal scalars. For smooth policies: at a kink (a
/// maximum) differences tell nothing.
template <policy P>
report check_gradients(P const& p, check_options const& o = {}) {
    report r;
    shape_facts const f = inner::facts_of(o);
    auto const bound = basin::bind(p, f);
    using bound_type = std::remove_const_t<decltype(bound)>;
    inner::no_sums sums;
    auto const near = [](double got, double want) { return math::abs(got - want) <= 1e-7 * (1 + math::abs(want)); };
    inner::for_each_site(f, [&](site const& s) {
        for (double const x : inner::tried_slopes) {
            if constexpr (detail::has_score<bound_type>) {
                double const want = inner::slope_of([&](double y) { return facet::score(bound, y, s); }, x);
                if (want != want) continue; // the pair is hidden by a score of -inf
                r.expect(near(facet::score_pullback(bound, x, 1.0, s, sums), want),
                         [&] { return "the slope of score is not that of differences at " + inner::words(s); });
            }
            if constexpr (detail::has_weight<bound_type>) {
                double const share = 0.5 + x / 8;
                double const want = inner::slope_of([&](double y) { return facet::weight(bound, y, s); }, share);
                r.expect(near(facet::weight_pullback(bound, share, 1.0, s), want),
                         [&] { return "the slope of weight is not that of differences at " + inner::words(s); });
            }
            if constexpr (detail::has_value<bound_type>) {
                value_site const v{s.batch, s.head, s.key, 0};
                double const want = inner::slope_of([&](double y) { return facet::value(bound, y, v); }, x);
                r.expect(near(facet::value_pullback(bound, x, 1.0, v), want),
                         [&] { return "the slope of value is not that of differences at " + inner::words(s); });
            }
        }
    });
    if constexpr (detail::has_score<bound_type>) inner::check_lane_pullback(r, bound, f, o.ulps);
    return r;
}

/// A score_slope equals what dual numbers find, exactly to rounding. For scores that dual numbers can pass: then the slope
/// was written for speed alone.
template <policy P>
report check_score_slope(P const& p, check_options const& o = {}) {
    report r;
    auto const bound = basin::bind(p, inner::facts_of(o));
    static_assert(detail::has_score_slope<std::remove_const_t<decltype(bound)>>,
                  "basin: this policy has no score_slope(x, site); check_gradients checks all others");
    inner::for_each_site(inner::facts_of(o), [&](site const& s) {
        for (double const x : inner::tried_slopes) {
            double const mine = bound.score_slope(x, s), found = bound.score(dual<double>(x, 1.0), s).slope;
            r.expect(math::abs(mine - found) <= 1e-12 * (1 + math::abs(found)),
                     [&] { return "score_slope is not what dual numbers find at " + inner::words(s); });
        }
    });
    return r;
}

} // namespace basin::testing
