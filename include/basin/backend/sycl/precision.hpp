// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include <basin/core/policy.hpp>
#include <basin/policy/compose.hpp>
#include <basin/policy/learned.hpp>
#include <basin/policy/sink_token.hpp>

// Which policies compute in double, whatever the arrays are: on a device without it (aspect fp64) they are refused.
namespace basin::detail::device {

/// Whether kernels of a policy may need double. C++ cannot look into a type: a policy of one's own that does more than
/// mask is thought to need it, unless it says `static constexpr bool uses_double = false;`. Asked of what `bind` returns.
template <class P>
inline constexpr bool uses_double = [] {
    if constexpr (requires { P::uses_double; })
        return static_cast<bool>(P::uses_double);
    else
        return !mask<P>; // positions are whole numbers
}();
template <class A, class B>
inline constexpr bool uses_double<both<A, B>> = uses_double<A> || uses_double<B>;
template <class A, class B>
inline constexpr bool uses_double<either<A, B>> = uses_double<A> || uses_double<B>;
template <class A>
inline constexpr bool uses_double<inverse<A>> = uses_double<A>;
template <class M, class P>
inline constexpr bool uses_double<only_where<M, P>> = uses_double<M> || uses_double<P>;
template <class Base>
inline constexpr bool uses_double<sink_token<Base>> = uses_double<Base>;
template <class P, class G>
inline constexpr bool uses_double<learned<P, G>> = uses_double<P>; // forward; sums of gradients are in double always
template <class T>
inline constexpr bool uses_double<bias<T>> = std::same_as<T, double>;
template <class T>
inline constexpr bool uses_double<kv_sink<T>> = std::same_as<T, double>;

/// Why a call in this accumulation type cannot run without double, and what to do; nullptr where it can.
template <class A, class Policy, bool Learns>
constexpr char const* why_double() {
    if constexpr (std::same_as<A, double>)
        return ": use float arrays, or another device";
    else if constexpr (Learns)
        return ", in which gradients of learned parameters are summed: use another device";
    else if constexpr (uses_double<Policy>)
        return ", which this policy has parameters in or may compute in: use another device; a policy of your own that "
               "needs none says static constexpr bool uses_double = false, on what its bind returns if it has one";
    else
        return nullptr;
}

} // namespace basin::detail::device
