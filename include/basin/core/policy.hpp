// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include <basin/core/dual.hpp>
#include <basin/core/error.hpp>

#include <concepts>
#include <type_traits>

// What a policy is. A policy has at least one facet:
//   bool     visible(site) const          may this query see this key?
//   X        score(X, site) const         change a score, after scaling, before the softmax; -inf hides the key for good
//   P        in_units(double u) const     optional, with score: the same policy where scores count u times as much, so that
//                                         in_units(u).score(u * x) is u * score(x); it saves kernels two products per pair
//   T        sink_logit(head_site) const  an extra softmax column without a value, in natural units
//   X        weight(X, site) const        change a probability after the softmax, before the values (not renormalised)
//   X        value(X, value_site) const   change an element of a value as it is read
//   coverage cover(tile) const            what a whole tile may see; absent means `some`
//   bool     hides(head_site, key) const  optional: no query sees this key, so that kernels do not even pack it
//   coverage cover_unhidden(tile) const   optional, with hides: what the keys of a tile that are not hidden may see
// and, if it owns data, `auto bind(shape_facts) const`: the trivially copyable form that kernels take; and, if that form
// has pointers and is to run on devices that do not see the host's memory, `carried(carrier) const` (see facet::carried).
namespace basin {

/// What a policy with data must fit: how many texts and heads there are, and one more than the largest position.
struct shape_facts {
    index_t batch, heads, key_value_heads, queries, keys, channels, value_channels;
};

namespace detail {

template <class P>
concept has_visible = requires(P const& p, site s) {
    { p.visible(s) } -> std::convertible_to<bool>;
};
template <class P>
concept has_score = requires(P const& p, site s) { p.score(0.0F, s); };
/// Whether scores may come to this policy in other units than the natural ones.
template <class P>
concept takes_units = !has_score<P> || requires(P const& p) {
    { p.in_units(1.0) } -> std::same_as<P>;
};
template <class P>
concept has_sink_logit = requires(P const& p, head_site s) {
    { p.sink_logit(s) } -> std::convertible_to<double>;
};
struct ignore_sinks {
    void logit(double) {}
    template <class T>
    void key_value(T const*, std::ptrdiff_t, T const*, std::ptrdiff_t) {}
};
/// Library-internal form of sinks: visits logits and key/value rows. kv_sink and composed policies have it.
template <class P>
concept has_visit_sinks = requires(P const& p, head_site s, ignore_sinks v) { p.visit_sinks(s, v); };
template <class P>
concept has_sinks = has_sink_logit<P> || has_visit_sinks<P>;
template <class P>
concept has_weight = requires(P const& p, site s) { p.weight(0.0F, s); };
template <class P>
concept has_value = requires(P const& p, value_site s) { p.value(0.0F, s); };
template <class P>
concept has_cover = requires(P const& p, tile t) {
    { p.cover(t) } -> std::same_as<coverage>;
};
template <class P>
concept has_hides = requires(P const& p, head_site s) {
    { p.hides(s, index_t{}) } -> std::convertible_to<bool>;
};
template <class P>
concept has_cover_unhidden = requires(P const& p, tile t) {
    { p.cover_unhidden(t) } -> std::same_as<coverage>;
};
template <class P>
concept has_bind = requires(P const& p, shape_facts f) { p.bind(f); };

} // namespace detail

/// Who sees whom, and how scores are changed: a type with a `visible`, `score`, `weight` or `value`, or with
/// sinks in the denominator.
template <class P>
concept policy = std::copy_constructible<P> && (detail::has_visible<P> || detail::has_score<P> ||
                                                detail::has_sinks<P> || detail::has_weight<P> || detail::has_value<P>);

/// A policy that only says who sees whom: what `any_of`, `none_of` and `where` take.
template <class P>
concept mask = policy<P> && detail::has_visible<P> && !detail::has_score<P> && !detail::has_sinks<P> &&
               !detail::has_weight<P> && !detail::has_value<P>;

/// What travels to kernels and devices.
template <class P>
concept bound_policy = policy<P> && std::is_trivially_copyable_v<P>;

/// The trivially copyable form of a policy: views into what the policy owns, checked against the shape of the call.
/// Valid while the policy lives.
template <policy P>
auto bind(P const& p, shape_facts const& facts) {
    if constexpr (detail::has_bind<P>) {
        auto bound = p.bind(facts);
        static_assert(std::is_trivially_copyable_v<decltype(bound)>,
                      "basin: what bind() returns must be trivially copyable: hold views, not containers");
        return bound;
    } else {
        static_assert(std::is_trivially_copyable_v<P>,
                      "basin: a policy that is not trivially copyable (it owns memory, or holds a std::pair or "
                      "std::tuple) needs a member bind(basin::shape_facts) const that returns a form that is");
        return p;
    }
}
/// What kernels take of a policy.
template <class P>
using bound_t = decltype(bind(std::declval<P const&>(), std::declval<shape_facts const&>()));

/// Facets of any policy, for one site or for lanes; a facet that a policy lacks is the neutral one. Lanes are chosen
/// leaf by leaf: one scalar-only mask must not drag a soft cap to scalars.
namespace facet {

template <class P, class Lane>
auto visible(P const& p, basic_site<Lane> const& s) {
    if constexpr (!detail::has_visible<P>)
        return detail::uniform_mask<Lane>(true);
    else if constexpr (!detail::is_lane<Lane>)
        return static_cast<bool>(p.visible(s));
    else if constexpr (takes_lanes<P>)
        return p.visible(s);
    else
        return detail::ask_each(s, [&](site one) { return static_cast<bool>(p.visible(one)); });
}

namespace detail_facet {
template <class X, class P, class Lane>
X checked_score(P const& p, X x, basic_site<Lane> const& s) {
    static_assert(std::same_as<decltype(p.score(x, s)), X>,
                  "basin: score(x, site) must return the type of x (float for float and 16-bit arrays, double for "
                  "double): write template <class X, class Lane> X score(X x, basin::basic_site<Lane> const& s) const");
    return p.score(x, s);
}
template <class X, class P, class Lane>
X checked_weight(P const& p, X x, basic_site<Lane> const& s) {
    static_assert(std::same_as<decltype(p.weight(x, s)), X>, "basin: weight(p, site) must return the type of p");
    return p.weight(x, s);
}
} // namespace detail_facet

template <class P, class X, class Lane>
X score(P const& p, X x, basic_site<Lane> const& s) {
    if constexpr (!detail::has_score<P>)
        return x;
    else if constexpr (!detail::is_lane<Lane> || takes_lanes<P>)
        return detail_facet::checked_score(p, x, s);
    else
        return detail::change_each(x, s, [&](auto y, site one) { return detail_facet::checked_score(p, y, one); });
}

/// The policy for scores that count `unit` times as much.
template <detail::takes_units P>
[[gnu::always_inline]] inline P in_units(P const& p, double unit) {
    if constexpr (detail::has_score<P>)
        return p.in_units(unit);
    else
        return p;
}

template <class P, class X, class Lane>
X weight(P const& p, X x, basic_site<Lane> const& s) {
    if constexpr (!detail::has_weight<P>)
        return x;
    else if constexpr (!detail::is_lane<Lane> || takes_lanes<P>)
        return detail_facet::checked_weight(p, x, s);
    else
        return detail::change_each(x, s, [&](auto y, site one) { return detail_facet::checked_weight(p, y, one); });
}

template <class P, class X>
X value(P const& p, X x, value_site const& s) {
    if constexpr (!detail::has_value<P>)
        return x;
    else
        return p.value(x, s);
}

template <class P>
coverage cover(P const& p, tile const& t) {
    if constexpr (!detail::has_visible<P>)
        return coverage::all;
    else if constexpr (detail::has_cover<P>)
        return p.cover(t);
    else
        return coverage::some;
}

/// The coverage of a tile from which the keys that p hides have been taken out.
template <class P>
coverage cover_unhidden(P const& p, tile const& t) {
    if constexpr (detail::has_cover_unhidden<P>)
        return p.cover_unhidden(t);
    else
        return cover(p, t);
}

template <class P>
bool hides(P const& p, head_site const& s, index_t key) {
    if constexpr (detail::has_hides<P>)
        return p.hides(s, key);
    else
        return false;
}

template <class P, class Visitor>
void visit_sinks(P const& p, head_site const& s, Visitor& visitor) {
    if constexpr (detail::has_visit_sinks<P>)
        p.visit_sinks(s, visitor);
    else if constexpr (detail::has_sink_logit<P>)
        visitor.logit(static_cast<double>(p.sink_logit(s)));
}

/// The same bound policy with its data elsewhere: a policy with pointers has a member carried(carrier), in which
/// carrier(pointer, count) and carrier(view) give the new places. One without pointers is carried as it is.
template <class P, class Carrier>
P carried(P const& p, Carrier& carrier) {
    if constexpr (requires { p.carried(carrier); })
        return p.carried(carrier);
    else
        return p;
}

} // namespace facet
} // namespace basin
