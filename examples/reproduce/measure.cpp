// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#include "measure.hpp"
#include "question.hpp"
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
    how.steps =
        given.length; // one token per step, whatever the kind: else a step of one would change more than of another
    how.block = c.kind == model_kind::block_diffusion ? c.block : 0;
    auto const nothing = [](sampling_step const&) { interrupt_guard::check(); };
    if (c.kind == model_kind::masked_diffusion) {
        auto const logits = [&](std::vector<token_id> const& now) {
            auto scores = treated.step(now, given.length);
            look(now, given.length);
            return scores;
        };
        denoise(tokens, given.texts, c.vocabulary, how, logits, nothing);
        return tokens;
    }
    // The others see what was written so far, and the block that they are at: what comes later is not there yet.
    auto const row = static_cast<std::size_t>(c.vocabulary);
    std::vector<float> all(tokens.size() * row);
    auto const step = [&](std::vector<token_id> const& now, index_t first,
                          index_t length) -> std::vector<float> const& {
        std::vector<token_id> start;
        for (index_t t = 0; t < given.texts; ++t) {
            auto const begin = now.begin() + static_cast<std::ptrdiff_t>(place(given, t));
            start.insert(start.end(), begin, begin + length);
        }
        auto const scores = treated.step(start, length);
        look(start, length);
        for (index_t t = 0; t < given.texts; ++t)
            for (index_t i = first; i < length; ++i) std::copy_n(&scores(t, i, 0), row, &all[place(given, t, i) * row]);
        return all;
    };
    if (is_causal(net)) {
        index_t length = prompt;
        auto const logits = [&](std::vector<token_id> const& now) -> std::vector<float> const& {
            ++length;
            return step(now, length - 2, length - 1);
        };
        continue_text(tokens, given.texts, c.vocabulary, how, logits, nothing);
    } else {
        auto const logits = [&](std::vector<token_id> const& now) -> std::vector<float> const& {
            index_t first = given.length - 1;
            for (index_t t = 0; t < given.texts; ++t)
                for (index_t i = 0; i < first; ++i)
                    if (now[place(given, t, i)] == tokenizer::mask) first = i;
            index_t const begin = first / c.block * c.block;
            return step(now, begin, std::min<index_t>(given.length, begin + c.block));
        };
        denoise(tokens, given.texts, c.vocabulary, how, logits, nothing);
    }
    return tokens;
}

std::string label(treatment what, int count) { return std::string(name_of(what)) + "." + std::to_string(count); }

void put(measurement& m, std::string const& condition, answers const& a) {
    m["loss." + condition] = a.mean_loss();
    m["guessed." + condition] = a.share_guessed();
}

/// What hiding keys costs in one pass over texts that are there. Keys are chosen on the map of the step before, on which nothing was hidden.
void ask_without_keys(model<float> const& net, text_batch const& given, std::vector<treatment> const& what,
                      measurement& m) {
    struct condition {
        treatment what;
        int count;
        answers said;
        dose hidden;
    };
    std::vector<condition> conditions;
    for (treatment const t : what)
        for (int const count : masked_counts) {
            if (t != treatment::sticky)
                conditions.push_back({t, count, answers(given.texts), {}}); // it would be the random one
        }
    question const asked(net.config(), given);
    watched_model before(net, given.texts);
    answers plain(given.texts);
    std::vector<answers> by_head; // masked diffusion: without the sinks of one head
    bool const each = net.config().kind == model_kind::masked_diffusion;
    if (each)
        by_head.assign(static_cast<std::size_t>(net.config().layers) * static_cast<std::size_t>(net.config().heads),
                       answers(given.texts));
    for (view_of_texts const& v : asked.views()) {
        (void)before.step(v.before, v.before_length);
        auto const ask = [&](std::vector<basin::key_set> hide, answers& to) {
            interrupt_guard::check();
            observer<float> watch;
            watch.hide = std::move(hide);
            asked.judge(v, net.logits(v.now, v.length, watch), to);
        };
        ask({}, plain);
        for (condition& c : conditions) {
            std::vector<basin::key_set> hide;
            for (layer_record const& layer : before.layers()) {
                hide.push_back(choose_keys(layer, c.what, c.count, 1));
                c.hidden.add(layer, hide.back());
            }
            ask(hide, c.said);
        }
        for (std::size_t i = 0; i < by_head.size(); ++i) {
            auto const layer = i / static_cast<std::size_t>(net.config().heads);
            index_t const head = static_cast<index_t>(i) % net.config().heads;
            std::vector<basin::key_set> hide(before.layers().size(),
                                             basin::key_set(given.texts, net.config().heads, net.config().rows()));
            for (basin::sink const& s : before.layers()[layer].found.list()) {
                if (s.head == head) hide[layer].insert(s.batch, s.head, s.key);
            }
            ask(hide, by_head[i]);
        }
    }
    put(m, "nothing", plain);
    for (condition const& c : conditions) {
        put(m, label(c.what, c.count), c.said);
        m["once_killed." + label(c.what, c.count)] = c.hidden.per_map();
    }
    for (answers const& a : by_head) { // which heads can do without their sinks?
        auto const with = plain.mean_loss(), without = a.mean_loss();
        double half = 0;   // of the texts
        double change = 0; // on the odd texts: heads are chosen on the even ones
        for (std::size_t t = 1; t < without.size(); t += 2, ++half) change += without[t] - with[t];
        m["head_damage"].push_back(change / half);
    }
}

/// The same while texts are written, step by step: shares of answers that are right.
void write_without_keys(model<float> const& net, corpus const& texts, text_batch const& given,
                        std::vector<treatment> const& what, measurement& m) {
    for (treatment const t : what)
        for (int const count : masked_counts) {
            treated_model treated(net, given.texts, t, count, 1);
            auto const written = write(net, treated, given, [](auto const&, index_t) {});
            for (index_t i = 0; i < given.texts; ++i) {
                auto const text = std::span(written).subspan(place(given, i), static_cast<std::size_t>(given.length));
                m["right." + label(t, count)].push_back(texts.right_answers(text) / static_cast<double>(task::words));
            }
            m["killed." + label(t, count)] = treated.hidden().per_map();
        }
}

} // namespace

measurement measure(model<float> const& net, corpus const& texts, settings const& s, bool masking) {
    measurement m;
    evaluation const e = evaluate(net, texts, std::min<int>(4 * s.texts, texts.validation_count()));
    m["loss"] = {e.loss};
    m["accuracy"] = {e.accuracy()};
    model_config const& c = net.config();
    m["shape"] = {static_cast<double>(c.layers), static_cast<double>(c.width), static_cast<double>(c.heads),
                  static_cast<double>(c.length), static_cast<double>(net.parameters().size())};

    text_batch given = texts.validation(0, std::min<index_t>(s.texts, texts.validation_count()));
    if (!texts.has_answers()) given.prompt.assign(given.prompt.size(), given.length / 4);
    treated_model plain(net, given.texts, treatment::nothing, 0, 1);
    recorder fair(net.config(), texts.words(), given.texts, columns::relative),
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
    if (!masking) return m;
    std::vector<treatment> what = {treatment::sinks, treatment::random, treatment::sticky, treatment::matched};
    if (is_causal(net)) what.insert(what.end(), {treatment::last_row, treatment::row_random, treatment::row_matched});
    ask_without_keys(net, given, what, m);
    if (texts.has_answers()) write_without_keys(net, texts, given, what, m);
    return m;
}

} // namespace reproduce
