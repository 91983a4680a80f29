// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include "recording.hpp"

#include <basin/intervene/experiment.hpp>

#include <tiny_dlm/tokenizer.hpp>

#include <functional>
#include <limits>
#include <string>
#include <vector>

// What hiding sinks costs, on texts that the model did not learn from, against hiding as many other keys.
namespace sink_atlas {

/// Texts of one length whose first prompt[i] tokens are given.
struct passages {
    int length = 0;
    std::vector<std::vector<token_id>> texts;
    std::vector<int> prompt;
};

/// One condition with one number of keys, with the interval of the mean. All NaN: a control that could not be had, because
/// somewhere more sinks were to be hidden than there were other keys.
struct effect {
    double mean, low, high;
    double killed; ///< keys really hidden, per head and text
};
struct masking_result {
    std::string model;
    effect before{};                         ///< with nothing hidden
    std::vector<std::vector<effect>> series; ///< [condition][count]
    std::vector<basin::comparison> report;   ///< of all counts: against nothing, and sinks against each control
};

inline std::vector<std::string> const& masking_conditions() {
    static std::vector<std::string> const names = {"sinks", "other keys at random", "other keys of like attention"};
    return names;
}

inline std::vector<std::string> const& answer_conditions() {
    static std::vector<std::string> const names = {"sinks", "other keys, kept while a sink lives",
                                                   "other keys of like attention"};
    return names;
}

constexpr effect no_effect{std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::quiet_NaN(),
                           std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::quiet_NaN()};

/// Conditions on the same texts: measured[condition][text], the first is the baseline, the second is set against those after it.
std::vector<basin::comparison> compare(std::vector<std::string> const& names,
                                       std::vector<std::vector<double>> const& measured);

/// The change of the loss, in nats per predicted token.
/// Sinks are found in a pass over the same text, layer by layer; the strongest `counts[i]` of each head are hidden in the next
/// pass. Diffusion models predict a seeded half of the tokens, autoregressive ones each next token. `on_pass` is called after
/// each pass, counts.size() * 3 + 1 times.
masking_result mask_sinks(tiny_dlm::model<float> const& model, std::string name, passages const& texts,
                          sink_rule const& rule, double queries_at_least, std::vector<int> const& counts,
                          std::uint64_t seed, std::function<void()> const& on_pass);

/// The share of right answers. Tasks are written to the end; sinks found at one step are hidden at the next, on the map as it
/// was, hidden keys included. `on_pass` is called after all texts were written, counts.size() * 3 + 1 times.
masking_result mask_answers(tiny_dlm::model<float> const& model, tiny_dlm::tokenizer const& words, std::string name,
                            passages const& tasks, sink_rule const& rule, double queries_at_least,
                            std::vector<int> const& counts, std::uint64_t seed, std::function<void()> const& on_pass);

} // namespace sink_atlas
