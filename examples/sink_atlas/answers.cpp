// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#include "budget.hpp"
#include "masking.hpp"

#include <tiny_dlm/corpus.hpp>

namespace sink_atlas {
namespace {

using tiny_dlm::model_kind;

enum class hidden { nothing, sinks, kept, alike };

/// Thrown through the sampler: there are fewer other keys than sinks to be hidden.
struct no_control {};

/// Steps of a model that writes all texts at once: what is found on the map of a step is hidden at the next.
class blinded_steps {
public:
    blinded_steps(tiny_dlm::model<float> const& model, int texts, sink_rule const& rule, double queries_at_least,
                  hidden what, int count, std::uint64_t seed)
        : model_(model), rule_(rule), queries_at_least_(queries_at_least), what_(what), count_(count), partners_(seed) {
        auto const& c = model.config();
        for (int l = 0; l < c.layers; ++l)
            layers_.push_back(
                {basin::buffer<float, 3>(texts, c.heads, c.rows()), basin::buffer<float, 3>(texts, c.heads, c.rows())});
    }

    /// Logits (text, length, word) of texts that have `length` tokens so far.
    basin::buffer<float, 3> step(std::vector<token_id> const& tokens, int length) {
        int const rows = length + model_.config().extra_tokens();
        for (auto& layer : layers_) {
            layer.mass.fill(0);
            layer.seen.fill(0);
        }
        tiny_dlm::observer<float> watch;
        watch.hide = hide_;
        watch.look = [&](tiny_dlm::layer_report<float> const& report) { // threads have different texts
            auto& layer = layers_[static_cast<std::size_t>(report.layer)];
            for (int t = 0; t < report.received.extent(0); ++t)
                for (int h = 0; h < model_.config().heads; ++h)
                    for (int key = 0; key < rows; ++key) {
                        layer.mass(report.first_text + t, h, key) = report.received(t, h, key);
                        layer.seen(report.first_text + t, h, key) = report.seen(t, h, key);
                    }
        };
        auto logits = model_.logits(tokens, length, what_ == hidden::nothing ? tiny_dlm::observer<float>{} : watch);
        if (what_ != hidden::nothing) choose(rows);
        return logits;
    }
    /// Keys hidden per head and step.
    double killed() const { return maps_ == 0 ? 0 : killed_ / maps_; }

private:
    struct layer_mass {
        basin::buffer<float, 3> mass, seen;
    };
    void choose(int rows) {
        if (step_ > 0)
            for (auto const& set : hide_) {
                killed_ += set.count();
                maps_ += static_cast<double>(set.batch()) * set.heads();
            }
        hide_.clear();
        for (std::size_t l = 0; l < layers_.size(); ++l) {
            auto const& layer = layers_[l];
            auto const found = rule_.find(
                basin::evidence<float>{layer.mass}.seen(layer.seen).queries(rows).at(step_, static_cast<int>(l)),
                queries_at_least_);
            tracks_.update(found);
            auto const budget = basin::strongest(found, count_).keys;
            if (what_ != hidden::sinks && !has_control(found, budget)) throw no_control();
            hide_.push_back(what_ == hidden::sinks  ? budget
                            : what_ == hidden::kept ? partners_.draw(found, budget, tracks_).keys
                                                    : basin::mass_matched(found, budget, layer.mass).keys);
        }
        ++step_;
    }

