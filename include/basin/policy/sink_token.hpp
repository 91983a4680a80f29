// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include <basin/core/pullback.hpp>
#include <basin/policy/full.hpp>

#include <initializer_list>

namespace basin {

/// Positions of sink tokens: a few, kept inside so that the policy is trivially copyable.
struct token_list {
    /// How many tokens it can hold.
    static constexpr index_t capacity = 16;
    /// How many tokens it holds.
    index_t count = 0;
    /// The first `count` of these.
    index_t positions[capacity] = {};

    constexpr token_list(index_t position) : count(1), positions{position} {} // NOLINT: sink_token{0}
    constexpr token_list(std::initializer_list<index_t> list) {
        if (static_cast<index_t>(list.size()) > capacity)
            detail::fail<argument_error>("sink_token: at most ", capacity, " tokens, got ",
                                         static_cast<int>(list.size()));
        for (index_t const position : list) positions[count++] = position;
    }

    /// Whether a sink token stands there.
    template <class Lane>
    auto contains(Lane position) const {
        auto found = detail::uniform_mask<Lane>(false);
        for (index_t i = 0; i < count; ++i) found = found || position == Lane(positions[i]);
        return found;
    }
    /// How many of the positions [begin, end) are tokens; a position given twice counts once.
    constexpr index_t within(index_t begin, index_t end) const {
        index_t n = 0;
        for (index_t i = 0; i < count; ++i) {
            bool again = false;
            for (index_t j = 0; j < i; ++j) again = again || positions[j] == positions[i];
            n += !again && positions[i] >= begin && positions[i] < end ? 1 : 0;
        }
        return n;
    }
};

/// One or several tokens that see only themselves and are seen by all, over any base policy:
/// `sink_token{0}`, `sink_token{{0, 9}, window{4, 4}}`. "Seen by all" opens the tokens' columns even where the base
/// hides them; `mutual` says whether the tokens see each other. Scores and sinks of the base stay in force.
template <policy Base = full>
struct sink_token {
    using lanes = supported;
    /// Which positions are sink tokens.
    token_list tokens;
    /// What holds among the other tokens.
    Base base{};
    /// Whether sink tokens see each other.
    bool mutual = false;

    template <class Lane>
    auto visible(basic_site<Lane> const& s) const {
        auto const to_sink = tokens.contains(s.key);
        auto const from_sink = tokens.contains(s.query);
        auto const own = s.key == s.query || (to_sink && mutual);
        return (!from_sink && (facet::visible(base, s) || to_sink)) || (from_sink && own);
    }
    coverage cover(tile const& t) const {
        index_t const keys = t.key_end - t.key_begin;
        index_t const sink_queries = tokens.within(t.query_begin, t.query_end);
        index_t const sink_keys = tokens.within(t.key_begin, t.key_end);
        if (sink_queries == 0) {
            coverage const below = facet::cover(base, t);
            return below == coverage::all || sink_keys == 0 ? below
                   : sink_keys == keys                      ? coverage::all
                                                            : coverage::some;
        }
        if (sink_queries < t.query_end - t.query_begin) return coverage::some;
        if (sink_keys == 0) return coverage::none; // a sink row sees its own column only, and that is a sink key
        return sink_keys == keys && (mutual || (keys == 1 && sink_queries == 1 && t.query_begin == t.key_begin))
                   ? coverage::all
                   : coverage::some;
    }
    bool hides(head_site const& s, index_t key) const
        requires detail::has_hides<Base>
    {
        return facet::hides(base, s, key) && !tokens.contains(key);
    }

    template <class X, class Lane>
    X score(X x, basic_site<Lane> const& s) const
        requires detail::has_score<Base>
    {
        return facet::score(base, x, s);
    }
    sink_token in_units(double unit) const
        requires detail::takes_units<Base>
    {
        return {tokens, facet::in_units(base, unit), mutual};
    }
    template <class X, class Lane>
    X weight(X x, basic_site<Lane> const& s) const
        requires detail::has_weight<Base>
    {
        return facet::weight(base, x, s);
    }
    template <class X>
    X value(X x, value_site const& s) const
        requires detail::has_value<Base>
    {
        return facet::value(base, x, s);
    }
    template <class Visitor>
    void visit_sinks(head_site const& s, Visitor& visitor) const
        requires detail::has_sinks<Base>
    {
        facet::visit_sinks(base, s, visitor);
    }
    template <class Carrier>
    sink_token carried(Carrier& carrier) const {
        return {tokens, facet::carried(base, carrier), mutual};
    }
    auto bind(shape_facts const& facts) const {
        for (index_t i = 0; i < tokens.count; ++i) {
            if (tokens.positions[i] < 0)
                detail::fail<argument_error>("sink_token: position ", tokens.positions[i], " is negative");
        }
        return sink_token<bound_t<Base>>{tokens, basin::bind(base, facts), mutual};
    }

    static constexpr bool learns = facet::learns<Base>();
    template <class X, class Lane, class Sums>
    X score_pullback(X x, X d_y, basic_site<Lane> const& s, Sums& sums) const {
        return facet::score_pullback(base, x, d_y, s, sums);
    }
    template <class X, class Lane>
    X weight_pullback(X x, X d_y, basic_site<Lane> const& s) const {
        return facet::weight_pullback(base, x, d_y, s);
    }
    template <class X>
    X value_pullback(X x, X d_y, value_site const& s) const {
        return facet::value_pullback(base, x, d_y, s);
    }
    template <class Self, class F>
    static void visit_learned(Self& self, F const& f) {
        facet::visit_learned(self.base, f);
    }
};
sink_token(token_list) -> sink_token<full>;
template <class Base>
sink_token(token_list, Base) -> sink_token<Base>;
template <class Base>
sink_token(token_list, Base, bool) -> sink_token<Base>;

} // namespace basin
