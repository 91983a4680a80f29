// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include <basin/core/key_set.hpp>
#include <basin/detect/rule.hpp>

#include <utility>
#include <vector>

namespace basin {

/// A key that a rule called a sink, with the numbers that made it so.
struct sink {
    index_t step = 0, layer = 0, batch = 0, head = 0, key = 0; ///< key: its position in the text
    token_kind kind = token_kind::unknown;                     ///< what the token was at that step
    double received = 0;                                       ///< sum of probabilities
    double seen = 0;                                           ///< queries that see it
    double share = 0;                                          ///< received / seen
    double baseline = 0;                                       ///< what uniform attention would give it
    double norm = 0, activation = 0;                           ///< NaN where unknown
    double number = 0, threshold = 0;                          ///< what was compared
    bool below = false;                                        ///< it had to be below
    char const* by = "";                                       ///< the rule
};

/// The sinks of one call. It knows what was looked at, so that "no sink" differs from "not observed".
class detection {
public:
    detection() = default;
    detection(index_t step, index_t layer, index_t batch, index_t heads, index_t keys)
        : step_(step), layer_(layer), keys_(batch, heads, keys), observed_(batch, heads, keys),
          heads_(static_cast<std::size_t>(batch) * static_cast<std::size_t>(heads)) {}

    /// What sink_masked takes at the next step.
    key_set const& keys() const& { return keys_; }
    /// What sink_masked takes at the next step.
    key_set keys() && { return std::move(keys_); }
    /// By batch entry, head, position.
    std::vector<sink> const& list() const& { return list_; }
    /// By batch entry, head, position.
    std::vector<sink> list() && { return std::move(list_); }
    /// The keys whose mass was known: visible to somebody, not padding, not NaN.
    key_set const& observed() const { return observed_; }
    /// What the rule knew of that head.
    head_facts<double> const& head(index_t b, index_t h) const {
        if (b < 0 || b >= batch() || h < 0 || h >= heads())
            detail::fail<argument_error>("detection: (", b, ", ", h, ") is outside of its extents (", batch(), ", ",
                                         heads(), ")");
        return heads_[index(b, h)];
    }
    index_t batch() const { return keys_.batch(); }
    index_t heads() const { return keys_.heads(); }
    index_t step() const { return step_; }
    index_t layer() const { return layer_; }
    /// Keys whose mass was NaN: never sinks.
    index_t invalid() const { return invalid_; }
    /// Heads in which no map whatever could have had a sink by this rule: too few keys or queries for its threshold.
    index_t unreachable() const { return unreachable_; }

    // For detectors: sinks come in order of batch entry, head, position.
    /// One more sink.
    void add(sink const& s) {
        keys_.insert(s.batch, s.head, s.key);
        list_.push_back(s);
    }
    /// Says that a key's mass was known.
    void observe(index_t b, index_t h, index_t key) { observed_.insert(b, h, key); }
    /// The same for several keys.
    void observe(index_t b, index_t h, index_t const* keys, index_t n) { observed_.insert(b, h, keys, n); }
    /// Keeps the facts of a head.
    void set_head(head_facts<double> const& facts) { heads_[index(facts.batch, facts.head)] = facts; }
    /// Counts a key whose mass was NaN.
    void count_invalid() { ++invalid_; }
    /// Counts a head in which nothing could have been a sink by this rule.
    void count_unreachable() { ++unreachable_; }

private:
    std::size_t index(index_t b, index_t h) const {
        return static_cast<std::size_t>(b) * static_cast<std::size_t>(heads()) + static_cast<std::size_t>(h);
    }

    index_t step_ = 0, layer_ = 0, invalid_ = 0, unreachable_ = 0;
    key_set keys_, observed_;
    std::vector<sink> list_;
    std::vector<head_facts<double>> heads_;
};

} // namespace basin