    tiny_dlm::model<float> const& model_;
    sink_rule const& rule_;
    double queries_at_least_;
    hidden what_;
    int count_, step_ = 0;
    std::vector<layer_mass> layers_;
    std::vector<basin::key_set> hide_;
    basin::tracker tracks_;
    basin::sticky_keys partners_;
    double killed_ = 0, maps_ = 0;
};

/// The share of right answers of each text.
std::vector<double> write(tiny_dlm::model<float> const& model, tiny_dlm::tokenizer const& words, passages const& tasks,
                          blinded_steps& steps) {
    auto const& c = model.config();
    int const texts = static_cast<int>(tasks.texts.size()), prompt = tasks.prompt.front(); // one for all
    std::vector<token_id> tokens;
    for (auto const& text : tasks.texts) {
        tokens.insert(tokens.end(), text.begin(), text.begin() + prompt);
        tokens.insert(tokens.end(), static_cast<std::size_t>(tasks.length - prompt), tiny_dlm::tokenizer::mask);
    }
    tiny_dlm::sampling how;
    how.block = c.kind == model_kind::block_diffusion ? c.block : 0;
    auto const nothing = [](tiny_dlm::sampling_step const&) {};
    if (c.kind != model_kind::autoregressive) {
        auto const logits = [&](std::vector<token_id> const& now) { return steps.step(now, tasks.length); };
        tiny_dlm::denoise(tokens, texts, c.vocabulary, how, logits, nothing);
    } else {
        int length = prompt;
        basin::buffer<float, 3> all(texts, tasks.length, c.vocabulary);
        auto const logits = [&](std::vector<token_id> const& now) -> basin::buffer<float, 3> const& {
            std::vector<token_id> so_far;
            for (int t = 0; t < texts; ++t) {
                auto const begin = now.begin() + static_cast<std::ptrdiff_t>(t) * tasks.length;
                so_far.insert(so_far.end(), begin, begin + length);
            }
            auto const part = steps.step(so_far, length);
            for (int t = 0; t < texts; ++t)
                for (int w = 0; w < c.vocabulary; ++w) all(t, length - 1, w) = part(t, length - 1, w);
            ++length;
            return all;
        };
        tiny_dlm::continue_text(tokens, texts, c.vocabulary, how, logits, nothing);
    }
    std::vector<double> right;
    for (int t = 0; t < texts; ++t) {
        auto const text =
            std::span(tokens).subspan(place_of(t, tasks.length, 0), static_cast<std::size_t>(tasks.length));
        right.push_back(static_cast<double>(tiny_dlm::task::right_answers(words.decode(text))) / tiny_dlm::task::words);
    }
    return right;
}

} // namespace

masking_result mask_answers(tiny_dlm::model<float> const& model, tiny_dlm::tokenizer const& words, std::string name,
                            passages const& tasks, sink_rule const& rule, double queries_at_least,
                            std::vector<int> const& counts, std::uint64_t seed, std::function<void()> const& on_pass) {
    int const number = static_cast<int>(tasks.texts.size());
    auto const answers = [&](hidden what, int count, double& killed) {
        blinded_steps steps(model, number, rule, queries_at_least, what, count, seed);
        std::vector<double> right;
        try {
            right = write(model, words, tasks, steps);
        } catch (no_control const&) {
            right.clear(); // this condition is left out
        }
        killed = steps.killed();
        on_pass();
        return right;
    };
    auto const summary = [](std::vector<double> const& right, double killed) {
        auto const range = basin::bootstrap_mean(right);
        return effect{basin::detail::mean_of(right), range.low, range.high, killed};
    };
    auto const& conditions = answer_conditions();
    double killed = 0;
    auto const plain = answers(hidden::nothing, 0, killed);
    masking_result result{std::move(name), summary(plain, 0), std::vector<std::vector<effect>>(conditions.size()), {}};
    for (int const count : counts) {
        std::vector<std::vector<double>> measured = {plain};
        std::vector<std::string> names = {"nothing"};
        for (std::size_t c = 0; c < conditions.size(); ++c) {
            auto const right = answers(static_cast<hidden>(c + 1), count, killed);
            result.series[c].push_back(right.empty() ? no_effect : summary(right, killed));
            if (right.empty()) continue;
            measured.push_back(right);
            names.push_back(conditions[c] + " (K = " + std::to_string(count) + ")");
        }
        auto const report = compare(names, measured);
        result.report.insert(result.report.end(), report.begin(), report.end());
    }
    return result;
}

} // namespace sink_atlas
