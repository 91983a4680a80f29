// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include <basin/backend/backward_concept.hpp>
#include <basin/detail/checks.hpp>

// The contracts of the backward pass: what is refused, in words, before anything is written.
namespace basin::detail {

template <class X>
using plain_element = std::remove_const_t<element_of<X>>;

/// Arrays as views of T. Of another scalar: nothing; a static_assert of the caller has the words.
template <class T, class X>
view<T, 4> lift_array(X& x, char const* name) {
    if constexpr (std::is_convertible_v<element_of<X>*, T*>)
        return lift_tensor(describe(x, name), name);
    else
        return {};
}
template <class T, class X>
view<T, 4> lift_by_token(X& x, bool grouped, char const* name) {
    if constexpr (std::is_convertible_v<element_of<X>*, T*>)
        return lift_statistic(describe(x, name), grouped, name);
    else
        return {};
}

template <class T, class Q, class K, class V, class Out, class Lse>
constexpr void explain_saved() {
    static_assert(outlives_call<Q> && outlives_call<K> && outlives_call<V> && outlives_call<Out> && outlives_call<Lse>,
                  "basin: saved borrows the arrays of the forward pass: keep them in variables, not in temporaries");
    static_assert(std::same_as<T, plain_element<K>> && std::same_as<T, plain_element<V>> &&
                      std::same_as<T, plain_element<Out>>,
                  "basin: q, k, v and out must have the same scalar type, that of the forward pass");
    static_assert(std::same_as<accumulation_t<T>, plain_element<Lse>>,
                  "basin: lse must be in the accumulation type: float, or double for double arrays");
}

template <class A, class... D>
constexpr void explain_gradients() {
    static_assert((outlives_call<D> && ...),
                  "basin: gradients are written into your arrays: give named ones, not temporaries");
    static_assert((!std::is_const_v<element_of<D>> && ...), "basin: gradients are written, but an array is const");
    static_assert((std::same_as<A, plain_element<D>> && ...), "basin: d_q, d_k and d_v must have the same scalar type");
}

template <template <class> class Term, class X>
inline constexpr bool is_term = false;
template <template <class> class Term, class A>
inline constexpr bool is_term<Term, Term<A>> = true;
template <template <class> class Term, class... X>
inline constexpr int terms_of = (0 + ... + (is_term<Term, X> ? 1 : 0));

/// The words for whoever gives a backend without a backward pass.
template <class Backend, class Policy>
struct explained_backward : explained<Backend, Policy> {
    static_assert(backward_backend<Backend>,
                  "basin: this backend has no backward pass: it needs a member run_backward(task) const, as "
                  "reference_backend, eigen_backend and simd_backend have");
};

template <class A>
void check_like(view<A, 4> const& x, char const* name, tuple_of<index_t, 4> const& expected, char const* other,
                char const* const (&axes)[4]) {
    check_data(x, name);
    for (std::size_t i = 0; i < 4; ++i) check_extent(name, axes[i], x.extent(i), other, expected[i]);
}

inline constexpr char const* tensor_axes[4] = {"batch", "head", "token", "channel"};
inline constexpr char const* row_axes[4] = {"batch", "head", "group", "token"};

/// An array of a call, by name.
struct named_pointer {
    void const* data;
    char const* name;
};
/// No array that is written is another one of the call. `for_each_written(f)` calls f(named_pointer), always in one order.
template <class ForEachWritten, std::size_t N>
void check_aliases(ForEachWritten const& for_each_written, named_pointer const (&read)[N]) {
    auto const compare = [](named_pointer const& mine, named_pointer const& other) {
        if (mine.data != nullptr && mine.data == other.data)
            fail<argument_error>(mine.name, ": has the data pointer of ", other.name,
                                 "; a gradient needs an array of its own");
    };
    index_t number = 0;
    for_each_written([&](named_pointer const& mine) {
        for (named_pointer const& other : read) compare(mine, other);
        index_t before = number++;
        for_each_written([&](named_pointer const& other) {
            if (before-- > 0) compare(mine, other);
        });
    });
}

} // namespace basin::detail
