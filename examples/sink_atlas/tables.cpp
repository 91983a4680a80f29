// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#include "tables.hpp"

#include <basin/export.hpp>

namespace sink_atlas {
namespace {

/// Rows that are added one by one; a table wants columns.
class rows {
public:
    rows& text(std::string const& name, std::string value) { return texts(name).push_back(std::move(value)), *this; }
    rows& count(std::string const& name, long long value) { return counts(name).push_back(value), *this; }
    rows& number(std::string const& name, double value) { return numbers(name).push_back(value), *this; }
    void save(std::string const& path) const {
        basin::table t;
        for (auto const& c : columns_) {
            if (c.type == basin::table::kind::text)
                t.texts(c.name, c.texts);
            else if (c.type == basin::table::kind::integer)
                t.integers(c.name, c.integers);
            else
                t.numbers(c.name, c.numbers);
        }
        basin::write_csv(path, t);
    }

private:
    basin::table::column& column(std::string const& name, basin::table::kind type) {
        for (auto& c : columns_)
            if (c.name == name) return c;
        return columns_.emplace_back(basin::table::column{name, type, {}, {}, {}});
    }
    std::vector<std::string>& texts(std::string const& name) { return column(name, basin::table::kind::text).texts; }
    std::vector<long long>& counts(std::string const& name) {
        return column(name, basin::table::kind::integer).integers;
    }
    std::vector<double>& numbers(std::string const& name) { return column(name, basin::table::kind::number).numbers; }

    std::vector<basin::table::column> columns_;
};

void write_run(std::string const& folder, recording const& run, tiny_dlm::tokenizer const& words) {
    basin::write_npy(folder + "/received.npy", run.received);
    basin::write_npy(folder + "/relative.npy", run.relative);
    basin::write_npy(folder + "/value_norms.npy", run.norms);
    rows tokens;
    for (int s = 0; s <= run.steps; ++s)
        for (int k = 0; k < run.keys; ++k)
            tokens.count("step", s)
                .count("position", k)
                .text("token", words.name(run.token(s, k)))
                .text("kind", name_of(run.kind(s, k)));
    tokens.save(folder + "/tokens.csv");
    basin::detection all(0, 0, 1, run.heads, run.keys);
    for (auto const& found : run.found)
        for (basin::sink const& s : found.list()) all.add(s);
    basin::write_csv(folder + "/sinks.csv", basin::table_of(all));
    basin::write_csv(folder + "/tracks.csv", basin::table_of(run.tracks.lives()));
    basin::write_csv(folder + "/paths.csv", basin::paths_of(run.tracks.lives()));
    basin::write_csv(folder + "/events.csv", basin::table_of(run.events));
}

/// NAME.csv and NAME_tests.csv, if anything was measured.
void write_masking(std::string const& name, std::vector<masking_result> const& all,
                   std::vector<std::string> const& conditions, std::vector<int> const& counts, char const* before,
                   char const* after) {
    if (all.empty()) return;
    rows effects, tests;
    for (auto const& m : all) {
        for (std::size_t c = 0; c < m.series.size(); ++c)
            for (std::size_t i = 0; i < m.series[c].size(); ++i) {
                effect const& e = m.series[c][i];
                effects.text("model", m.model).text("hidden", conditions[c]).count("k", counts[i]);
                effects.number(before, m.before.mean).number(after, e.mean).number("low", e.low).number("high", e.high);
                effects.number("keys_hidden_per_head", e.killed);
            }
        for (auto const& c : m.report) {
            tests.text("model", m.model).text("comparison", c.name).count("pairs", c.pairs).number("mean", c.mean);
            tests.number("low", c.range.low)
                .number("high", c.range.high)
                .number("p_holm", c.p_holm)
                .count("effect", c.effect ? 1 : 0);
        }
    }
    effects.save(name + ".csv");
    tests.save(name + "_tests.csv");
}

} // namespace

void write_tables(std::string const& folder, results const& r) {
    write_run(folder, r.run, r.words);
    rows heads, holders, sweep, motion, variances, token;
    for (std::size_t i = 0; i < r.heads.size(); ++i) {
        auto const& h = r.heads[i];
        auto const at = static_cast<int>(i);
        heads.count("layer", at / r.run.heads)
            .count("head", at % r.run.heads)
            .count("births", h.births)
            .count("moves", h.moves);
        heads.number("absorbed", h.absorbed).number("norm_ratio", h.norm_ratio).number("restless", h.restless);
    }
    heads.save(folder + "/heads.csv");
    for (auto const& h : r.holders) holders.text("kind", h.kind).number("sinks", h.sinks).number("tokens", h.tokens);
    holders.save(folder + "/holders.csv");
    for (auto const& c : r.curves)
        for (std::size_t i = 0; i < c.share.size(); ++i)
            sweep.text("model", c.name).number("epsilon", r.thresholds[i]).number("share", c.share[i]);
    sweep.save(folder + "/sweep.csv");
    if (r.motion.size() > 1) {
        for (auto const& m : r.motion) {
            for (std::size_t i = 0; i < m.path.centroids.size(); ++i)
                motion.text("model", m.name)
                    .count("step", static_cast<long long>(i))
                    .number("centroid", m.path.centroids[i])
                    .number("centroid_of_uniform_attention", m.even.centroids[i]);
            variances.text("model", m.name);
            for (auto const& [end, path] : {std::pair{"", &m.path}, std::pair{"_of_uniform_attention", &m.even}})
                variances.number(std::string("temporal") + end, path->temporal)
                    .number(std::string("spatial") + end, path->spatial)
                    .number(std::string("stays") + end, path->stays);
        }
        motion.save(folder + "/motion.csv");
        variances.save(folder + "/variances.csv");
    }
    write_masking(folder + "/masking", r.masking, masking_conditions(), r.counts, "loss", "change");
    write_masking(folder + "/answers", r.answers, answer_conditions(), r.counts, "right_before", "right");
    if (!r.after.empty()) {
        for (std::size_t i = 0; i < r.after.size(); ++i) {
            auto const at = static_cast<int>(i);
            token.count("layer", at / r.run.heads)
                .count("head", at % r.run.heads)
                .number("sinks_without_token", r.before[i].sinks);
            token.number("token", r.after[i].keys).number("other_sinks_with_token", r.after[i].sinks);
        }
        token.save(folder + "/sink_token.csv");
    }
}

} // namespace sink_atlas
