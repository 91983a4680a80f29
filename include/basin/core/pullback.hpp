// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include <basin/core/policy.hpp>

// Facets backwards. A policy that changes a score, a probability or a value passes the gradient of what it returned on to
// what it was given: `d_x = d_y * slope(x)`. The slope is found with dual numbers, or asked of the policy:
//   X score_slope(X x, site) const    and likewise weight_slope(p, site), value_slope(x, value_site)
// A policy made of others has its own pullback, which runs through them from the last to the first:
//   X score_pullback(X x, X d_y, site, Sums&) const
// `Sums` collects the gradients of learned parameters (policy/learned.hpp): a type with add(index_t slot, double), and
// refuse(index_t parameter, index_t parameters) where a parameter that is not there cannot be thrown about.
namespace basin {
namespace detail {

struct ignore_sums {
    template <class X>
    void add(index_t, X) {} // not a double: a device may have none
};

/// What a policy says wrongly about its parameters, in words.
[[noreturn]] inline void refuse_parameter(index_t parameter, index_t parameters) {
    fail<shape_error>("learned: score_parameters names parameter ", parameter, ", but the gradient has ", parameters);
}

template <class P>
concept has_score_slope = requires(P const& p, site s) { p.score_slope(0.0F, s); };
template <class P>
concept has_weight_slope = requires(P const& p, site s) { p.weight_slope(0.0F, s); };
template <class P>
concept has_value_slope = requires(P const& p, value_site s) { p.value_slope(0.0F, s); };
template <class P>
concept has_score_pullback = requires(P const& p, site s, ignore_sums& sums) { p.score_pullback(0.0F, 0.0F, s, sums); };
template <class P>
concept has_weight_pullback = requires(P const& p, site s) { p.weight_pullback(0.0F, 0.0F, s); };
template <class P>
concept has_value_pullback = requires(P const& p, value_site s) { p.value_pullback(0.0F, 0.0F, s); };

/// No gradient is no gradient, even of a slope that is infinite or not a number (a hidden key's score is -inf,
/// the value of a key that nobody sees may be anything).
template <class X>
X chain(X d_y, X slope) {
    return math::select(d_y == X(0), X(0), d_y * slope);
}

/// f(x, d, site) for each key of a lane, in order: its answers as lanes.
template <class Family, class F>
number_lanes<Family> pull_each(number_lanes<Family> x, number_lanes<Family> d, basic_site<index_lanes<Family>> const& s,
                               F const& f) {
    typename Family::number_type gradients[Family::width];
    int n = 0;
    change_each(d, s, [&](auto y, site) { return gradients[n++] = y; });
    n = 0;
    return change_each(x, s, [&](auto y, site one) { return f(y, gradients[n++], one); });
}

template <class P, class X, class Site>
X score_slope_at(P const& p, X x, Site const& s) {
    constexpr bool by_itself = has_score_slope<P>;
    constexpr bool by_dual = by_itself || requires {
        { p.score(dual<X>(x, X(1)), s) } -> std::same_as<dual<X>>;
    };
    static_assert(by_itself || by_dual,
                  "basin: this score cannot be differentiated: make it a template that takes dual numbers, template "
                  "<class X, class Lane> X score(X x, basin::basic_site<Lane> const& s) const, or give the policy a "
                  "member score_slope(x, site)");
    if constexpr (by_itself) {
        static_assert(std::same_as<decltype(p.score_slope(x, s)), X>,
                      "basin: score_slope(x, site) must return the type of x");
        return p.score_slope(x, s);
    } else if constexpr (by_dual) {
        return p.score(dual<X>(x, X(1)), s).slope;
    } else {
        return x;
    }
}
template <class P, class X, class Site>
X weight_slope_at(P const& p, X x, Site const& s) {
    constexpr bool by_itself = has_weight_slope<P>;
    constexpr bool by_dual = by_itself || requires {
        { p.weight(dual<X>(x, X(1)), s) } -> std::same_as<dual<X>>;
    };
    static_assert(by_itself || by_dual,
                  "basin: this weight cannot be differentiated: make it a template that takes dual numbers, or give "
                  "the policy a member weight_slope(p, site)");
    if constexpr (by_itself)
        return p.weight_slope(x, s);
    else if constexpr (by_dual)
        return p.weight(dual<X>(x, X(1)), s).slope;
    else
        return x;
}

} // namespace detail

namespace facet {

/// The derivative of a policy's score by its argument: what a policy without others inside passes on.
template <class P, class X, class Lane>
X score_slope(P const& p, X x, basic_site<Lane> const& s) {
    if constexpr (!detail::is_lane<Lane> || takes_lanes<P>)
        return detail::score_slope_at(p, x, s);
    else
        return detail::change_each(x, s, [&](auto y, site one) { return detail::score_slope_at(p, y, one); });
}

/// The gradient of a score before the policy, from the gradient `d_y` after it. `x` is the score before. What is learned is
/// added to `sums`; where d_y is 0, nothing is added and 0 returned.
template <class P, class X, class Lane, class Sums>
X score_pullback(P const& p, X x, X d_y, basic_site<Lane> const& s, Sums& sums) {
    if constexpr (!detail::has_score<P>)
        return d_y;
    else if constexpr (detail::has_score_pullback<P> && (!detail::is_lane<Lane> || takes_lanes<P>))
        return p.score_pullback(x, d_y, s, sums);
    else if constexpr (detail::has_score_pullback<P>)
        return detail::pull_each(x, d_y, s,
                                 [&](auto y, auto d, site one) { return p.score_pullback(y, d, one, sums); });
    else
        return detail::chain(d_y, score_slope(p, x, s));
}

/// The gradient of a probability, from the gradient of the weight that the policy makes of it.
template <class P, class X, class Lane>
X weight_pullback(P const& p, X x, X d_y, basic_site<Lane> const& s) {
    if constexpr (!detail::has_weight<P>)
        return d_y;
    else if constexpr (detail::has_weight_pullback<P> && (!detail::is_lane<Lane> || takes_lanes<P>))
        return p.weight_pullback(x, d_y, s);
    else if constexpr (detail::has_weight_pullback<P>)
        return detail::pull_each(x, d_y, s, [&](auto y, auto d, site one) { return p.weight_pullback(y, d, one); });
    else if constexpr (!detail::is_lane<Lane> || takes_lanes<P>)
        return d_y * detail::weight_slope_at(p, x, s);
    else
        return d_y * detail::change_each(x, s, [&](auto y, site one) { return detail::weight_slope_at(p, y, one); });
}

/// The gradient of an element of a value, from the gradient of what the policy makes of it.
template <class P, class X>
X value_pullback(P const& p, X x, X d_y, value_site const& s) {
    if constexpr (!detail::has_value<P>) {
        return d_y;
    } else if constexpr (detail::has_value_pullback<P>) {
        return p.value_pullback(x, d_y, s);
    } else if constexpr (detail::has_value_slope<P>) {
        return detail::chain(d_y, p.value_slope(x, s));
    } else {
        constexpr bool by_dual = requires {
            { p.value(dual<X>(x, X(1)), s) } -> std::same_as<dual<X>>;
        };
        static_assert(by_dual, "basin: this value cannot be differentiated: make it a template that takes dual "
                               "numbers, or give the policy a member value_slope(x, value_site)");
        if constexpr (by_dual)
            return detail::chain(d_y, p.value(dual<X>(x, X(1)), s).slope);
        else
            return d_y;
    }
}

/// Whether a policy has a `learned` node in it.
template <class P>
constexpr bool learns() {
    if constexpr (requires { P::learns; })
        return P::learns;
    else
        return false;
}

/// f(node) for every `learned` node of a policy, from the first to the last.
template <class P, class F>
void visit_learned(P& p, F const& f) {
    if constexpr (learns<std::remove_const_t<P>>()) std::remove_const_t<P>::visit_learned(p, f);
}

} // namespace facet
} // namespace basin
