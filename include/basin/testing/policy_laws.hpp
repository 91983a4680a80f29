// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include <basin/backend/reference.hpp>
#include <basin/policy/causal.hpp>
#include <basin/policy/compose.hpp>
#include <basin/policy/full.hpp>
#include <basin/testing/array_lanes.hpp>
#include <basin/testing/cover_laws.hpp>

namespace basin::testing {
namespace inner {

/// The sinks of a head as numbers, in order.
struct collect_sinks {
    std::vector<double> found;
    void logit(double x) { found.push_back(x); }
    template <class T>
    void key_value(T const* key, std::ptrdiff_t, T const* value, std::ptrdiff_t) {
        found.push_back(static_cast<double>(static_cast<float>(*key)));
        found.push_back(value == nullptr ? 0 : static_cast<double>(static_cast<float>(*value)));
    }
};

inline constexpr float tried_scores[] = {-3.5F, 0.0F, 0.75F, 40.0F};

/// Two bound policies answer alike, everywhere.
template <class A, class B>
void expect_same(report& r, char const* law, A const& a, B const& b, shape_facts const& f) {
    auto const differ = [&](char const* facet_name, site const& s) {
        return std::string(law) + ": " + facet_name + " differs at " + words(s);
    };
    for_each_site(f, [&](site const& s) {
        r.expect(facet::visible(a, s) == facet::visible(b, s), [&] { return differ("visible", s); });
        if constexpr (detail::has_score<A> || detail::has_score<B>) {
            for (float const x : tried_scores) {
                float const one = facet::score(a, x, s), other = facet::score(b, x, s);
                r.expect(one == other || (one != one && other != other), [&] { return differ("score", s); });
            }
        }
        if constexpr (detail::has_weight<A> || detail::has_weight<B>) {
            r.expect(facet::weight(a, 0.375F, s) == facet::weight(b, 0.375F, s), [&] { return differ("weight", s); });
        }
        if constexpr (detail::has_value<A> || detail::has_value<B>) {
            value_site const v{s.batch, s.head, s.key, 0};
            r.expect(facet::value(a, 0.375F, v) == facet::value(b, 0.375F, v), [&] { return differ("value", s); });
        }
    });
    for_each_head(f, [&](index_t batch, index_t h) {
        head_site const head{batch, h, h / (f.heads / f.key_value_heads)};
        collect_sinks one, other;
        facet::visit_sinks(a, head, one);
        facet::visit_sinks(b, head, other);
        r.expect(one.found == other.found,
                 [&] { return std::string(law) + ": the sinks of head " + std::to_string(h) + " differ"; });
    });
}

/// Lanes answer as their keys do alone: exactly for visible, within ulps for scores and weights.
template <class Bound>
void check_lanes(report& r, Bound const& p, shape_facts const& f, check_options const& o) {
    using family = array_family<float, 4>;
    using lane = index_lanes<family>;
    using numbers = number_lanes<family>;
    random_source random(o.seed);
    auto const near = [&](float a, float b) {
        return a == b || (a != a && b != b) ||
               math::abs(a - b) <= static_cast<float>(o.ulps) * 0x1p-23F * math::max(math::abs(a), math::abs(b));
    };
    auto const once = [&](index_t b, index_t h, index_t query, typename family::index keys) {
        basic_site<lane> const s{b, h, lane(query), lane(keys)};
        auto const visible = facet::visible(p, s);
        for (int i = 0; i < family::width; ++i) {
            site const one{b, h, query, keys.at[i]};
            r.expect(visible.raw.at[i] == facet::visible(p, one),
                     [&] { return "lanes equal scalars: visible differs at " + words(one); });
        }
        if constexpr (detail::has_score<Bound>) {
            for (float const x : tried_scores) {
                auto const y = facet::score(p, numbers(x), s);
                for (int i = 0; i < family::width; ++i) {
                    site const one{b, h, query, keys.at[i]};
                    r.expect(near(y.raw.at[i], facet::score(p, x, one)),
                             [&] { return "lanes equal scalars: score differs at " + words(one); });
                }
            }
        }
        if constexpr (detail::has_weight<Bound>) {
            auto const y = facet::weight(p, numbers(0.375F), s);
            for (int i = 0; i < family::width; ++i) {
                site const one{b, h, query, keys.at[i]};
                r.expect(near(y.raw.at[i], facet::weight(p, 0.375F, one)),
                         [&] { return "lanes equal scalars: weight differs at " + words(one); });
            }
        }
    };
    if (f.keys == 0) return;
    for_each_head(f, [&](index_t b, index_t h) {
        for (index_t query = 0; query < f.queries; ++query) {
            // neighbours, the tail repeating the last key, and scattered keys: hidden ones are not packed
            for (index_t key = 0; key < f.keys; key += 4) {
                once(b, h, query, family::index::make([&](int i) { return math::min(key + i, f.keys - 1); }));
            }
            once(b, h, query, family::index::make([&](int) { return random.below(f.keys); }));
        }
    });
}

/// A policy that knows other units of scores says the same in them.
template <class Bound>
void check_units(report& r, Bound const& p, shape_facts const& f) {
    if constexpr (detail::has_score<Bound> && detail::takes_units<Bound>) {
        double const unit = 1.4426950408889634;
        auto const same = facet::in_units(p, unit);
        for_each_site(f, [&](site const& s) {
            for (double const x : {-41.0, -1.5, 0.0, 0.25, 7.0, -math::infinity<double>}) {
                double const expected = unit * facet::score(p, x, s), got = facet::score(same, unit * x, s);
                r.expect(got == expected || close(got, expected, 1e-12),
                         [&] { return "in_units: the score differs in other units at " + words(s); });
            }
            r.expect(facet::visible(same, s) == facet::visible(p, s),
                     [&] { return "in_units: visible differs in other units at " + words(s); });
        });
    }
}

/// A live row's probabilities sum to 1 minus what escaped; hidden pairs have exactly none.
template <class Bound>
void check_rows(report& r, Bound const& p, measured<float> const& m, shape_facts const& f, double tolerance) {
    for_each_head(f, [&](index_t b, index_t h) {
        for (index_t query = 0; query < f.queries; ++query) {
            double sum = 0;
            bool clean = true;
            for (index_t key = 0; key < f.keys; ++key) {
                sum += static_cast<double>(m.p(b, h, query, key));
                clean = clean && (facet::visible(p, site{b, h, query, key}) || m.p(b, h, query, key) == 0);
            }
            double const escaped = static_cast<double>(m.escaped(b, h, query)),
                         lse = static_cast<double>(m.lse(b, h, query));
            double const expected = lse == -math::infinity<double> ? 0 : 1 - escaped;
            std::string const row =
                "row " + std::to_string(query) + " of batch " + std::to_string(b) + ", head " + std::to_string(h);
            r.expect(clean, [&] { return row + " gives probability to a hidden key"; });
            r.expect(lse != lse || close(sum, expected, tolerance),
                     [&] { return row + " sums to " + std::to_string(sum) + ", not to " + std::to_string(expected); });
        }
    });
}

} // namespace inner

/// The laws that every policy keeps: full is its identity, cover and hides are sound, lanes equal scalars, units do not matter, rows of
/// attention sum to 1 minus what escaped, and `backend` agrees with the reference. The options must fit what it owns.
template <policy P, class Backend = reference_backend>
report check_policy(P const& p, check_options const& o = {}, Backend const& backend = {}) {
    report r;
    shape_facts const f = inner::facts_of(o);
    auto const bound = basin::bind(p, f);
    static_assert(bound_policy<std::remove_const_t<decltype(bound)>>,
                  "basin: the bound form of a policy is itself a policy, trivially copyable");
    if constexpr (detail::has_visible<P>) {
        inner::for_each_site(f, [&](site const& s) {
            r.expect(facet::visible(p, s) == facet::visible(bound, s),
                     [&] { return "the bound form differs from the policy at " + inner::words(s); });
        });
    }
    auto const left = all_of(full{}, p);
    auto const right = all_of(p, full{});
    inner::expect_same(r, "full & p is p", basin::bind(left, f), bound, f);
    inner::expect_same(r, "p & full is p", basin::bind(right, f), bound, f);
    inner::check_cover(r, "cover is sound", bound, f);
    inner::check_cover(r, "cover of full & p is sound", basin::bind(left, f), f, 2000);
    inner::check_lanes(r, bound, f, o);
    inner::check_units(r, bound, f);

    sample<float> const x(o);
    auto const got = measure(backend, x, p);
    inner::check_rows(r, bound, got, f, o.tolerance);
    if constexpr (!std::same_as<Backend, reference_backend>)
        compare(r, "backend against reference", got, measure(reference_backend{}, x, p), o.tolerance);
    return r;
}

/// The laws of masks, with another mask as the second operand.
template <mask M, mask Other = causal>
report check_mask(M const& a, Other const& b = {}, check_options const& o = {}) {
    report r;
    shape_facts const f = inner::facts_of(o);
    auto const same = [&](char const* law, auto const& left, auto const& right) {
        auto const one = basin::bind(left, f);
        auto const other = basin::bind(right, f);
        inner::expect_same(r, law, one, other, f);
        inner::check_cover(r, law, one, f, 2000);
        inner::check_cover(r, law, other, f, 2000);
    };
    same("a & a is a", a & a, a);
    same("a | a is a", a | a, a);
    same("a & b is b & a", a & b, b & a);
    same("a | b is b | a", a | b, b | a);
    same("~(a & b) is ~a | ~b", ~(a & b), ~a | ~b);
    same("~(a | b) is ~a & ~b", ~(a | b), ~a & ~b);
    same("~~a is a", ~~a, a);
    same("a & (a | b) is a", a & (a | b), a);
    same("a | (a & b) is a", a | (a & b), a);
    same("(a & b) & full is a & (b & full)", (a & b) & full{}, a & (b & full{}));
    return r;
}

} // namespace basin::testing
