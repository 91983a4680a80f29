// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include <basin/core/pullback.hpp>
#include <basin/policy/bias.hpp>
#include <basin/policy/kv_sink.hpp>

namespace basin {
namespace detail {

struct ignore_parameters {
    template <class X>
    void operator()(index_t, X) const {}
};
/// A score with parameters: calls add(n, dy/dparameter n) for each of them that this score depends on.
template <class P>
concept has_score_parameters =
    requires(P const& p, site s, ignore_parameters add) { p.score_parameters(0.0F, s, add); };

template <class P>
inline constexpr bool is_bias = false;
template <class T>
inline constexpr bool is_bias<bias<T>> = true;
template <class P>
inline constexpr bool is_kv_sink = false;
template <class T>
inline constexpr bool is_kv_sink<kv_sink<T>> = true;

/// Counts the sums that the sinks of one head need.
struct count_sinks {
    index_t channels, value_channels, sums = 0;
    void logit(double) { ++sums; }
    template <class T>
    void key_value(T const*, std::ptrdiff_t, T const* value, std::ptrdiff_t) {
        sums += channels + (value == nullptr ? 0 : value_channels);
    }
};

template <class P>
struct lanes_of {
    using type = void;
};
template <takes_lanes P>
struct lanes_of<P> {
    using type = supported;
};

/// f(x, d, site) for the one key of a site, or for each key of a lane.
template <class X, class F>
void for_each_lane(X x, X d, site const& s, F const& f) {
    f(x, d, s);
}
template <class Family, class F>
void for_each_lane(number_lanes<Family> x, number_lanes<Family> d, basic_site<index_lanes<Family>> const& s,
                   F const& f) {
    pull_each(x, d, s, [&](auto y, auto dy, site one) {
        f(y, dy, one);
        return y;
    });
}

} // namespace detail

/// A policy whose parameters are trained: `learned{sink_logit{logits}, d_logits}`. In the forward pass it is the policy
/// that it wraps; the backward pass writes the gradient of its parameters into the array (`accumulate(learned{...})` adds).
/// What can be learned, and the shape of the gradient:
///   sink_logit, or a sink_logit facet of your own     (heads), or (1) where all heads share it
///   kv_sink                                           two arrays, as its keys and its values
///   bias                                              as its table: summed over what broadcasts
///   temperature                                       (1)
///   alibi                                             (heads)
///   your own score with a member score_parameters     (parameters), see docs/backward.md
template <class P, class G>
class learned {
public:
    using lanes = typename detail::lanes_of<P>::type;
    static constexpr bool learns = true;
    P policy;
    /// Where the gradient goes; a kv_sink has a second, of its values.
    view<G, 4> gradient{}, second{}; // of parameters, or (1, head, n, channel) of a kv_sink's keys and values
    bool adds = false;
    /// Its first sum and how many it has.
    index_t first_sum = 0, sums = 0; // among the sums of one head; set by bind and by the entry

    template <class Array>
    learned(P p, Array&& d) : policy(static_cast<P&&>(p)), gradient(lift(d)) {
        explain<Array>();
    }
    template <class Array, class Other>
    learned(P p, Array&& d, Other&& d_second) : policy(static_cast<P&&>(p)), gradient(lift(d)), second(lift(d_second)) {
        explain<Array>();
        explain<Other>();
        static_assert(detail::is_kv_sink<bound_t<P>>, "basin: only a kv_sink has a second gradient, of its values");
    }

    // Forward: the policy itself.
    template <class Lane>
    auto visible(basic_site<Lane> const& s) const
        requires detail::has_visible<P>
    {
        return facet::visible(policy, s);
    }
    template <class X, class Lane>
    X score(X x, basic_site<Lane> const& s) const
        requires detail::has_score<P>
    {
        return facet::score(policy, x, s);
    }
    template <class X, class Lane>
    X weight(X x, basic_site<Lane> const& s) const
        requires detail::has_weight<P>
    {
        return facet::weight(policy, x, s);
    }
    template <class X>
    X value(X x, value_site const& s) const
        requires detail::has_value<P>
    {
        return facet::value(policy, x, s);
    }
    coverage cover(tile const& t) const { return facet::cover(policy, t); }
    bool hides(head_site const& s, index_t key) const
        requires detail::has_hides<P>
    {
        return facet::hides(policy, s, key);
    }
    coverage cover_unhidden(tile const& t) const { return facet::cover_unhidden(policy, t); }
    /// A visitor that collects gradients is told where those of the sinks that follow begin.
    template <class Visitor>
    void visit_sinks(head_site const& s, Visitor& visitor) const
        requires detail::has_sinks<P>
    {
        constexpr bool collects = requires { visitor.learn(first_sum); };
        if constexpr (collects) visitor.learn(first_sum);
        facet::visit_sinks(policy, s, visitor);
        if constexpr (collects) visitor.learn(-1);
    }

