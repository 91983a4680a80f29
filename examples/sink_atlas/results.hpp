// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include "analysis.hpp"
#include "masking.hpp"

#include <string>
#include <vector>

namespace sink_atlas {

/// One line of the chart "do sinks move?".
struct motion_series {
    std::string id, name, brief; ///< id: dlm, arm, or raw (the twin on raw column sums)
    path_of_sinks path, even;    ///< even: what even attention under the same masks gives
};

/// All that the page shows; parts for which a model is missing are empty, and `absent` says why.
struct results {
    std::string command, model, prompt;
    std::uint64_t seed = 0;
    long parameters = 0;
    masking_plan plan;
    tiny_dlm::tokenizer words;
    sink_rule rule{"exceeds_others:3"};
    recording run;

    std::vector<head_summary> heads;
    std::vector<holder> holders;
    std::vector<double> thresholds;
    std::vector<curve> curves;
    std::vector<motion_series> motion;
    std::vector<int> counts;
    std::vector<masking_result> masking, answers; ///< by loss, and by the answers of the synthetic tasks
    std::vector<taken> before, after;             ///< without and with a sink token
    int rows_after = 0, tokens_after = 0; ///< keys of the model with sink tokens, and how many of them these are
    struct reasons {
        std::string arm, masking, answers, token;
    } absent;

    curve const* curve_of(std::string const& id) const;
    /// The head that the page shows first: sinks that move much and hold much.
    int first_head() const;
};

/// One sentence per figure, from the numbers of this run.
struct sentences {
    std::string map, overview, holders, sweep, motion, norms, answers, masking, token;
};
sentences say(results const& r);

/// printf into a string.
[[gnu::format(printf, 1, 2)]] std::string said(char const* format, ...);

/// Writes the tables and arrays, then the page that links to them. Returns the path of the page.
std::string write_atlas(std::string const& folder, results const& r);

} // namespace sink_atlas
