// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#include <type_traits>

// What bound policies are can be declared ahead, in a namespace: SYCL asks it of every type in a kernel's name.
namespace basin {
namespace detail {
struct bound_alibi;
struct bound_key_bits;
struct bound_logit_added;
struct bound_probability_faded;
struct bound_probability_scaled;
struct bound_value_noised;
struct bound_value_replaced;
struct bound_sink_logit;
struct bound_sink_masked;
} // namespace detail
} // namespace basin

#include <basin/basin.hpp>
#include <basin/intervene.hpp>

template <class P, class Name>
inline constexpr bool is_named = std::is_same_v<basin::bound_t<P>, Name>;
static_assert(is_named<basin::alibi, basin::detail::bound_alibi>);
static_assert(is_named<basin::key_bits, basin::detail::bound_key_bits>);
static_assert(is_named<basin::sink_logit, basin::detail::bound_sink_logit>);
static_assert(is_named<basin::sink_masked, basin::detail::bound_sink_masked>);
static_assert(is_named<basin::logit_added, basin::detail::bound_logit_added>);
static_assert(is_named<basin::probability_faded, basin::detail::bound_probability_faded>);
static_assert(is_named<basin::probability_scaled, basin::detail::bound_probability_scaled>);
static_assert(is_named<basin::value_noised, basin::detail::bound_value_noised>);
static_assert(is_named<basin::value_replaced, basin::detail::bound_value_replaced>);
