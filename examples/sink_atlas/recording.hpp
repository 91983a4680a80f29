// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include "rule.hpp"
#include <tiny_dlm/model.hpp>
#include <tiny_dlm/sampler.hpp>

#include <basin/intervene/controls.hpp>
#include <basin/track.hpp>

#if __has_include(<xtensor/containers/xtensor.hpp>) // xtensor 0.26 moved its headers
#include <xtensor/containers/xtensor.hpp>
#else
#include <xtensor/xtensor.hpp>
#endif

#include <memory>
#include <vector>

namespace sink_atlas {

using array = xt::xtensor<float, 4>; ///< [step, layer, head, key]
using tiny_dlm::token_id;

/// Where (a, b, c) stands in a row-major array of extents (any, nb, nc).
inline std::size_t place_of(int a, int nb, int b, int nc = 1, int c = 0) {
    auto const wide = [](int x) { return static_cast<std::size_t>(x); };
    return (wide(a) * wide(nb) + wide(b)) * wide(nc) + wide(c);
}

/// All that was seen while a text was written. Keys are rows of the model: the text, and tokens that the model adds.
struct recording {
    int steps = 0, layers = 0, heads = 0, keys = 0, prompt = 0;
    array received, norms;
    array
        of_text; ///< received from the text's own tokens: a sink token, which sees only itself, pays itself everything
    array
        relative; ///< the mean, over the text's tokens that see the key, of what they pay over what even attention would
    array seen;   ///< how many of the text's tokens see the key
    xt::xtensor<float, 2> even;           ///< [step, key]: of_text, if every token spread its attention evenly
    std::vector<token_id> tokens;         ///< [step + 1, key]: what each step saw, and the end
    std::vector<basin::token_kind> kinds; ///< [step + 1, key]
    std::vector<basin::detection> found;  ///< [step, layer]
    std::vector<basin::track_event> events;
    basin::tracker tracks;

    basin::detection const& at(int step, int layer) const { return found[place_of(step, layers, layer)]; }
    token_id token(int step, int key) const { return tokens[place_of(step, keys, key)]; }
    basin::token_kind kind(int step, int key) const { return kinds[place_of(step, keys, key)]; }
};

/// Which keys are hidden instead of sinks, as many in each head, or as many as there are.
enum class control_kind : std::uint8_t { none, random, sticky, position, mass };

/// Sinks of a step are hidden at the next.
struct masking_plan {
    int strongest = 0; ///< this many of each head; 0: nothing is hidden
    control_kind control = control_kind::none;
    std::uint64_t seed = 1;
};

/// Watches one text being written: gathers statistics, finds sinks, follows them, chooses what the next step hides.
class recorder {
public:
    recorder(tiny_dlm::model_config const& config, int length, int prompt, sink_rule const& rule,
             double queries_at_least = 0);

    /// To be given to model::logits; it writes into this object.
    tiny_dlm::observer<float> watch();
    /// After each pass: the text that the model saw. The text may be shorter than `length`; what is beyond it was not observed.
    void step(std::span<token_id const> tokens);
    /// What the next step hides under a plan, one set per layer.
    std::vector<basin::key_set> chosen(masking_plan const& plan);
    /// Of the last step: the strongest sink mass at each position of the text, 0 where none is.
    std::vector<double> strongest_by_position() const;
    recording const& so_far() const { return record_; }
    recording finish(std::span<token_id const> tokens);

private:
    /// Who sees whom when the model has so many rows.
    struct sight {
        int rows = 0;
        bool full = true; ///< every row sees all keys, and none was added to the text
        std::vector<float> reach,
            one; ///< by query: how many keys it sees, and 1; 0 for tokens that are not of the text
        std::vector<float> seen, even; ///< by key
    };
    void note_tokens(std::span<token_id const> tokens);
    void look_around(int rows);
    tiny_dlm::model_config of_rows(int rows) const; ///< a text that grows is one of a shorter model
    void weigh(tiny_dlm::layer_report<float> const& report);

    tiny_dlm::model_config config_;
    sink_rule rule_;
    double queries_at_least_;
    int length_;
    recording record_;
    sight sight_;
    struct measured {
        std::vector<float> received, of_text, relative, seen, norms;
        template <class F>
        void each(F const& f) {
            for (auto* x : {&received, &of_text, &relative, &seen, &norms}) f(*x);
        }
    };
    measured all_, now_; // of all steps so far; [layer, head, key] of this step
    std::vector<float> even_;
    std::unique_ptr<basin::sticky_keys> partners_;
};

} // namespace sink_atlas
