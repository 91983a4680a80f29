// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include <basin/core/math.hpp>
#include <basin/core/site.hpp>

// What a rule may know about a key and about the head it is looked at in.
namespace basin {

/// What a token is at this step of denoising. Sinks of masked and of decoded tokens are different things: record it.
enum class token_kind : std::uint8_t { unknown, prompt, masked, decoded, special };
/// How many kinds of tokens there are.
inline constexpr index_t token_kinds = 5;

/// `masked` for token_kind::masked, and so on.
constexpr char const* name_of(token_kind kind) {
    constexpr char const* names[token_kinds] = {"unknown", "prompt", "masked", "decoded", "special"};
    return names[static_cast<int>(kind)];
}

/// In which unit "received attention" is written. With m the mean probability over the queries that see the key:
///   sum            m x queries: the column sum of a full map; uniform attention gives 1 where queries = keys
///   mean           m, at most 1
///   percent        100 m
///   uniform_ratio  received / what uniform attention under the same mask would give: 1 means "as much as uniform"
enum class mass_scale : std::uint8_t { sum, mean, percent, uniform_ratio };

/// `percent` for mass_scale::percent, and so on.
constexpr char const* name_of(mass_scale scale) {
    constexpr char const* names[4] = {"sum", "mean", "percent", "uniform_ratio"};
    return names[static_cast<int>(scale)];
}

/// Absent evidence is NaN, which no comparison holds for.
template <class T>
struct key_facts {
    index_t key;  ///< position in its text
    T received;   ///< the sum of its probabilities
    T seen;       ///< how many queries see it
    T share;      ///< received / seen
    T baseline;   ///< what it would receive if every query spread evenly over what it sees
    T norm;       ///< of its value
    T activation; ///< the largest magnitude in its hidden state
};

/// Of one number over the live keys of a head.
template <class T>
struct moments {
    /// The sum, the mean, the population's standard deviation and the largest.
    T sum = 0, mean = 0, deviation = 0, max = 0; // deviation: population, from centred squares
};

/// Live keys and queries only: padding, and keys that no query sees, have left.
template <class T>
struct head_facts {
    index_t batch = 0, head = 0;
    /// How many keys are live.
    index_t keys = 0;
    /// How many queries are live.
    T queries = 0;
    moments<T> share, ratio; ///< of received / seen and of received / baseline
    T highest_ratio = 0;     ///< the ratio of a key that took everything: what uniform_ratio can reach
    /// The median magnitude of the text's hidden states; NaN where unknown.
    T median_activation = static_cast<T>(__builtin_nan(""));
};

/// A key's mass on a scale, and the head's.
template <class T>
T on_scale(mass_scale scale, key_facts<T> const& key, head_facts<T> const& head) {
    switch (scale) {
    case mass_scale::sum:
        return key.share * head.queries;
    case mass_scale::percent:
        return key.share * T(100);
    case mass_scale::uniform_ratio:
        return key.received / key.baseline;
    case mass_scale::mean:
        break;
    }
    return key.share;
}
/// The sum, mean, deviation and largest mass of a head on a scale.
template <class T>
moments<T> on_scale(mass_scale scale, head_facts<T> const& head) {
    if (scale == mass_scale::uniform_ratio) return head.ratio;
    T const unit = scale == mass_scale::sum ? head.queries : scale == mass_scale::percent ? T(100) : T(1);
    return {head.share.sum * unit, head.share.mean * unit, head.share.deviation * unit, head.share.max * unit};
}
/// What a key that took all attention would have: no map goes beyond it.
template <class T>
T highest_on_scale(mass_scale scale, head_facts<T> const& head) {
    switch (scale) {
    case mass_scale::sum:
        return head.queries;
    case mass_scale::percent:
        return T(100);
    case mass_scale::uniform_ratio:
        return head.highest_ratio;
    case mass_scale::mean:
        break;
    }
    return T(1);
}

/// One head of one text as a rule sees it: its live keys by position, in contiguous columns.
template <class T>
struct row_of_keys {
    /// What is known of the head as a whole.
    head_facts<T> head;
    /// The position of each live key.
    index_t const* key = nullptr;
    /// As in key_facts, one element for each live key.
    T const *received = nullptr, *seen = nullptr, *share = nullptr, *baseline = nullptr;
    T const *norm = nullptr, *activation = nullptr; ///< null where the evidence has none

    /// How many live keys.
    index_t size() const { return head.keys; }
    key_facts<T> operator[](index_t i) const {
        T const absent = static_cast<T>(__builtin_nan(""));
        return {key[i],
                received[i],
                seen[i],
                share[i],
                baseline[i],
                norm == nullptr ? absent : norm[i],
                activation == nullptr ? absent : activation[i]};
    }
};

} // namespace basin
