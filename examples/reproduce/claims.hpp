// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include "measure.hpp"

namespace reproduce {

/// By which command, at which commit.
struct provenance {
    std::string command, commit;
};

/// What was measured of which model.
struct result {
    run model;
    measurement numbers;
    provenance measured{};
};
using results = std::vector<result>;

/// A number with its interval: over models of different seeds, or over texts or heads of all of them.
struct figure {
    std::string words;
    double mean = 0, low = 0, high = 0;
    int pairs = 0;         ///< how many independent numbers it is the mean of
    bool interval = false; ///< low and high are a 95 % interval of the mean; else the smallest and largest number
    std::string note;
    double p = -1; ///< of a test against 0, not yet corrected; below 0: none was made
};

/// Where a claim was looked at: a corpus and a size of models.
struct setting {
    char const *corpus, *size, *words;
};
inline constexpr setting places[] = {{"tasks", "small", "tasks"},
                                     {"words", "small", "English words"},
                                     {"tasks", "large", "tasks, larger"},
                                     {"words", "large", "English words, larger"},
                                     {"characters", "small", "English characters"},
                                     {"characters", "large", "English characters, larger"}};

/// What became of a claim in one setting. The same rule everywhere; it needs three seeds, and five where the claim says so.
struct finding {
    std::string verdict = "not measured"; ///< "holds", "does not hold", "cannot be seen at this scale", "not measured"
    std::string reason;                   ///< one or two sentences
    int seeds = 0;
};

/// A claim of a paper, and what became of it here.
struct claim {
    std::string letter, sentence, paper;
    std::string rule;                       ///< by which it is judged, fixed beforehand
    int needed = 3;                         ///< seeds
    std::map<std::string, finding> found{}; ///< by the words of the setting
    std::vector<figure> ours{};
};

/// All claims, from whatever was measured.
std::vector<claim> judge(results const& all);

/// Its parts: a, b and d; c; e, f and g.
std::vector<claim> judge_sinks(results const& all);
std::vector<claim> judge_masking(results const& all);
std::vector<claim> judge_tokens(results const& all);

} // namespace reproduce
