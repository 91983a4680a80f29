// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include <tiny_dlm/sampler.hpp>

#include <string>
#include <vector>

namespace sink_atlas {

/// The text taking shape. On a terminal it rewrites itself in place, sinks on a coloured ground; elsewhere, or where colour is
/// not wanted (NO_COLOR, TERM=dumb), a few plain pictures with sinks between asterisks.
class screen {
public:
    explicit screen(tiny_dlm::tokenizer const& words);

    /// A step of the one text that is written, of `steps` steps if it is known how many there will be, else 0; `sinks` has the mass of the strongest sink at each position, or 0.
    void show(tiny_dlm::sampling_step const& now, int steps, std::vector<double> const& sinks);
    bool live() const { return live_; }

private:
    std::string draw(tiny_dlm::sampling_step const& now, std::vector<double> const& sinks) const;
    std::string strongest(tiny_dlm::sampling_step const& now, std::vector<double> const& sinks) const;

    tiny_dlm::tokenizer const& words_;
    bool live_;
    int width_ = 80, lines_ = 0, shown_ = -1, masked_ = 0; // masked_: before the first step
};

/// What a token is called in the atlas: "newline", "punctuation", "word", "[MASK]", ...
std::string surface_of(tiny_dlm::tokenizer const& words, tiny_dlm::token_id token);

} // namespace sink_atlas
