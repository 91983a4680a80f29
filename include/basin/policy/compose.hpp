// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include <basin/core/pullback.hpp>

// How policies are put together. `all_of(a, b)`: a key is seen where both see it; scores run left to right; sinks add
// up. `any_of` and `none_of` are for masks alone, because "a soft cap or a window" has no meaning; `where(mask, p)`
// is what people mean by that. The operators & | ~ are the same functions.
namespace basin {

/// Both policies, scores from left to right: what `all_of` and `&` make.
template <policy A, policy B>
struct both {
    using lanes = supported;
    A a;
    B b;

    template <class Lane>
    auto visible(basic_site<Lane> const& s) const
        requires(detail::has_visible<A> || detail::has_visible<B>)
    {
        return facet::visible(a, s) && facet::visible(b, s);
    }
    template <class X, class Lane>
    X score(X x, basic_site<Lane> const& s) const
        requires(detail::has_score<A> || detail::has_score<B>)
    {
        return facet::score(b, facet::score(a, x, s), s);
    }
    both in_units(double unit) const
        requires(detail::takes_units<A> && detail::takes_units<B>)
    {
        return {facet::in_units(a, unit), facet::in_units(b, unit)};
    }
    template <class X, class Lane>
    X weight(X x, basic_site<Lane> const& s) const
        requires(detail::has_weight<A> || detail::has_weight<B>)
    {
        return facet::weight(b, facet::weight(a, x, s), s);
    }
    template <class X>
    X value(X x, value_site const& s) const
        requires(detail::has_value<A> || detail::has_value<B>)
    {
        return facet::value(b, facet::value(a, x, s), s);
    }
    template <class Visitor>
    void visit_sinks(head_site const& s, Visitor& visitor) const
        requires(detail::has_sinks<A> || detail::has_sinks<B>)
    {
        facet::visit_sinks(a, s, visitor);
        facet::visit_sinks(b, s, visitor);
    }
    coverage cover(tile const& t) const { return meet(facet::cover(a, t), facet::cover(b, t)); }
    bool hides(head_site const& s, index_t key) const
        requires(detail::has_hides<A> || detail::has_hides<B>)
    {
        return facet::hides(a, s, key) || facet::hides(b, s, key);
    }
    // A key that both do not hide is hidden by neither.
    coverage cover_unhidden(tile const& t) const {
        return meet(facet::cover_unhidden(a, t), facet::cover_unhidden(b, t));
    }
    template <class Carrier>
    both carried(Carrier& carrier) const {
        return {facet::carried(a, carrier), facet::carried(b, carrier)};
    }
    auto bind(shape_facts const& facts) const {
        return both<bound_t<A>, bound_t<B>>{basin::bind(a, facts), basin::bind(b, facts)};
    }

    // Backwards, from the last policy to the first.
    static constexpr bool learns = facet::learns<A>() || facet::learns<B>();
    template <class X, class Lane, class Sums>
    X score_pullback(X x, X d_y, basic_site<Lane> const& s, Sums& sums) const {
        X const between = facet::score_pullback(b, facet::score(a, x, s), d_y, s, sums);
        return facet::score_pullback(a, x, between, s, sums);
    }
    template <class X, class Lane>
    X weight_pullback(X x, X d_y, basic_site<Lane> const& s) const {
        return facet::weight_pullback(a, x, facet::weight_pullback(b, facet::weight(a, x, s), d_y, s), s);
    }
    template <class X>
    X value_pullback(X x, X d_y, value_site const& s) const {
        return facet::value_pullback(a, x, facet::value_pullback(b, facet::value(a, x, s), d_y, s), s);
    }
    template <class Self, class F>
    static void visit_learned(Self& self, F const& f) {
        facet::visit_learned(self.a, f);
        facet::visit_learned(self.b, f);
    }
};

/// What at least one of two masks shows: what `any_of` and `|` make.
template <mask A, mask B>
struct either {
    using lanes = supported;
    A a;
    B b;

    template <class Lane>
    auto visible(basic_site<Lane> const& s) const {
        return facet::visible(a, s) || facet::visible(b, s);
    }
    coverage cover(tile const& t) const { return join(facet::cover(a, t), facet::cover(b, t)); }
    bool hides(head_site const& s, index_t key) const
        requires(detail::has_hides<A> && detail::has_hides<B>)
    {
        return facet::hides(a, s, key) && facet::hides(b, s, key);
    }
    template <class Carrier>
    either carried(Carrier& carrier) const {
        return {facet::carried(a, carrier), facet::carried(b, carrier)};
    }
    auto bind(shape_facts const& facts) const {
        return either<bound_t<A>, bound_t<B>>{basin::bind(a, facts), basin::bind(b, facts)};
    }
};

/// What a mask hides: what `none_of` and `~` make.
template <mask A>
struct inverse {
    using lanes = supported;
    A a;

