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
    int seeds = 5;         ///< of the models that the claims rest on: the tasks and English words
    int variant_seeds = 5; ///< of those that places, numbers and kinds of sinks are compared with
    int more_seeds = 5;    ///< of larger models and of English characters, to see which way it goes
    int steps = 600; ///< of small models on the tasks, twice as many on texts; larger ones are as the committed ones
    int texts = 32;  ///< that each model is followed on; loss and accuracy are of four times as many
    int threads = 1;
    std::string out = "build/reproduce"; ///< models and measurements, by which a run is resumed
    std::string text;                    ///< an English text; empty: English is left out
    std::string weights = "examples/tiny_dlm/weights";
};

/// One model.
struct run {
    std::string corpus;  ///< "tasks", "words", "characters"
    std::string size;    ///< "small", "large"
    std::string variant; ///< "dlm", "arm", "block", "token", "token_middle", ...
    std::uint64_t seed = 1;
    tiny_dlm::recipe how;
    std::string checkpoint; ///< empty: to be trained

    std::string name() const { return corpus + "-" + size + "-" + variant + "-" + std::to_string(seed); }
};

/// The texts of a corpus by its name; each is read once.
tiny_dlm::corpus const& texts_of(std::string const& corpus, basin::index_t length, settings const& s);

/// Every model, those first that most claims rest on.
std::vector<run> plan(settings const& s);

/// The sink variants that are compared on the same footing: their name here, what it is, and the committed model.
struct variant_name {
    char const *name, *words, *checkpoint;
};
std::vector<variant_name> const& sink_variants();

} // namespace reproduce
