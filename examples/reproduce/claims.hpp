// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include "measure.hpp"

namespace reproduce {

/// What was measured of which model.
struct result {
    run model;
    measurement numbers;
};
using results = std::vector<result>;

/// A number with its interval: over models of different seeds, or over texts of all of them.
struct figure {
    std::string words;
    double mean = 0, low = 0, high = 0;
    int pairs = 0;         ///< how many independent numbers it is the mean of
    bool interval = false; ///< low and high are a 95 % interval of the mean; else the smallest and largest number
    std::string note;
};

/// A claim of a paper, and what became of it here.
struct claim {
    std::string letter, sentence, paper;
    std::vector<figure> ours;
    std::string verdict; ///< "holds", "does not hold", "cannot be seen at this scale", "not measured"
    std::string reason;  ///< one or two sentences
};

/// All claims, from whatever was measured.
std::vector<claim> judge(results const& all);

} // namespace reproduce
