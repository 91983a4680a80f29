// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#include "reproduce/question.hpp"
#include "reproduce/recorder.hpp"
#include "tiny_dlm/variants.hpp"

#include <doctest/doctest.h>

#include <cmath>

namespace {

using namespace reproduce;
using tiny_dlm::model_config;
using tiny_dlm::model_kind;

model_config config_of(model_kind kind, int length = 24) {
    model_config c = tiny_dlm_test::small_model();
    c.kind = kind;
    c.length = length;
    c.block = 8;
    return c;
}

std::vector<token_id> some_tokens(index_t n) {
    std::vector<token_id> tokens;
    for (index_t i = 0; i < n; ++i) tokens.push_back(1 + static_cast<token_id>((i * 7) % 9));
    return tokens;
}

/// All weights 0: every query spreads evenly over what it sees.
tiny_dlm::model<float> uniform_model(model_config const& c) { return tiny_dlm::model<float>(c, 1); }

tiny_dlm::model<float> random_model(model_config const& c) {
    tiny_dlm::model<float> net(c, 1);
    net.initialise(3);
    for (float& x : net.parameters()) x *= 2; // else attention is nearly uniform
    return net;
}

} // namespace

TEST_CASE("uniform attention gives every key the same, whatever the mask hides") {
    for (model_kind const kind :
         {model_kind::masked_diffusion, model_kind::block_diffusion, model_kind::autoregressive}) {
        auto const c = config_of(kind);
        auto const net = uniform_model(c);
        watched_model model(net, 2);
        std::vector<basin::key_set> hide;
        for (bool const some_hidden : {false, true}) {
            if (some_hidden) hide.assign(static_cast<std::size_t>(c.layers), basin::key_set(2, c.heads, c.rows()));
            for (auto& set : hide) set.insert(1, 0, 3);
            (void)model.step(some_tokens(2 * 20), 20, hide);
            for (layer_record const& layer : model.layers()) {
                CHECK(layer.found.list().empty());
                for (index_t t = 0; t < 2; ++t)
                    for (index_t h = 0; h < c.heads; ++h)
                        for (index_t key = 0; key < 20; ++key) {
                            if (kind == model_kind::masked_diffusion && some_hidden)
                                continue; // there sums are taken as they are
                            bool const hidden = some_hidden && t == 1 && h == 0 && key == 3;
                            float const share = layer.relative(t, h, key) * static_cast<float>(layer.queries);
                            CHECK(share == doctest::Approx(hidden ? 0 : layer.seen(t, h, key)).epsilon(1e-5));
                        }
            }
        }
        tiny_dlm::tokenizer const words =
            tiny_dlm::tokenizer::from_text("abcdefg", tiny_dlm::tokenizer::unit::characters);
        for (columns const how : {columns::relative, columns::raw}) {
            recorder sinks(c, words, 2, how);
            sinks.add(model, std::vector<token_id>(2 * 20, 4), 20);
            measurement m;
            sinks.put(m, "");
            CHECK(m.at("uniform_maps_with_sink")[0] == 0); // H_20 is below 4
        }
    }
}

TEST_CASE("raw sums of uniform causal attention call the first key a sink, weights against uniform ones call none") {
    auto const c = config_of(model_kind::autoregressive, 64);
    auto const net = uniform_model(c);
    watched_model model(net, 1);
    auto const tokens = some_tokens(64);
    (void)model.step(tokens, 64);
    CHECK(model.layers()[0].received(0, 0, 0) == doctest::Approx(4.744).epsilon(1e-3));
    auto const words = tiny_dlm::tokenizer::from_text("abcdefg", tiny_dlm::tokenizer::unit::characters);
    for (bool const is_raw : {false, true}) {
        recorder sinks(c, words, 1, is_raw ? columns::raw : columns::relative);
        sinks.add(model, std::vector<token_id>(64, 4), 64);
        measurement m;
        sinks.put(m, "");
        CHECK(m.at("maps_with_sink")[0] == (is_raw ? 1 : 0));
        CHECK(m.at("uniform_maps_with_sink")[0] == (is_raw ? 1 : 0));
    }
}