    template <class Lane>
    auto visible(basic_site<Lane> const& s) const {
        return !facet::visible(a, s);
    }
    coverage cover(tile const& t) const { return complement(facet::cover(a, t)); }
    template <class Carrier>
    inverse carried(Carrier& carrier) const {
        return {facet::carried(a, carrier)};
    }
    auto bind(shape_facts const& facts) const { return inverse<bound_t<A>>{basin::bind(a, facts)}; }
};

/// Scores and weights of `p` only where the mask sees; elsewhere they stay as they are. Hides nothing itself.
template <mask M, policy P>
struct only_where {
    using lanes = supported;
    /// The mask under which the policy holds.
    M condition;
    /// The policy that holds where the mask says so.
    P p;

    template <class X, class Lane>
    X score(X x, basic_site<Lane> const& s) const
        requires detail::has_score<P>
    {
        return math::select(facet::visible(condition, s), facet::score(p, x, s), x);
    }
    only_where in_units(double unit) const
        requires detail::takes_units<P>
    {
        return {condition, facet::in_units(p, unit)};
    }
    template <class X, class Lane>
    X weight(X x, basic_site<Lane> const& s) const
        requires detail::has_weight<P>
    {
        return math::select(facet::visible(condition, s), facet::weight(p, x, s), x);
    }
    template <class Carrier>
    only_where carried(Carrier& carrier) const {
        return {facet::carried(condition, carrier), facet::carried(p, carrier)};
    }
    auto bind(shape_facts const& facts) const {
        return only_where<bound_t<M>, bound_t<P>>{basin::bind(condition, facts), basin::bind(p, facts)};
    }

    static constexpr bool learns = facet::learns<P>();
    template <class X, class Lane, class Sums>
    X score_pullback(X x, X d_y, basic_site<Lane> const& s, Sums& sums) const {
        auto const here = facet::visible(condition, s);
        X const through = facet::score_pullback(p, x, math::select(here, d_y, X(0)), s, sums);
        return math::select(here, through, d_y);
    }
    template <class X, class Lane>
    X weight_pullback(X x, X d_y, basic_site<Lane> const& s) const {
        return math::select(facet::visible(condition, s), facet::weight_pullback(p, x, d_y, s), d_y);
    }
    template <class Self, class F>
    static void visit_learned(Self& self, F const& f) {
        facet::visit_learned(self.p, f);
    }
};

/// Every policy at once: a pair is visible if all show it, scores run from left to right.
template <policy A>
constexpr A all_of(A a) {
    return a;
}
/// Every policy at once: a pair is visible if all show it, scores run from left to right.
template <policy A, policy B, policy... Rest>
constexpr auto all_of(A a, B b, Rest... rest) {
    return all_of(both<A, B>{static_cast<A&&>(a), static_cast<B&&>(b)}, static_cast<Rest&&>(rest)...);
}

/// A pair is visible if at least one mask shows it.
template <policy A, policy... Rest>
constexpr auto any_of(A a, Rest... rest) {
    static_assert(mask<A> && (mask<Rest> && ...),
                  "basin: any_of takes masks only: 'either a mask or a change of scores' has no meaning; to change "
                  "scores in some places write where(mask, policy)");
    if constexpr (!(mask<A> && (mask<Rest> && ...)) || sizeof...(Rest) == 0) {
        return a;
    } else {
        using others = decltype(any_of(static_cast<Rest&&>(rest)...));
        return either<A, others>{static_cast<A&&>(a), any_of(static_cast<Rest&&>(rest)...)};
    }
}

/// A pair is visible if no mask shows it.
template <policy... A>
constexpr auto none_of(A... a) {
    static_assert((mask<A> && ...),
                  "basin: none_of and ~ take masks only: a change of scores or a sink has no inverse");
    if constexpr ((mask<A> && ...))
        return inverse<decltype(any_of(static_cast<A&&>(a)...))>{any_of(static_cast<A&&>(a)...)};
    else
        return all_of(static_cast<A&&>(a)...); // the words have been said; a policy, so that no more follow
}

/// A change of scores or weights for those pairs alone that a mask shows.
template <policy M, policy P>
constexpr auto where(M condition, P p) {
    static_assert(mask<M>, "basin: the condition of where(mask, policy) must be a mask");
    constexpr bool changes = detail::has_score<P> || detail::has_weight<P>;
    static_assert(changes, "basin: where(mask, policy) needs a policy that changes scores or weights; to combine masks "
                           "write all_of or any_of");
    static_assert(
        !changes || (!detail::has_visible<P> && !detail::has_sinks<P> && !detail::has_value<P>),
        "basin: where(mask, policy) cannot switch visibility, sinks or values on and off; combine those with all_of");
    if constexpr (mask<M>)
        return only_where<M, P>{static_cast<M&&>(condition), static_cast<P&&>(p)};
    else
        return p;
}

template <policy A, policy B>
constexpr auto operator&(A a, B b) {
    return all_of(static_cast<A&&>(a), static_cast<B&&>(b));
}
template <policy A, policy B>
constexpr auto operator|(A a, B b) {
    return any_of(static_cast<A&&>(a), static_cast<B&&>(b));
}
template <policy A>
constexpr auto operator~(A a) {
    return none_of(static_cast<A&&>(a));
}

} // namespace basin
