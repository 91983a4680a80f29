// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include <tiny_dlm/corpus.hpp>
#include <tiny_dlm/trainer.hpp>

#include <string>
#include <vector>

// What is trained and measured.
namespace reproduce {

/// What the command line decides.
struct settings {
    int seeds = 5;         ///< of the models that the claims rest on
    int variant_seeds = 3; ///< of those that places, numbers and kinds of sinks are compared with
    int large_seeds = 2;   ///< of larger ones, to see which way it goes with size
    int steps = 600;
    int texts = 32; ///< that each model is measured on
    int threads = 1;
    std::string out = "build/reproduce"; ///< models and measurements, by which a run is resumed
    std::string text;                    ///< the English text of the committed word models; empty: they are left out
    std::string weights = "examples/tiny_dlm/weights";
};

/// One model.
struct run {
    std::string corpus;  ///< "tasks", "words"
    std::string size;    ///< "small", "large", "committed"
    std::string variant; ///< "dlm", "arm", "block", "token", "token_middle", ...
    std::uint64_t seed = 1;
    tiny_dlm::recipe how;
    std::string checkpoint; ///< empty: to be trained

    std::string name() const { return corpus + "-" + size + "-" + variant + "-" + std::to_string(seed); }
};

/// Every model, those first that most claims rest on.
std::vector<run> plan(settings const& s);

/// The sink variants that are compared on the same footing: their name here, and what it is.
struct variant_name {
    char const *name, *words;
};
std::vector<variant_name> const& sink_variants();

} // namespace reproduce
