// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include <basin/backend/sycl/device_task.hpp>
#include <basin/detect.hpp>

// Rules as kernels take them: trivially copyable, and every pointer one that the device can use.
namespace basin::detail::device {

template <class Rule, class Carrier>
auto rule_for(Rule const& rule, Carrier& carrier) {
    return facet::carried(rule, carrier);
}
template <class Carrier, class... R>
auto rule_for(all_rules<R...> const& all, Carrier& carrier);
template <class Carrier, class... R>
auto rule_for(any_rule<R...> const& any, Carrier& carrier);
template <class Carrier, class R>
auto rule_for(inverse_rule<R> const& inverse, Carrier& carrier) {
    return inverse_rule<decltype(rule_for(inverse.inner, carrier))>{rule_for(inverse.inner, carrier)};
}
template <class Carrier, class... R>
auto rule_for(all_rules<R...> const& all, Carrier& carrier) {
    return all_rules<decltype(rule_for(std::declval<R const&>(), carrier))...>{
        all.rules.map([&](auto const& r) { return rule_for(r, carrier); })};
}
template <class Carrier, class... R>
auto rule_for(any_rule<R...> const& any, Carrier& carrier) {
    return any_rule<decltype(rule_for(std::declval<R const&>(), carrier))...>{
        any.rules.map([&](auto const& r) { return rule_for(r, carrier); })};
}

/// Stands for any carrier where only types are asked for.
struct no_carrier {
    template <class T>
    T const* operator()(T const* p, std::ptrdiff_t) const {
        return p;
    }
    template <class T, std::size_t R>
    view<T const, R> operator()(view<T const, R> const& x) const {
        return x;
    }
};

/// A rule that can be asked about one key at a time, in a form that may be copied byte by byte.
template <class Rule>
inline constexpr bool can_be_moved = [] {
    if constexpr (detail::judges_keys<Rule>)
        return std::is_trivially_copyable_v<decltype(rule_for(std::declval<Rule const&>(),
                                                              std::declval<no_carrier&>()))>;
    else
        return false;
}();

/// Whether a rule has no pointers into the host's memory, as far as one can know: it is empty, or has a member
/// carried(carrier), which gives the rule with its data where the device reads it.
template <class Rule>
inline constexpr bool says_how_it_moves =
    std::is_empty_v<Rule> || requires(Rule const& r, no_carrier& c) { r.carried(c); };
template <>
inline constexpr bool says_how_it_moves<exceeds_others> = true;
template <>
inline constexpr bool says_how_it_moves<outlier> = true;
template <>
inline constexpr bool says_how_it_moves<mass_share> = true;
template <>
inline constexpr bool says_how_it_moves<soft> = true;
template <>
inline constexpr bool says_how_it_moves<massive> = true;
template <>
inline constexpr bool says_how_it_moves<first_token> = true;
template <class... R>
inline constexpr bool says_how_it_moves<all_rules<R...>> = (says_how_it_moves<R> && ...);
template <class... R>
inline constexpr bool says_how_it_moves<any_rule<R...>> = (says_how_it_moves<R> && ...);
template <class R>
inline constexpr bool says_how_it_moves<inverse_rule<R>> = says_how_it_moves<R>;

} // namespace basin::detail::device