TEST_CASE("weights against uniform ones are those of the model's own attention") {
    for (model_kind const kind : {model_kind::block_diffusion, model_kind::autoregressive}) {
        auto const c = config_of(kind);
        auto const net = random_model(c);
        watched_model model(net, 1);
        (void)model.step(some_tokens(24), 24);
        double sees = 0; // each query pays 1 in all, times the keys it sees
        for (index_t query = 0; query < 24; ++query) sees += sight(c, query, 24);
        for (layer_record const& layer : model.layers()) {
            for (index_t h = 0; h < c.heads; ++h) {
                double sum = 0, last = 0, plain = 0;
                for (index_t key = 0; key < 24; ++key) {
                    sum += static_cast<double>(layer.relative(0, h, key)) * 24;
                    last += static_cast<double>(layer.last_row(0, h, key));
                    plain += static_cast<double>(layer.received(0, h, key));
                }
                CHECK(sum == doctest::Approx(sees).epsilon(1e-4));
                CHECK(plain == doctest::Approx(24).epsilon(1e-4));
                if (kind == model_kind::autoregressive) {
                    CHECK(last == doctest::Approx(1).epsilon(1e-4));
                    // Only the last query sees the last key, and it sees all 24.
                    CHECK(layer.relative(0, h, 23) == doctest::Approx(layer.last_row(0, h, 23)).epsilon(1e-4));
                }
            }
        }
    }
}

TEST_CASE("what a sink token pays to itself is not counted") {
    for (int const count : {1, 4}) {
        auto c = config_of(model_kind::masked_diffusion);
        c.sinks = {tiny_dlm::sink_kind::token, count, tiny_dlm::sink_place::middle};
        auto const net = uniform_model(c);
        watched_model model(net, 2);
        auto const tokens = some_tokens(2 * 24);
        (void)model.step(tokens, 24);
        for (layer_record const& layer : model.layers()) {
            CHECK(layer.queries == 24);
            for (index_t key = 0; key < c.rows(); ++key) {
                CHECK(layer.seen(0, 0, key) == 24);
                CHECK(layer.received(0, 0, key) == doctest::Approx(24.0 / c.rows()).epsilon(1e-4));
            }
        }
        auto const words = tiny_dlm::tokenizer::from_text("abcdefg", tiny_dlm::tokenizer::unit::characters);
        recorder sinks(c, words, 2, columns::relative);
        sinks.add(model, std::vector<token_id>(2 * 24, 4), 24);
        measurement m;
        sinks.put(m, "");
        CHECK(m.at("extra_mass")[0] == doctest::Approx(static_cast<double>(count) / c.rows()).epsilon(1e-4));
        CHECK(m.at("extra_mass")[0] == doctest::Approx(m.at("extra_uniform")[0]).epsilon(1e-4));
    }
}

TEST_CASE("a model is asked under what it sees when it writes") {
    tiny_dlm::text_batch const texts{2, 24, some_tokens(48), {6, 6}};
    question const twin(config_of(model_kind::autoregressive), texts);
    CHECK(twin.views().size() == static_cast<std::size_t>(question::beginnings));
    CHECK(twin.views().front().length == 6);
    CHECK(twin.views().back().length == 23); // the last token is the last that is asked for
    for (view_of_texts const& v : twin.views()) {
        CHECK(v.before_length == v.length - 1);
        CHECK(v.now.size() == static_cast<std::size_t>(2 * v.length));
        CHECK(v.now[static_cast<std::size_t>(v.length)] == texts.tokens[24]);
    }
    question const blocks(config_of(model_kind::block_diffusion), texts);
    REQUIRE(blocks.views().size() == 3);
    for (std::size_t b = 0; b < 3; ++b) {
        view_of_texts const& v = blocks.views()[b];
        CHECK(v.length == static_cast<index_t>(8 * (b + 1)));
        int masked = 0;
        for (index_t t = 0; t < 2; ++t)
            for (index_t i = 0; i < v.length; ++i) {
                token_id const now = v.now[static_cast<std::size_t>(t * v.length + i)];
                bool const in_block = i >= static_cast<index_t>(8 * b) && i >= 6;
                CHECK((now == texts.text(t)[static_cast<std::size_t>(i)] ||
                       (in_block && now == tiny_dlm::tokenizer::mask)));
                masked += now == tiny_dlm::tokenizer::mask ? 1 : 0;
            }
        CHECK(masked > 0);
    }
    CHECK(question(config_of(model_kind::masked_diffusion), texts).views().size() == 1);
}

TEST_CASE("the next token after a beginning is judged as a pass over the whole text judges it") {
    auto const c = config_of(model_kind::autoregressive);
    auto const net = random_model(c);
    tiny_dlm::text_batch const texts{2, 24, some_tokens(48), {6, 6}};
    question const asked(c, texts);
    answers said(2);
    for (view_of_texts const& v : asked.views()) asked.judge(v, net.logits(v.now, v.length), said);
    auto const whole = net.logits(texts.tokens, 24);
    for (index_t t = 0; t < 2; ++t) {
        double loss = 0;
        for (view_of_texts const& v : asked.views()) {
            double total = 0;
            for (int token = 0; token < c.vocabulary; ++token)
                total += std::exp(static_cast<double>(whole(t, v.length - 1, token)));
            loss += std::log(total) -
                    static_cast<double>(whole(t, v.length - 1, texts.text(t)[static_cast<std::size_t>(v.length)]));
        }
        CHECK(said.mean_loss()[static_cast<std::size_t>(t)] ==
              doctest::Approx(loss / static_cast<double>(asked.views().size())).epsilon(1e-4));
    }
}

