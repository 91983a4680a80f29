// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include <basin/backend/simd.hpp>
#include <basin/detect.hpp>
#include <basin/measure/sweep.hpp>

#include <string>
#include <variant>

namespace sink_atlas {

/// basin::top_keys, but a head with fewer keys than that, as the first words of a text have, is no error: it gives all of them.
struct first_keys {
    basin::top_keys rule;
    template <class T>
    void judge(basin::row_of_keys<T> const& row, basin::verdict<T>* out) const {
        rule.judge(row, out);
    }
};

/// The rule of the command line: NAME or NAME:NUMBER.
class sink_rule {
public:
    /// Throws tiny_dlm::usage_error, one sentence, for a rule that does not exist.
    explicit sink_rule(std::string const& text);

    /// "exceeds_others:3", with the number that is used.
    std::string const& text() const { return text_; }
    /// The epsilon of exceeds_others; NaN for the other rules.
    double epsilon() const;

    /// The sinks among keys that at least `queries` queries see: under a causal mask the last keys have hardly been looked at.
    basin::detection find(basin::evidence<float> const& facts, double queries = 0) const;

private:
    std::variant<basin::exceeds_others, basin::outlier, basin::mass_share, first_keys> rule_;
    std::string text_;
};

} // namespace sink_atlas