    template <class Carrier>
    learned carried(Carrier& carrier) const {
        learned result(facet::carried(policy, carrier), gradient, second, adds);
        result.first_sum = first_sum;
        result.sums = sums;
        return result;
    }

    auto bind(shape_facts const& facts) const {
        learned<bound_t<P>, G> result(basin::bind(policy, facts), gradient, second, adds);
        result.fit(facts);
        return result;
    }

    // Backward.
    template <class X, class Lane, class Sums>
    X score_pullback(X x, X d_y, basic_site<Lane> const& s, Sums& into) const
        requires detail::has_score<P>
    {
        if constexpr (detail::is_bias<P>)
            detail::for_each_lane(x, d_y, s, [&](auto, auto d, site const& at) { add_to_table(d, at, into); });
        else if constexpr (detail::has_score_parameters<P>)
            detail::for_each_lane(x, d_y, s, [&](auto y, auto d, site const& at) {
                if (d == 0) return;
                policy.score_parameters(y, at, [&](index_t n, auto partial) {
                    if (n < 0 || n >= sums) {
                        if constexpr (requires { into.refuse(n, sums); }) // kernels of a device cannot throw
                            return into.refuse(n, sums);
                        else
                            detail::refuse_parameter(n, sums);
                    }
                    into.add(first_sum + n, static_cast<double>(partial) * static_cast<double>(d));
                });
            });
        return facet::score_pullback(policy, x, d_y, s, into);
    }
    template <class X, class Lane>
    X weight_pullback(X x, X d_y, basic_site<Lane> const& s) const {
        return facet::weight_pullback(policy, x, d_y, s);
    }
    template <class X>
    X value_pullback(X x, X d_y, value_site const& s) const {
        return facet::value_pullback(policy, x, d_y, s);
    }
    template <class Self, class F>
    static void visit_learned(Self& self, F const& f) {
        f(self);
    }

    /// Adds the sums of one head of one text to the gradient; `from` are all sums of that head.
    void finish(head_site const& s, double const* from) const {
        double const* const mine = from + first_sum;
        if constexpr (detail::is_bias<P>) {
            for (index_t i = 0; i < sums; ++i)
                at(s.batch, s.head, gradient.extent(2) == 1 ? 0 : i, gradient.extent(2) == 1 ? i : 0) +=
                    static_cast<G>(mine[i]);
        } else if constexpr (detail::is_kv_sink<P>) {
            index_t const head = gradient.extent(1) == 1 ? 0 : s.key_value_head;
            for (index_t i = 0, n = 0; i < gradient.extent(2); ++i) { // in the order of a visit: key, value, key, ...
                for (index_t c = 0; c < gradient.extent(3); ++c) gradient(0, head, i, c) += static_cast<G>(mine[n++]);
                for (index_t c = 0; c < second.extent(3); ++c) second(0, head, i, c) += static_cast<G>(mine[n++]);
            }
        } else if constexpr (detail::has_sinks<P>) {
            gradient(0, 0, 0, gradient.extent(3) == 1 ? 0 : s.head) += static_cast<G>(mine[0]);
        } else {
            for (index_t i = 0; i < sums; ++i) gradient(0, 0, 0, i) += static_cast<G>(mine[i]);
        }
    }
    /// Whether heads or texts write into the same elements while they run: then they run one after the other.
    bool shared(shape_facts const& facts) const {
        return detail::is_bias<P> && sums == 0 &&
               ((gradient.extent(0) == 1 && facts.batch > 1) || (gradient.extent(1) == 1 && facts.heads > 1));
    }

private:
    template <class, class>
    friend class learned;
    learned(P const& bound, view<G, 4> const& a, view<G, 4> const& b, bool add)
        : policy(bound), gradient(a), second(b), adds(add) {}

    template <class Array>
    static constexpr void explain() {
        using B = bound_t<P>;
        static_assert(detail::is_bias<B> || detail::is_kv_sink<B> || detail::has_sink_logit<B> ||
                          detail::has_score_parameters<B>,
                      "basin: this policy has nothing to learn: sink_logit, kv_sink, bias, temperature and alibi have, "
                      "and a score of your own with a member score_parameters(x, site, add)");
        static_assert(detail::outlives_call<Array>,
                      "basin: learned writes into your array: give it a named one, not a temporary");
        static_assert(!std::is_const_v<detail::element_of<Array>>,
                      "basin: learned writes into its array, but this one is const");
        static_assert(std::same_as<std::remove_const_t<detail::element_of<Array>>, G> && std::is_floating_point_v<G>,
                      "basin: gradients are arrays of float or of double");
    }
    template <class Array>
    static view<G, 4> lift(Array& array) {
        auto const x = detail::describe(array, "learned");
        auto const& n = x.extents;
        auto const& s = x.strides;
        if constexpr (!std::same_as<std::remove_pointer_t<decltype(x.data)>, G>) {
            return {}; // explain() has the words
        } else if constexpr (detail::is_bias<bound_t<P>>) {
            return detail::lift_tensor(x, "learned bias");
        } else if constexpr (detail::is_kv_sink<bound_t<P>>) {
            if (x.rank == 2) return {x.data, {{1, 1, n[0], n[1]}}, {{0, 0, s[0], s[1]}}};
            if (x.rank == 3) return {x.data, {{1, n[0], n[1], n[2]}}, {{0, s[0], s[1], s[2]}}};
            detail::fail<shape_error>("learned kv_sink: expected (key-value head, n, channel), got rank ", x.rank);
        } else {
            if (x.rank != 1) detail::fail<shape_error>("learned: a gradient of parameters has rank 1, not ", x.rank);
            return {x.data, {{1, 1, 1, n[0]}}, {{0, 0, 0, s[0]}}};
        }
    }