TEST_CASE("keys that few queries see are no sinks, and do not raise what others are compared with") {
    auto const c = config_of(model_kind::autoregressive, 64);
    auto const net = random_model(c);
    watched_model model(net, 1);
    (void)model.step(some_tokens(64), 64);
    for (layer_record const& layer : model.layers()) {
        for (index_t key = 0; key < 64; ++key) {
            CHECK(layer.seen(0, 0, key) == static_cast<float>(64 - key));
            CHECK(layer.judged(0, 0, key) == (key <= 56 ? layer.seen(0, 0, key) : 0.0F));
            CHECK(layer.found.observed().contains(0, 0, key) == (key <= 56));
        }
    }
}

TEST_CASE("controls of the last row are as many as the keys it loses, at the beginning of a text too") {
    auto const c = config_of(model_kind::autoregressive);
    auto const net = random_model(c);
    for (index_t const length : {9, 12, 16, 20, 24}) {
        watched_model model(net, 2);
        (void)model.step(some_tokens(2 * length), length);
        for (layer_record const& layer : model.layers())
            for (int const count : masked_counts) {
                auto const lost = choose_keys(layer, treatment::last_row, count, 1);
                CHECK(lost.count() <= 2 * c.heads * count);
                if (length == 24 && count == 5) CHECK(lost.count() == 2 * c.heads * count);
                for (treatment const t : {treatment::row_random, treatment::row_matched}) {
                    auto const control = choose_keys(layer, t, count, 1);
                    for (index_t text = 0; text < 2; ++text)
                        for (index_t h = 0; h < c.heads; ++h) CHECK(control.count(text, h) == lost.count(text, h));
                }
            }
    }
}

TEST_CASE("all kinds of models write one token per step") {
    reproduce::settings s;
    s.texts = 2;
    auto const texts = tiny_dlm::corpus::synthetic(64);
    for (model_kind const kind :
         {model_kind::masked_diffusion, model_kind::block_diffusion, model_kind::autoregressive}) {
        auto c = config_of(kind, 64);
        c.vocabulary = texts.words().size();
        auto const net = random_model(c);
        auto const m = measure(net, texts, s, false);
        CHECK(m.at("steps")[0] == 64 - texts.validation(0, 1).prompt[0]);
    }
}

TEST_CASE("what was never seen has no share and no life") {
    auto const c = config_of(model_kind::masked_diffusion);
    auto const net = uniform_model(c);
    watched_model model(net, 1);
    auto const tokens = some_tokens(24);
    auto const words = tiny_dlm::tokenizer::from_text("abcdefg", tiny_dlm::tokenizer::unit::characters);
    recorder sinks(c, words, 1, columns::relative);
    for (int step = 0; step < 2; ++step) {
        (void)model.step(tokens, 24);
        sinks.add(model, std::vector<token_id>(24, 4), 24);
    }
    measurement m;
    sinks.put(m, "");
    CHECK(m.at("maps_with_sink")[0] == 0);
    for (char const* const name : {"classes", "top_stays", "survival", "half_life", "life", "single_step"})
        CHECK(m.count(name) == 0);
}

TEST_CASE("as many keys of like attention to the last token are hidden, and their shares are added up") {
    auto const c = config_of(model_kind::autoregressive);
    auto const net = random_model(c);
    watched_model model(net, 1);
    (void)model.step(some_tokens(20), 20);
    layer_record const& layer = model.layers()[1];
    auto const best = choose_keys(layer, treatment::last_row, 1, 1);
    dose of_best, of_others;
    of_best.add(layer, best);
    of_others.add(layer, choose_keys(layer, treatment::row_random, 1, 1));
    CHECK(best.count() == c.heads);
    CHECK(of_best.per_map()[0] == 1);
    CHECK(of_others.per_map()[0] == 1);
    CHECK(of_best.per_map()[2] > of_others.per_map()[2]);
    auto const like = choose_keys(layer, treatment::row_matched, 1, 1);
    for (index_t h = 0; h < c.heads; ++h) { // of the keys that are no sinks, the one nearest to the best
        float most = -1, taken = -1;
        for (index_t key = 0; key < 20; ++key) {
            float const got = layer.last_row(0, h, key);
            if (like.contains(0, h, key)) taken = got;
            if (!best.contains(0, h, key) && !layer.found.keys().contains(0, h, key)) most = std::max(most, got);
        }
        CHECK(taken == most);
    }
}
