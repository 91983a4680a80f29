// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include <tiny_dlm/corpus.hpp>
#include <tiny_dlm/model.hpp>

#include <basin/backend/reference.hpp>
#include <basin/detect.hpp>
#include <basin/intervene.hpp>
#include <basin/track.hpp>

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
    row_matched, ///< as many as last_row, those to which the last token pays the most similar attention
};
constexpr char const* name_of(treatment t) {
    constexpr char const* names[] = {"nothing", "sinks",    "random",          "sticky",
                                     "matched", "last row", "random, for row", "matched, for row"};
    return names[static_cast<int>(t)];
}

/// The rule of the first paper, epsilon on the scale of sums.
using rule = basin::exceeds_others;

/// Keys that fewer queries see are neither judged nor counted among the others: the last key of a causal map is seen by itself
/// alone, which would make it a sink on most maps, and would raise what its neighbours are compared with.
inline constexpr float seen_at_least = 8;

/// What one layer did at a step, for all texts, by rows of the whole text (rows that are not there yet were seen by nobody).
/// Tokens that see nothing but themselves are no queries: what they pay to themselves says nothing.
struct layer_record {
    basin::buffer<float, 3> received, seen,
        value_norm;                 ///< (text, head, row): sums of attention, queries that see the key
    basin::buffer<float, 3> judged; ///< `seen` of the keys that are asked about, 0 for the others
    /// What the rule is asked about. Each weight is divided by what uniform attention would pay, which is one over the keys that the
    /// query sees; then, per query of the map, so that it is `received` where everybody sees everybody. Uniform attention
    /// gives every key the same share of those who see it, whatever the mask. Raw sums do not, nor sums divided by the queries that see the key:
    /// under a causal mask key 0 of n has 1 + 1/2 + ... + 1/n, and all n queries see it.
    basin::buffer<float, 3> relative;
    basin::buffer<float, 3> last_row; ///< (text, head, row): the attention of the last token
    index_t queries = 0;
    double escaped = 0; ///< mass that went to sinks in the denominator, per query
    basin::detection found;

    /// For detection: `relative`, by queries.
    basin::evidence<float> facts(index_t step, index_t layer) const {
        return basin::evidence{relative}.seen(judged).norms(value_norm).queries(queries).at(step, layer);
    }
};

/// The first key that a query of a map with `rows` rows does not see.
index_t sight(tiny_dlm::model_config const& c, index_t query, index_t rows);

/// How much was hidden: keys, their share of all attention of the map on which they were chosen, and of its last row.
struct dose {
    double keys = 0, mass = 0, row_mass = 0;
    int maps = 0;

    void add(layer_record const& chosen_on, basin::key_set const& keys_of_all);
    std::vector<double> per_map() const {
        double const n = std::max(1, maps);
        return {keys / n, mass / n, row_mass / n};
    }
};

/// Runs a model and keeps what its layers did.
class watched_model {
public:
    watched_model(tiny_dlm::model<float> const& net, index_t texts);

    /// The next step: logits (text, length, vocabulary) of texts that have `length` tokens so far. `hide`: one set of keys for each layer,
    /// or none.
    basin::buffer<float, 3> step(std::vector<token_id> const& tokens, index_t length,
                                 std::vector<basin::key_set> const& hide = {});

    /// Of the last step.
    std::vector<layer_record> const& layers() const { return layers_; }
    index_t steps() const { return step_; }

private:
    void relate(tiny_dlm::layer_report<float> const& r, layer_record& to,
                std::vector<basin::key_set> const& hide) const;

    tiny_dlm::model<float> const& net_;
    index_t texts_, heads_;
    index_t step_ = 0;
    std::vector<layer_record> layers_;
};

/// The keys to hide at the next step; sticky ones need a memory, see treated_model.
basin::key_set choose_keys(layer_record const& seen, treatment what, index_t count, std::uint64_t seed);

/// Runs steps of a model, with the treatment.
class treated_model {
public:
    treated_model(tiny_dlm::model<float> const& net, index_t texts, treatment what, index_t count, std::uint64_t seed)
        : watched_(net, texts), what_(what), count_(count), seed_(seed), sticky_(seed) {}

    /// The next step, as watched_model's.
    basin::buffer<float, 3> step(std::vector<token_id> const& tokens, index_t length);

    /// Of the last step.
    std::vector<layer_record> const& layers() const { return watched_.layers(); }
    /// Over the steps that had an earlier one.
    dose const& hidden() const { return hidden_; }

private:
    basin::key_set choose(layer_record const& seen);

    watched_model watched_;
    treatment what_;
    index_t count_;
    std::uint64_t seed_;
    dose hidden_, next_; // next_: with what the next step hides
    std::vector<basin::key_set> hide_;
    basin::tracker tracker_;
    basin::sticky_keys sticky_;
};

} // namespace reproduce
