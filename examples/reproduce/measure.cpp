// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#include "measure.hpp"
#include "recorder.hpp"

#include <tiny_dlm/evaluate.hpp>
#include <tiny_dlm/interrupt.hpp>

namespace reproduce {
namespace {

using namespace tiny_dlm;

bool is_causal(model<float> const& net) { return net.config().kind == model_kind::autoregressive; }

/// Where token i of a text stands in a batch.
std::size_t place(text_batch const& b, index_t text, index_t i = 0) {
    return static_cast<std::size_t>(text) * static_cast<std::size_t>(b.length) + static_cast<std::size_t>(i);
}

/// Writes the texts after their prompts; `look(tokens, length)` is called after each step of the model.
template <class Look>
std::vector<token_id> write(model<float> const& net, treated_model& treated, text_batch const& given,
                            Look const& look) {
    model_config const& c = net.config();
    std::vector<token_id> tokens = given.tokens;
    index_t const prompt = given.prompt.at(0); // one for all
    for (index_t t = 0; t < given.texts; ++t)
        for (index_t i = prompt; i < given.length; ++i) tokens[place(given, t, i)] = tokenizer::mask;
    sampling how;
    how.block = c.kind == model_kind::block_diffusion ? c.block : 0;
    auto const nothing = [](sampling_step const&) { interrupt_guard::check(); };
    if (!is_causal(net)) {
        auto const logits = [&](std::vector<token_id> const& now) {
            auto scores = treated.step(now, given.length);
            look(now, given.length);
            return scores;
        };
        denoise(tokens, given.texts, c.vocabulary, how, logits, nothing);
        return tokens;
    }
    // The twin sees what was written so far and nothing else; only the last row of its logits is asked for.
    index_t length = prompt;
    std::vector<float> all(tokens.size() * static_cast<std::size_t>(c.vocabulary));
    auto const logits = [&](std::vector<token_id> const& now) -> std::vector<float> const& {
        std::vector<token_id> start;
        for (index_t t = 0; t < given.texts; ++t) {
            auto const begin = now.begin() + static_cast<std::ptrdiff_t>(place(given, t));
            start.insert(start.end(), begin, begin + length);
        }
        auto const scores = treated.step(start, length);
        look(start, length);
        for (index_t t = 0; t < given.texts; ++t)
            for (index_t v = 0; v < c.vocabulary; ++v)
                all[place(given, t, length - 1) * static_cast<std::size_t>(c.vocabulary) +
                    static_cast<std::size_t>(v)] = scores(t, length - 1, v);
        ++length;
        return all;
    };
    continue_text(tokens, given.texts, c.vocabulary, how, logits, nothing);
    return tokens;
}

/// A seeded half of the tokens is masked, or each next token is asked for: what the model says of each text.
struct question {
    struct answers {
        std::vector<double> loss;    ///< by text: cross-entropy per token asked for
        std::vector<double> guessed; ///< by text: share of them whose likeliest token is the right one
    };
    std::vector<token_id> input;
    text_batch const& texts;
    explicit question(model<float> const& net, text_batch const& given) : input(given.tokens), texts(given) {
        if (is_causal(net)) return;
        for (index_t t = 0; t < given.texts; ++t)
            for (index_t i = given.prompt[static_cast<std::size_t>(t)]; i < given.length; ++i) {
                if (random_numbers{{99}}.below(2, t, i) == 0) input[place(given, t, i)] = tokenizer::mask;
            }
    }
    answers judge(model<float> const& net, basin::buffer<float, 3> const& logits) const {
        answers result;
        bool const causal = is_causal(net);
        for (index_t t = 0; t < texts.texts; ++t) {
            double sum = 0, right = 0, count = 0;
            for (index_t i = std::max<index_t>(1, texts.prompt[static_cast<std::size_t>(t)]); i < texts.length; ++i) {
                std::size_t const at = place(texts, t, i);
                if (!causal && input[at] != tokenizer::mask) continue;
                float const* const row = &logits(t, causal ? i - 1 : i, 0);
                float const* const likeliest = std::max_element(row, row + net.config().vocabulary);
                double const best = static_cast<double>(*likeliest);
                double total = 0;
                for (index_t v = 0; v < net.config().vocabulary; ++v)
                    total += std::exp(static_cast<double>(row[v]) - best);
                sum += best + std::log(total) - static_cast<double>(row[texts.tokens[at]]);
                right += likeliest - row == texts.tokens[at] ? 1 : 0;
                ++count;
            }
            result.loss.push_back(count == 0 ? 0 : sum / count);
            result.guessed.push_back(count == 0 ? 0 : right / count);
        }
        return result;
    }
};

std::string label(treatment what, int count) { return std::string(name_of(what)) + "." + std::to_string(count); }

/// What hiding keys costs: answers while a text is written, step by step, and of a second pass over the same texts.
void measure_masking(model<float> const& net, corpus const& texts, text_batch const& given, measurement& m) {
    std::vector<treatment> what = {treatment::sinks, treatment::random, treatment::sticky, treatment::matched};
    if (is_causal(net)) what.insert(what.end(), {treatment::last_row, treatment::row_random, treatment::row_matched});
    question const asked(net, given);
    for (treatment const t : what) {
        for (int const count : masked_counts) {
            if (t != treatment::sticky) { // in a second pass it would be the random one
                treated_model twice(net, given.texts, t, count, 1);
                (void)twice.step(asked.input, given.length);
                auto const answers = asked.judge(net, twice.step(asked.input, given.length));
                m["loss." + label(t, count)] = answers.loss;
                m["guessed." + label(t, count)] = answers.guessed;
                m["once_killed." + label(t, count)] = {twice.killed(), twice.killed_mass()};
            }
            if (!texts.has_answers()) continue;
            treated_model treated(net, given.texts, t, count, 1);
            auto const written = write(net, treated, given, [](auto const&, index_t) {});
            for (index_t i = 0; i < given.texts; ++i) {
                auto const text = std::span(written).subspan(place(given, i), static_cast<std::size_t>(given.length));
                m["right." + label(t, count)].push_back(texts.right_answers(text) / static_cast<double>(task::words));
            }
            m["killed." + label(t, count)] = {treated.killed(), treated.killed_mass()};
        }
    }
    // One head at a time: which heads can do without their sinks?
    for (int layer = 0; layer < net.config().layers; ++layer)
        for (int head = 0; head < net.config().heads; ++head) {
            treated_model one(net, given.texts, treatment::sinks, net.config().rows(), 1);
            one.only(layer, head);
            (void)one.step(asked.input, given.length);
            auto const losses = asked.judge(net, one.step(asked.input, given.length)).loss;
            double half = 0;   // of the texts
            double change = 0; // on the odd texts: heads are chosen on the even ones
            for (std::size_t t = 1; t < losses.size(); t += 2, ++half) change += losses[t] - m["loss.nothing"][t];
            m["head_damage"].push_back(change / half);
        }
}

} // namespace

measurement measure(model<float> const& net, corpus const& texts, settings const& s, bool masking) {
    measurement m;
    evaluation const e = evaluate(net, texts, std::min<int>(128, texts.validation_count()));
    m["loss"] = {e.loss};
    m["accuracy"] = {e.accuracy()};
    model_config const& c = net.config();
    m["shape"] = {static_cast<double>(c.layers), static_cast<double>(c.width), static_cast<double>(c.heads),
                  static_cast<double>(c.length), static_cast<double>(net.parameters().size())};

    text_batch given = texts.validation(0, std::min<index_t>(s.texts, texts.validation_count()));
    if (!texts.has_answers()) given.prompt.assign(given.prompt.size(), given.length / 4);
    treated_model plain(net, given.texts, treatment::nothing, 0, 1);
    recorder fair(net.config(), texts.words(), given.texts, columns::by_visible_queries),
        raw(net.config(), texts.words(), given.texts, columns::raw);
    auto const written = write(net, plain, given, [&](std::vector<token_id> const& now, index_t length) {
        fair.add(plain, now, length);
        if (is_causal(net)) raw.add(plain, now, length);
    });
    fair.put(m, "");
    if (is_causal(net)) raw.put(m, "raw.");
    for (index_t i = 0; i < given.texts && texts.has_answers(); ++i) {
        auto const text = std::span(written).subspan(place(given, i), static_cast<std::size_t>(given.length));
        m["right.nothing"].push_back(texts.right_answers(text) / static_cast<double>(task::words));
    }
    question const asked(net, given);
    auto const answers = asked.judge(net, net.logits(asked.input, given.length));
    m["loss.nothing"] = answers.loss;
    m["guessed.nothing"] = answers.guessed;
    if (masking) measure_masking(net, texts, given, m);
    return m;
}

} // namespace reproduce
