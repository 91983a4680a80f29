// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include "plan.hpp"

#include <map>
#include <string>
#include <vector>

namespace reproduce {

/// Everything that was measured of one model, by name: one number, one per text, or one per head.
using measurement = std::map<std::string, std::vector<double>>;

inline constexpr double sweep_epsilons[] = {0, 1, 2, 3, 5, 10};
inline constexpr int masked_counts[] = {1, 5, 10};
enum class token_class { mask, newline, punctuation, letter, end, extra };
inline constexpr char const* token_class_names[] = {"[MASK]",         "newline", "punctuation, space",
                                                    "letter or word", "[EOS]",   "token added for sinks"};

/// Loss and accuracy; then a text is written while sinks are followed. `masking`: also what hiding sinks costs.
measurement measure(tiny_dlm::model<float> const& net, tiny_dlm::corpus const& texts, settings const& s, bool masking);

} // namespace reproduce
