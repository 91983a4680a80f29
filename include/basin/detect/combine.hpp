// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include <basin/core/policy.hpp>
#include <basin/core/several.hpp>
#include <basin/detect/rule.hpp>

#include <utility>
#include <vector>

// How rules are put together: all_of, any_of, none_of, and & | ~ for the same, as for policies; `vote` asks for a majority.
// The verdict of a combination is that of the rule that decided: for `all_of` the one that was closest to saying no, for
// `any_of` the one that was surest.
namespace basin {
namespace detail {

template <class T>
bool tighter(verdict<T> const& a, verdict<T> const& b) { // relative: rules have units of their own
    auto const relative = [](verdict<T> const& v) {
        T const m = v.margin();
        return m != m ? math::infinity<T> : v.threshold == T(0) ? m : m / math::abs(v.threshold);
    };
    return relative(a) < relative(b);
}

/// Asks every rule about a row, and folds the verdicts of each key.
template <class Rules, class T, class Fold>
void fold_rules(Rules const& rules, row_of_keys<T> const& row, verdict<T>* out, Fold const& fold) {
    std::vector<verdict<T>> next(static_cast<std::size_t>(row.size()));
    rules.each([&](auto number, auto const& r) {
        judge(r, row, number == 0 ? out : next.data());
        for (index_t i = 0; number > 0 && i < row.size(); ++i) out[i] = fold(out[i], next[static_cast<std::size_t>(i)]);
    });
}

/// The same for one key, where every rule can be asked about one alone: no memory is taken, so that devices can.
template <class Rules, class T, class Fold>
verdict<T> fold_verdicts(Rules const& rules, key_facts<T> const& key, head_facts<T> const& head, Fold const& fold) {
    return rules.apply([&](auto const& first, auto const&... rest) {
        verdict<T> result = verdict_of(first, key, head);
        ((result = fold(result, verdict_of(rest, key, head))), ...);
        return result;
    });
}

struct both_agree {
    template <class T>
    verdict<T> operator()(verdict<T> const& a, verdict<T> const& b) const {
        if (a.fires != b.fires) return a.fires ? b : a;
        return tighter(b, a) ? b : a;
    }
};
struct one_agrees {
    template <class T>
    verdict<T> operator()(verdict<T> const& a, verdict<T> const& b) const {
        if (a.fires != b.fires) return a.fires ? a : b;
        return tighter(a, b) ? b : a;
    }
};

} // namespace detail

/// A sink if every rule says so: what `all_of` makes of rules.
template <rule... R>
struct all_rules {
    several<R...> rules;

    template <class T>
    void judge(row_of_keys<T> const& row, verdict<T>* out) const {
        detail::fold_rules(rules, row, out, detail::both_agree{});
    }
    template <class T>
        requires(detail::judges_keys<R> && ...)
    verdict<T> operator()(key_facts<T> const& key, head_facts<T> const& head) const {
        return detail::fold_verdicts(rules, key, head, detail::both_agree{});
    }
    template <class T>
    void check(head_facts<T> const& head) const {
        rules.apply([&](auto const&... r) { (detail::check_rule(r, head), ...); });
    }
    template <class T>
    bool can_fire(head_facts<T> const& head) const {
        return rules.apply([&](auto const&... r) { return (detail::can_fire(r, head) && ...); });
    }
};

/// A sink if some rule says so: what `any_of` makes of rules.
template <rule... R>
struct any_rule {
    several<R...> rules;

    template <class T>
    void judge(row_of_keys<T> const& row, verdict<T>* out) const {
        detail::fold_rules(rules, row, out, detail::one_agrees{});
    }
    template <class T>
        requires(detail::judges_keys<R> && ...)
    verdict<T> operator()(key_facts<T> const& key, head_facts<T> const& head) const {
        return detail::fold_verdicts(rules, key, head, detail::one_agrees{});
    }
    template <class T>
    void check(head_facts<T> const& head) const {
        rules.apply([&](auto const&... r) { (detail::check_rule(r, head), ...); });
    }
    template <class T>
    bool can_fire(head_facts<T> const& head) const {
        return rules.apply([&](auto const&... r) { return (detail::can_fire(r, head) || ...); });
    }
};

/// A sink if the rule says no: what `none_of` makes of a rule.
template <rule R>
struct inverse_rule {
    /// The rule whose answer is turned around.
    R inner;

