// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include <tiny_dlm/corpus.hpp>
#include <tiny_dlm/model.hpp>

#include <basin/backend/reference.hpp>
#include <basin/detect.hpp>
#include <basin/intervene.hpp>
#include <basin/track.hpp>

#include <optional>

// A model whose keys are hidden from step to step: sinks of one step at the next, or as many other keys.
namespace reproduce {

using basin::index_t;
using tiny_dlm::token_id;

/// Which keys the next step hides.
enum class treatment {
    nothing,
    sinks,       ///< the strongest of each head by the rule
    random,      ///< as many others, drawn at each step
    sticky,      ///< as many others, the same while the sink lives
    matched,     ///< as many others, those of the most similar mass
    last_row,    ///< the keys that the last token attends to most: what the first paper did to the autoregressive model
    row_random,  ///< as many as last_row, at random
    row_matched, ///< as many as last_row, those of the most similar mass
};
constexpr char const* name_of(treatment t) {
    constexpr char const* names[] = {"nothing", "sinks",    "random",          "sticky",
                                     "matched", "last row", "random, for row", "matched, for row"};
    return names[static_cast<int>(t)];
}

/// The rule of the first paper, epsilon on the scale of sums, each column divided by the queries that see it. Keys that very
/// few queries see are left out: the last key of a causal map is seen by itself alone, which would always make it a sink.
struct rule {
    basin::exceeds_others base{};
    double seen_at_least = 8;

    template <class T>
    basin::verdict<T> operator()(basin::key_facts<T> const& key, basin::head_facts<T> const& head) const {
        auto v = base(key, head);
        v.fires = v.fires && static_cast<double>(key.seen) >= seen_at_least;
        return v;
    }
};

/// What one layer did at a step, for all texts, by rows of the whole text (rows that are not there yet were seen by nobody).
struct layer_record {
    basin::buffer<float, 3> received, seen, value_norm; ///< (text, head, row)
    basin::buffer<float, 3> last_row;                   ///< (text, head, row): the attention of the last token
    double escaped = 0;                                 ///< mass that went to sinks in the denominator, per query
    basin::detection found;
};

/// Runs steps of a model, with the treatment.
class treated_model {
public:
    treated_model(tiny_dlm::model<float> const& net, index_t texts, treatment what, index_t count, std::uint64_t seed);

    /// The next step: logits (text, length, vocabulary) of texts that have `length` tokens so far.
    basin::buffer<float, 3> step(std::vector<token_id> const& tokens, index_t length);

    /// Of the last step.
    std::vector<layer_record> const& layers() const { return layers_; }
    index_t steps() const { return step_; }
    /// Keys hidden per head, text and step, over the steps that had an earlier one.
    double killed() const;
    /// The share of all attention that these keys had on the map on which they were chosen.
    double killed_mass() const;
    /// Only this head is treated.
    void only(index_t layer, index_t head) { only_ = {layer, head}; }

private:
    basin::key_set choose(index_t layer);
    basin::key_set strongest_of_last_row(layer_record const& seen) const;
    bool reads_last_row() const { return what_ >= treatment::last_row; }
    double maps() const; // in which keys were hidden

    tiny_dlm::model<float> const& net_;
    index_t texts_, rows_, heads_;
    treatment what_;
    index_t count_;
    std::uint64_t seed_;
    index_t step_ = 0;
    double killed_ = 0, mass_ = 0, mass_chosen_ = 0; // mass_chosen_: of the keys that the next step hides
    std::optional<std::pair<index_t, index_t>> only_;
    std::vector<layer_record> layers_;
    std::vector<basin::key_set> hide_;
    basin::tracker tracker_;
    basin::sticky_keys sticky_;
};

} // namespace reproduce
