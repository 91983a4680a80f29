// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include <basin/core/error.hpp>
#include <basin/detect/facts.hpp>

#include <concepts>

// What a rule is: something that can be asked about a key,
//   bool or verdict<T> operator()(key_facts<T> const&, head_facts<T> const&) const
// or, if it must compare keys with each other (a rank, a median), about a whole head,
//   void judge(row_of_keys<T> const&, verdict<T>* out) const        // one verdict per key of the row
// Optional: void check(head_facts<T> const&) const, which refuses what makes no sense, and
// bool can_fire(head_facts<T> const&) const, whether any map of this size could have a sink.
// On the host T is always double, whatever the scalar of the evidence; devices may ask in float.
namespace basin {

/// An answer with its reason. `by` has static storage.
template <class T>
struct verdict {
    /// Whether the key is a sink.
    bool fires = false;
    /// What was compared, and with what.
    T number = static_cast<T>(__builtin_nan("")), threshold = static_cast<T>(__builtin_nan(""));
    /// The name of the rule that decided.
    char const* by = "a rule of one's own";
    bool below = false; ///< the rule wants the number below the threshold, not above

    /// How far inside: positive where the number clears the threshold.
    T margin() const { return below ? threshold - number : number - threshold; }
};

namespace detail {
template <class R>
concept judges_keys = requires(R const& r, key_facts<double> const& key, head_facts<double> const& head) {
    { r(key, head) } -> std::convertible_to<bool>;
} || requires(R const& r, key_facts<double> const& key, head_facts<double> const& head) {
    { r(key, head) } -> std::same_as<verdict<double>>;
};
template <class R>
concept judges_rows = requires(R const& r, row_of_keys<double> const& row, verdict<double>* out) { r.judge(row, out); };
} // namespace detail

/// What says whether a key is a sink: a call with key_facts and head_facts that gives a yes or no or a verdict; or `judge`,
/// which looks at all keys of a head at once.
template <class R>
concept rule = std::copy_constructible<R> && // lambdas that capture cannot be assigned
               (detail::judges_keys<R> || detail::judges_rows<R>);

namespace detail {

/// The answer of a rule that is asked about one key at a time.
template <class R, class T>
verdict<T> verdict_of(R const& r, key_facts<T> const& key, head_facts<T> const& head) {
    if constexpr (std::same_as<decltype(r(key, head)), verdict<T>>) {
        return r(key, head);
    } else {
        verdict<T> result;
        result.fires = static_cast<bool>(r(key, head));
        return result;
    }
}
template <class R, class T>
void judge(R const& r, row_of_keys<T> const& row, verdict<T>* out) {
    if constexpr (judges_rows<R>) {
        r.judge(row, out);
    } else {
        for (index_t i = 0; i < row.size(); ++i) out[i] = verdict_of(r, row[i], row.head);
    }
}
/// Whether a rule that is asked about one key at a time fires for any: most heads have no sink, and this loop takes many keys at once.
template <class R, class T>
bool fires_anywhere(R const& r, row_of_keys<T> const& keys) {
    row_of_keys<T> const row = keys; // nobody else sees this copy: what is the same for all keys is computed once
    int any = 0;
    for (index_t i = 0; i < row.size(); ++i) any |= verdict_of(r, row[i], row.head).fires ? 1 : 0;
    return any != 0;
}
template <class R, class T>
void check_rule(R const& r, head_facts<T> const& head) {
    if constexpr (requires { r.check(head); }) r.check(head);
}
template <class R, class T>
bool can_fire(R const& r, head_facts<T> const& head) {
    if constexpr (requires { r.can_fire(head); })
        return r.can_fire(head);
    else
        return true;
}

} // namespace detail
} // namespace basin