    template <class T>
    void judge(row_of_keys<T> const& row, verdict<T>* out) const {
        detail::judge(inner, row, out);
        for (index_t i = 0; i < row.size(); ++i) {
            out[i].fires = !out[i].fires;
            out[i].below = !out[i].below;
        }
    }
    template <class T>
        requires detail::judges_keys<R>
    verdict<T> operator()(key_facts<T> const& key, head_facts<T> const& head) const {
        verdict<T> v = detail::verdict_of(inner, key, head);
        v.fires = !v.fires;
        v.below = !v.below;
        return v;
    }
    template <class T>
    void check(head_facts<T> const& head) const {
        detail::check_rule(inner, head);
    }
};

/// At least so many of these rules say yes.
template <rule... R>
struct vote {
    /// How many of the rules must say yes.
    index_t at_least;
    several<R...> rules;

    explicit vote(index_t needed, R... r) : at_least(needed), rules{{std::move(r)}...} {}

    template <class T>
    void judge(row_of_keys<T> const& row, verdict<T>* out) const {
        std::vector<verdict<T>> one(static_cast<std::size_t>(row.size()));
        for (index_t i = 0; i < row.size(); ++i) out[i] = {false, T(0), static_cast<T>(at_least), "vote", false};
        auto const count = [&](auto const& r) {
            detail::judge(r, row, one.data());
            for (index_t i = 0; i < row.size(); ++i)
                out[i].number += one[static_cast<std::size_t>(i)].fires ? T(1) : T(0);
        };
        rules.apply([&](auto const&... r) { (count(r), ...); });
        for (index_t i = 0; i < row.size(); ++i) out[i].fires = out[i].number >= out[i].threshold;
    }
    template <class T>
    void check(head_facts<T> const& head) const {
        if (at_least < 1)
            detail::fail<argument_error>("vote: at_least is ", at_least, "; with that, every key is a sink");
        if (at_least > static_cast<index_t>(sizeof...(R)))
            detail::fail<argument_error>("vote: ", at_least, " of ", static_cast<int>(sizeof...(R)),
                                         " rules can never agree");
        rules.apply([&](auto const&... r) { (detail::check_rule(r, head), ...); });
    }
    template <class T>
    bool can_fire(head_facts<T> const& head) const {
        return rules.apply([&](auto const&... r) { return ((detail::can_fire(r, head) ? 1 : 0) + ...); }) >= at_least;
    }
};

/// A sink if every rule says so.
template <rule... R>
    requires(sizeof...(R) > 0 && !(policy<R> || ...))
constexpr auto all_of(R... r) {
    return all_rules<R...>{{{std::move(r)}...}};
}
/// A sink if at least one rule says so.
template <rule... R>
    requires(sizeof...(R) > 0 && !(policy<R> || ...))
constexpr auto any_of(R... r) {
    return any_rule<R...>{{{std::move(r)}...}};
}
/// A sink if no rule says so.
template <rule... R>
    requires(sizeof...(R) > 0 && !(policy<R> || ...))
constexpr auto none_of(R... r) {
    return inverse_rule<any_rule<R...>>{{{{std::move(r)}...}}};
}
template <rule A, rule B>
    requires(!policy<A> && !policy<B>)
constexpr auto operator&(A a, B b) {
    return basin::all_of(std::move(a), std::move(b));
}
template <rule A, rule B>
    requires(!policy<A> && !policy<B>)
constexpr auto operator|(A a, B b) {
    return basin::any_of(std::move(a), std::move(b));
}
template <rule A>
    requires(!policy<A>)
constexpr auto operator~(A a) {
    return basin::none_of(std::move(a));
}

} // namespace basin
