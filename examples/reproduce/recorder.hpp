// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include "measure.hpp"
#include "treated.hpp"

#include <basin/measure.hpp>

namespace reproduce {

/// How columns of a causal map are read: against uniform attention (see layer_record), or as raw sums, which favour the first keys.
enum class columns { relative, raw };

/// Follows the sinks of a text that is being written.
class recorder {
public:
    recorder(tiny_dlm::model_config const& config, tiny_dlm::tokenizer const& words, index_t texts, columns how)
        : config_(config), words_(words), texts_(texts), how_(how), survival_(static_cast<std::size_t>(config.layers)),
          motion_(static_cast<std::size_t>(config.layers * texts)),
          top_(static_cast<std::size_t>(config.layers * texts * config.heads), -1),
          value_(static_cast<std::size_t>(2 * config.layers * config.heads)), seen_in_(value_.size()) {}

    /// One step: what the model saw, `length` tokens of each text.
    template <class Model> // watched_model or treated_model
    void add(Model const& model, std::vector<token_id> const& tokens, index_t length) {
        ++steps_;
        add_uniform(model.layers().front(), length);
        for (std::size_t i = 0; i < model.layers().size(); ++i)
            add_layer(model.layers()[i], static_cast<index_t>(i), tokens, length);
    }
    void put(measurement& m, std::string const& prefix) const {
        double const maps = static_cast<double>(maps_);
        for (std::size_t i = 0; i < sweep_.size(); ++i)
            m[prefix + "sweep"].push_back(static_cast<double>(sweep_[i]) / static_cast<double>(keys_));
        m[prefix + "maps_with_sink"] = {static_cast<double>(maps_with_sink_) / maps};
        m[prefix + "uniform_maps_with_sink"] = {static_cast<double>(uniform_with_sink_) / static_cast<double>(steps_)};
        m[prefix + "sinks_per_map"] = {static_cast<double>(sinks_) / maps};
        if (sinks_ > 0) { // of what was never seen there is no share
            for (long long const n : classes_)
                m[prefix + "classes"].push_back(static_cast<double>(n) / static_cast<double>(sinks_));
        }
        m[prefix + "extra_mass"] = {extra_mass_ / maps};
        m[prefix + "extra_uniform"] = {static_cast<double>(config_.extra_tokens()) / config_.rows()};
        m[prefix + "escaped"] = {escaped_ / static_cast<double>(steps_ * config_.layers)};
        if (top_pairs_ > 0)
            m[prefix + "top_stays"] = {static_cast<double>(top_stays_) / static_cast<double>(top_pairs_)};
        double survive = 0, half = 0;
        int counted = 0;
        for (basin::persistence const& p : survival_) {
            double const one = p.survival(1), life = p.half_life();
            if (one != one) continue;
            survive += one;
            half += std::min(life, static_cast<double>(steps_)); // not seen to the end: at least that long
            ++counted;
        }
        if (counted > 0) {
            m[prefix + "survival"] = {survive / counted};
            m[prefix + "half_life"] = {half / counted};
        }
        double lives = 0, single = 0;
        for (basin::life const& l : tracks_.lives()) {
            lives += static_cast<double>(l.steps);
            single += l.steps == 1 ? 1 : 0;
        }
        if (double const births = static_cast<double>(tracks_.births()); births > 0) {
            m[prefix + "life"] = {lives / births};
            m[prefix + "single_step"] = {single / births};
        }
        double temporal = 0, spatial = 0;
        int moving = 0;
        for (basin::motion const& x : motion_) {
            if (x.centroids().size() < 2) continue;
            temporal += x.temporal_variance();
            spatial += x.spatial_variance();
            ++moving;
        }
        if (moving > 0) {
            m[prefix + "temporal"] = {temporal / moving};
            m[prefix + "spatial"] = {spatial / moving};
        }
        m[prefix + "steps"] = {static_cast<double>(steps_)};
        for (std::size_t i = 0; i < value_.size(); ++i) { // even texts first, then odd ones
            m[prefix + "value_ratio"].push_back(seen_in_[i] == 0 ? 0 : value_[i] / static_cast<double>(seen_in_[i]));
            m[prefix + "sink_maps"].push_back(static_cast<double>(seen_in_[i]) * 2 * config_.layers * config_.heads /
                                              maps);
        }
    }

private:
    token_class class_of(std::vector<token_id> const& tokens, index_t text, index_t length, index_t row) const {
        index_t const extra = config_.extra_tokens(), begin = config_.extra_begin();
        if (extra > 0 && row >= begin && row < begin + extra) return token_class::extra;
        index_t const token = row < begin ? row : row - extra;
        token_id const t = tokens[static_cast<std::size_t>(text * length + token)];
        if (t == tiny_dlm::tokenizer::mask) return token_class::mask;
        if (t == tiny_dlm::tokenizer::eos) return token_class::end;
        std::string const& name = words_.name(t);
        if (name == "\n") return token_class::newline;
        bool const sign =
            name.size() == 1 && std::string_view(" .,;:|!?()'\"-").find(name[0]) != std::string_view::npos;
        return sign ? token_class::punctuation : token_class::letter;
    }
    /// The same rule on attention that prefers nobody: what the shape of the mask alone makes a sink. Only where somebody is
    /// seen by fewer than others, and no token was added.
    void add_uniform(layer_record const& layer, index_t length) {
        if (config_.kind == tiny_dlm::model_kind::masked_diffusion || config_.extra_tokens() > 0) return;
        basin::buffer<float, 3> received(1, 1, length), seen(1, 1, length);
        for (index_t key = 0; key < length; ++key)
            seen(0, 0, key) = how_ == columns::raw ? static_cast<float>(length) : layer.judged(0, 0, key);
        for (index_t query = 0; query < length; ++query) {
            index_t const end = sight(config_, query, length);
            double const weight = 1.0 / end, expected = 1.0 / end;
            for (index_t key = 0; key < end; ++key)
                received(0, 0, key) += static_cast<float>(how_ == columns::raw ? weight : weight / expected / length);
        }
        auto const facts = basin::evidence{received}.seen(seen).queries(length);
        uniform_with_sink_ += basin::detect(basin::reference_backend{}, facts, rule{}).keys().count() > 0 ? 1 : 0;
    }
    void add_layer(layer_record const& layer, index_t number, std::vector<token_id> const& tokens, index_t length) {
        index_t const rows = length + config_.extra_tokens(), heads = config_.heads;
        basin::buffer<float, 3> const& mass_of = how_ == columns::raw ? layer.received : layer.relative;
        basin::buffer<float, 3> seen = layer.judged;
        if (how_ == columns::raw) {
            for (index_t t = 0; t < texts_; ++t)
                for (index_t h = 0; h < heads; ++h)
                    for (index_t key = 0; key < rows; ++key) seen(t, h, key) = static_cast<float>(layer.queries);
        }
        auto const facts =
            basin::evidence{mass_of}.seen(seen).norms(layer.value_norm).queries(layer.queries).at(steps_ - 1, number);
        rule const judge;
        auto const found = basin::detect(basin::reference_backend{}, facts, judge);
        auto const curve = basin::sweep(facts, judge, {std::begin(sweep_epsilons), std::end(sweep_epsilons)});
        sweep_.resize(curve.sinks.size());
        for (std::size_t i = 0; i < sweep_.size(); ++i) sweep_[i] += curve.sinks[i];
        survival_[static_cast<std::size_t>(number)].add(found.keys());
        tracks_.update(found);
        escaped_ += layer.escaped;
        sinks_ += static_cast<long long>(found.list().size());
        for (basin::sink const& s : found.list())
            ++classes_[static_cast<std::size_t>(class_of(tokens, s.batch, length, s.key))];

        std::vector<double> mass(static_cast<std::size_t>(layer.received.extent(2)));
        for (index_t t = 0; t < texts_; ++t) {
            std::fill(mass.begin(), mass.end(), 0.0);
            for (index_t h = 0; h < heads; ++h) {
                ++maps_;
                bool const has = found.keys().count(t, h) > 0;
                maps_with_sink_ += has ? 1 : 0;
                double sum = 0, extra = 0, others = 0, sinks = 0;
                int other_count = 0, sink_count = 0;
                index_t best = -1;
                double most = -1;
                for (index_t key = 0; key < rows; ++key) {
                    if (seen(t, h, key) == 0) continue;
                    double const got = static_cast<double>(layer.received(t, h, key));
                    double const share = static_cast<double>(mass_of(t, h, key)) / static_cast<double>(seen(t, h, key));
                    ++keys_;
                    mass[static_cast<std::size_t>(key)] += share * layer.queries;
                    sum += got;
                    if (class_of(tokens, t, length, key) == token_class::extra) extra += got;
                    bool const is_sink = found.keys().contains(t, h, key);
                    (is_sink ? sinks : others) += static_cast<double>(layer.value_norm(t, h, key));
                    ++(is_sink ? sink_count : other_count);
                    if (share > most) {
                        most = share;
                        best = key;
                    }
                }
                extra_mass_ += sum > 0 ? extra / sum : 0;
                auto const head = static_cast<std::size_t>(((t % 2) * config_.layers + number) * heads + h);
                if (sink_count > 0 && other_count > 0 && others > 0) {
                    value_[head] += (sinks / sink_count) / (others / other_count);
                    ++seen_in_[head];
                }
                index_t& before = top_[static_cast<std::size_t>((number * texts_ + t) * heads + h)];
                if (before >= 0) {
                    ++top_pairs_;
                    top_stays_ += before == best ? 1 : 0;
                }
                before = has ? best : -1;
            }
            motion_[static_cast<std::size_t>(number * texts_ + t)].add(mass, found.keys(), t);
        }
    }

    tiny_dlm::model_config config_;
    tiny_dlm::tokenizer const& words_;
    index_t texts_;
    columns how_;
    index_t steps_ = 0;
    std::vector<long long> sweep_;
    long long keys_ = 0, maps_ = 0, maps_with_sink_ = 0, sinks_ = 0, top_pairs_ = 0, top_stays_ = 0,
              uniform_with_sink_ = 0;
    std::vector<long long> classes_ = std::vector<long long>(std::size(token_class_names));
    double extra_mass_ = 0, escaped_ = 0;
    std::vector<basin::persistence> survival_; // by layer
    std::vector<basin::motion> motion_;        // by layer and text
    std::vector<index_t> top_;                 // by layer, text and head: the strongest key of the last step, if a sink
    std::vector<double> value_; // by half of the texts, layer and head: norms of sinks over those of others
    std::vector<long long> seen_in_;
    basin::tracker tracks_;
};

} // namespace reproduce