    G& at(index_t batch, index_t head, index_t query, index_t key) const {
        auto const& g = gradient;
        return g(g.extent(0) == 1 ? 0 : batch, g.extent(1) == 1 ? 0 : head, query, key);
    }
    template <class D, class Sums>
    void add_to_table(D d, site const& s, Sums& into) const {
        if (d == 0) return;
        bool const one_query = gradient.extent(2) == 1, one_key = gradient.extent(3) == 1;
        if (!one_query && !one_key)
            at(s.batch, s.head, s.query, s.key) += static_cast<G>(d);
        else
            into.add(first_sum + (one_query && one_key ? 0 : one_query ? s.key : s.query), static_cast<double>(d));
    }

    void check_same(char const* name, view<G, 4> const& d, tuple_of<index_t, 4> const& expected) const {
        for (std::size_t i = 0; i < 4; ++i) {
            if (d.extent(i) != expected[i])
                detail::fail<shape_error>(name, ": the gradient's extents are (", d.extent(0), ", ", d.extent(1), ", ",
                                          d.extent(2), ", ", d.extent(3), "), but the parameters' are (", expected[0],
                                          ", ", expected[1], ", ", expected[2], ", ", expected[3], ")");
        }
    }
    void check_apart(view<G, 4> const& d, void const* parameters) const {
        if (d.data() != nullptr && d.data() == parameters)
            detail::fail<argument_error>(
                "learned: the gradient has the data pointer of the parameters; give it an array "
                "of its own");
    }
    void fit(shape_facts const& facts) {
        if (gradient.data() == nullptr && gradient.size() != 0)
            detail::fail<argument_error>("learned: the gradient has no data");
        if constexpr (detail::is_bias<P>) {
            check_same("learned bias", gradient, policy.table().extents());
            check_apart(gradient, policy.table().data());
            bool const one_query = gradient.extent(2) == 1, one_key = gradient.extent(3) == 1;
            sums = one_query ? gradient.extent(3) : one_key ? gradient.extent(2) : 0;
        } else if constexpr (detail::is_kv_sink<P>) {
            auto const &k = policy.keys(), &v = policy.values();
            check_same("learned kv_sink keys", gradient, {{1, k.extent(0), k.extent(1), k.extent(2)}});
            for (void const* parameters : {static_cast<void const*>(k.data()), static_cast<void const*>(v.data())}) {
                check_apart(gradient, parameters);
                check_apart(second, parameters);
            }
            if (v.data() != nullptr && second.data() == nullptr)
                detail::fail<argument_error>("learned: this kv_sink has values: give their gradient as well");
            if (v.data() == nullptr && second.data() != nullptr)
                detail::fail<argument_error>("learned: this kv_sink has no values, but a gradient for them is given");
            if (v.data() != nullptr)
                check_same("learned kv_sink values", second, {{1, v.extent(0), v.extent(1), v.extent(2)}});
            sums = k.extent(1) * (facts.channels + (v.data() == nullptr ? 0 : facts.value_channels));
        } else if constexpr (detail::has_sinks<P>) {
            index_t expected = gradient.extent(3) == 1 ? 1 : facts.heads;
            if constexpr (requires { policy.step; }) expected = policy.step == 0 ? 1 : facts.heads;
            check_same("learned sink_logit", gradient, {{1, 1, 1, expected}});
            sums = 1;
        } else {
            if constexpr (requires { policy.parameters(facts); })
                check_same("learned", gradient, {{1, 1, 1, policy.parameters(facts)}});
            sums = gradient.extent(3);
        }
    }
};
template <class P, class Array>
learned(P, Array&&) -> learned<P, std::remove_const_t<detail::element_of<Array>>>;
template <class P, class Array, class Other>
learned(P, Array&&, Other&&) -> learned<P, std::remove_const_t<detail::element_of<Array>>>;

} // namespace basin
