// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#include "masking.hpp"

#include "budget.hpp"

#include <tiny_dlm/random.hpp>

#include <cmath>

namespace sink_atlas {
namespace {

using tiny_dlm::model_kind;

/// What the model reads, and where it is judged.
struct exercise {
    std::vector<int> input;
    std::vector<std::vector<int>> judged; ///< positions of each text that are to be predicted
};

exercise make_exercise(tiny_dlm::model_config const& config, passages const& texts, std::uint64_t seed) {
    exercise result;
    tiny_dlm::random_numbers const random{{seed}};
    for (std::size_t t = 0; t < texts.texts.size(); ++t) {
        auto text = texts.texts[t];
        std::vector<int> judged;
        for (int i = texts.prompt[t]; i < texts.length; ++i) {
            if (config.kind == model_kind::autoregressive) {
                if (i > 0) judged.push_back(i);
            } else if (random.unit(static_cast<int>(t), i) < 0.5) {
                judged.push_back(i);
                text[static_cast<std::size_t>(i)] = tiny_dlm::tokenizer::mask;
            }
        }
        result.judged.push_back(std::move(judged));
        result.input.insert(result.input.end(), text.begin(), text.end());
    }
    return result;
}

/// The mean cross-entropy of each text, in nats.
std::vector<double> losses(tiny_dlm::model<float> const& model, passages const& texts, exercise const& what,
                           tiny_dlm::observer<float> const& watch) {
    auto const logits = model.logits(what.input, texts.length, watch);
    int const words = model.config().vocabulary, ahead = model.config().kind == model_kind::autoregressive ? 1 : 0;
    std::vector<double> result;
    for (std::size_t t = 0; t < texts.texts.size(); ++t) {
        double sum = 0;
        for (int const i : what.judged[t]) {
            float const* const row = &logits(static_cast<int>(t), i - ahead, 0);
            double most = row[0], total = 0;
            for (int w = 1; w < words; ++w) most = std::max<double>(most, row[w]);
            for (int w = 0; w < words; ++w) total += std::exp(row[w] - most);
            sum += most + std::log(total) - row[texts.texts[t][static_cast<std::size_t>(i)]];
        }
        result.push_back(sum / static_cast<double>(std::max<std::size_t>(1, what.judged[t].size())));
    }
    return result;
}

/// The sinks of each layer, over all texts, and the mass they were found in.
struct layer_facts {
    basin::buffer<float, 3> mass, seen;
    basin::detection found;
};

} // namespace

std::vector<basin::comparison> compare(std::vector<std::string> const& names,
                                       std::vector<std::vector<double>> const& measured) {
    basin::experiment trial(names);
    for (std::size_t i = 2; i < names.size(); ++i) trial.contrast(names[1], names[i]);
    for (std::size_t t = 0; t < measured.front().size(); ++t) {
        std::vector<double> row;
        row.reserve(measured.size());
        for (auto const& m : measured) row.push_back(m[t]);
        trial.add(row);
    }
    return trial.report();
}

masking_result mask_sinks(tiny_dlm::model<float> const& model, std::string name, passages const& texts,
                          sink_rule const& rule, double queries_at_least, std::vector<int> const& counts,
                          std::uint64_t seed, std::function<void()> const& on_pass) {
    auto const& config = model.config();
    int const number = static_cast<int>(texts.texts.size()), rows = texts.length + config.extra_tokens();
    auto const what = make_exercise(config, texts, seed);

    std::vector<layer_facts> facts(static_cast<std::size_t>(config.layers));
    for (auto& f : facts) f.mass = f.seen = basin::buffer<float, 3>(number, config.heads, rows);
    tiny_dlm::observer<float> watch;
    watch.look = [&](tiny_dlm::layer_report<float> const& report) { // threads have different texts
        auto& f = facts[static_cast<std::size_t>(report.layer)];
        for (int t = 0; t < report.received.extent(0); ++t)
            for (int h = 0; h < config.heads; ++h)
                for (int key = 0; key < rows; ++key) {
                    f.mass(report.first_text + t, h, key) = report.received(t, h, key);
                    f.seen(report.first_text + t, h, key) = report.seen(t, h, key);
                }
    };
    auto const plain = losses(model, texts, what, watch);
    on_pass();
    for (std::size_t l = 0; l < facts.size(); ++l)
        facts[l].found = rule.find(
            basin::evidence<float>{facts[l].mass}.seen(facts[l].seen).queries(rows).at(0, static_cast<int>(l)),
            queries_at_least);

    auto const& conditions = masking_conditions();
    auto const usual = basin::bootstrap_mean(plain);
    masking_result result{std::move(name),
                          {basin::detail::mean_of(plain), usual.low, usual.high, 0},
                          std::vector<std::vector<effect>>(conditions.size()),
                          {}};
    for (int const count : counts) {
        std::string const k = " (K = " + std::to_string(count) + ")";
        std::vector<basin::key_set> budgets;
        budgets.reserve(facts.size());
        for (auto const& f : facts) budgets.push_back(basin::strongest(f.found, count).keys);
        bool comparable = true;
        for (std::size_t l = 0; l < facts.size(); ++l)
            comparable = comparable && has_control(facts[l].found, budgets[l]);
        std::vector<std::vector<double>> measured = {plain};
        std::vector<std::string> names = {"nothing"};
        std::vector<double> killed;
        for (std::size_t c = 0; c < conditions.size(); ++c) {
            if (c == 0 || comparable) {
                tiny_dlm::observer<float> blind;
                double hidden = 0;
                for (std::size_t l = 0; l < facts.size(); ++l) {
                    auto const& f = facts[l];
                    blind.hide.push_back(c == 0   ? budgets[l]
                                         : c == 1 ? basin::random_keys(f.found, budgets[l], seed).keys
                                                  : basin::mass_matched(f.found, budgets[l], f.mass).keys);
                    hidden += blind.hide.back().count();
                }
                killed.push_back(hidden / (static_cast<double>(number) * config.layers * config.heads));
                measured.push_back(losses(model, texts, what, blind));
                names.push_back(conditions[c] + k);
            }
            on_pass();
        }
        auto const report = compare(names, measured);
        for (std::size_t c = 0; c < conditions.size(); ++c)
            result.series[c].push_back(
                c < killed.size() ? effect{report[c].mean, report[c].range.low, report[c].range.high, killed[c]}
                                  : no_effect);
        result.report.insert(result.report.end(), report.begin(), report.end());
    }
    return result;
}

} // namespace sink_atlas
