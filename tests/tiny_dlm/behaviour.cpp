// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#include "tiny_dlm/evaluate.hpp"
#include "tiny_dlm/trainer.hpp"
#include "variants.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdio>
#include <mutex>

namespace {

using namespace tiny_dlm_test;

std::vector<float> gradients_of(model_config const& config, int threads, int repeat = 1) {
    tiny_dlm::model<float> net(config, threads);
    net.initialise(5);
    std::vector<float> gradients;
    for (int i = 0; i < repeat; ++i) net.loss_and_gradients(some_texts(config, 9), gradients);
    return gradients;
}

tiny_dlm::recipe quick_recipe(tiny_dlm::corpus const& texts) {
    tiny_dlm::recipe how;
    how.model.layers = 1;
    how.model.width = 16;
    how.model.heads = how.model.key_value_heads = 2;
    how.model.hidden = 32;
    how.model.vocabulary = texts.words().size();
    how.batch = 6;
    how.plan.steps = 6;
    how.plan.warm_up = 2;
    return how;
}

} // namespace

TEST_CASE("the same batch twice gives the same bits, and so do two and three at work on it") {
    for (auto const& v : variants()) {
        CAPTURE(v.name);
        auto const once = gradients_of(v.config, 1);
        CHECK(once == gradients_of(v.config, 1, 2));
        CHECK(once == gradients_of(v.config, 2));
        CHECK(once == gradients_of(v.config, 3));
    }
}

TEST_CASE("logits and statistics do not depend on how many work, and watching changes nothing") {
    for (auto const& v : variants()) {
        CAPTURE(v.name);
        tiny_dlm::model<float> one(v.config, 1), two(v.config, 2);
        one.initialise(5);
        two.initialise(5);
        auto const tokens = some_texts(v.config, 9).input;
        std::mutex guard;
        double total = 0;
        tiny_dlm::observer<float> watch;
        watch.look = [&](tiny_dlm::layer_report<float> const& r) {
            double mass = 0, escaped = 0, groups = 0, off = 0;
            for (int t = 0; t < r.received.extent(0); ++t) {
                for (int h = 0; h < v.config.heads; ++h) {
                    for (int i = 0; i < v.config.rows(); ++i) {
                        mass += static_cast<double>(r.received(t, h, i));
                        escaped += static_cast<double>(r.escaped(t, h, i));
                        groups += static_cast<double>(r.received_by(t, h, 0, i) + r.received_by(t, h, 1, i));
                    }
                }
                for (int h = 0; h < v.config.key_value_heads; ++h) {
                    for (int key = 0; key < v.config.rows(); ++key) {
                        double square = 0;
                        for (int c = 0; c < r.v.extent(3); ++c)
                            square += static_cast<double>(r.v(t, h, key, c)) * static_cast<double>(r.v(t, h, key, c));
                        off = std::max(off,
                                       std::abs(static_cast<double>(r.value_norm(t, h, key)) / std::sqrt(square) - 1));
                    }
                }
            }
            std::lock_guard const lock(guard);
            CHECK(off < 1e-6);
            CHECK(mass == doctest::Approx(groups));
            CHECK(mass + escaped == doctest::Approx(r.received.extent(0) * v.config.heads * v.config.rows()));
            total += mass + escaped;
        };
        auto const a = one.logits(tokens), b = two.logits(tokens, watch);
        CHECK(total == doctest::Approx(9.0 * v.config.layers * v.config.heads * v.config.rows()));
        double far = 0;
        for (std::ptrdiff_t i = 0; i < a.size(); ++i)
            far = std::max(far, static_cast<double>(std::abs(a.data()[i] - b.data()[i])));
        CHECK(far < 1e-5);
        auto const c = two.logits(tokens);
        CHECK(std::equal(a.begin(), a.end(), c.begin()));
    }
}

TEST_CASE("masked rows alone have the logits that all rows have, and the others keep what they had") {
    for (variant const& v : variants()) {
        if (v.config.kind == tiny_dlm::model_kind::autoregressive) continue; // its rows are for the next token
        CAPTURE(v.name);
        tiny_dlm::model<float> net(v.config, 2);
        net.initialise(3);
        auto tokens = some_texts(v.config, 9).input;
        int const masked = model_config::mask_token;
        for (int i = 0; i < v.config.length; ++i) tokens[static_cast<std::size_t>(i)] = masked + 1; // none in the first
        auto const all = net.logits(tokens);
        basin::buffer<float, 3> some(9, v.config.length, v.config.vocabulary);
        some.fill(-7);
        net.masked_logits(tokens, v.config.length, some);
        std::size_t wrong = 0, asked = 0;
        for (std::ptrdiff_t i = 0; i < all.size(); ++i) {
            bool const wanted = tokens[static_cast<std::size_t>(i / v.config.vocabulary)] == masked;
            asked += wanted ? 1 : 0;
            wrong += wanted ? !(std::abs(some.data()[i] - all.data()[i]) < 1e-5F) : some.data()[i] != -7;
        }
        CHECK(asked > 0);
        CHECK(wrong == 0);
        net.masked_logits(std::span(tokens).first(static_cast<std::size_t>(v.config.length)), v.config.length, some);
        CHECK(some.extent(0) == 1); // another shape gets other memory
    }
}

TEST_CASE("hidden keys receive nothing, and only where they were named") {
    model_config c = small_model();
    tiny_dlm::model<float> net(c, 2);
    net.initialise(5);
    tiny_dlm::observer<float> watch;
    for (int layer = 0; layer < c.layers; ++layer) {
        watch.hide.emplace_back(9, c.heads, c.rows());
        if (layer == 1) watch.hide.back().insert(7, 1, 3);
    }
    std::mutex guard;
    int zeros = 0;
    watch.look = [&](tiny_dlm::layer_report<float> const& r) {
        std::lock_guard const lock(guard);
        for (int t = 0; t < r.received.extent(0); ++t) {
            for (int h = 0; h < c.heads; ++h) {
                for (int key = 0; key < c.rows(); ++key) {
                    bool const hidden = r.layer == 1 && r.first_text + t == 7 && h == 1 && key == 3;
                    CHECK((r.received(t, h, key) == 0) == hidden);
                    CHECK(r.seen(t, h, key) == (hidden ? 0 : static_cast<float>(c.rows())));
                    zeros += hidden ? 1 : 0;
                }
            }
        }
    };
    auto const tokens = some_texts(c, 9).input;
    auto const hidden = net.logits(tokens, watch), plain = net.logits(tokens);
    CHECK(zeros == 1);
    for (int t = 0; t < 9; ++t) CHECK((hidden(t, 0, 0) == doctest::Approx(plain(t, 0, 0)).epsilon(1e-6)) == (t != 7));
}

TEST_CASE("a training that was stopped goes on to the same bits, and refuses the state of another one") {
    auto const texts = tiny_dlm::corpus::synthetic();
    auto const how = quick_recipe(texts);
    tiny_dlm::trainer whole(how, texts, 1), first(how, texts, 2), second(how, texts, 1);
    double const start = whole.step();
    while (!whole.finished()) whole.step();
    CHECK(start > 3);
    for (int i = 0; i < 3; ++i) first.step();
    std::string const path = "tiny_dlm_resume_test.safetensors";
    first.save(path);
    second.resume(path);
    CHECK(second.done() == 3);
    while (!second.finished()) second.step();
    CHECK(whole.net().parameters() == second.net().parameters());

    auto other = how;
    other.plan.rate = 1e-4;
    tiny_dlm::trainer stranger(other, texts, 1);
    CHECK_THROWS_WITH_AS(stranger.resume(path), doctest::Contains("its rate is"), std::runtime_error);
    other.plan.rate = how.plan.rate + 1e-9; // the first six digits are the same
    tiny_dlm::trainer close(other, texts, 1);
    CHECK_THROWS_WITH_AS(close.resume(path), doctest::Contains("its rate is"), std::runtime_error);
    std::remove(path.c_str());
}

TEST_CASE("a state is refused for another text, and one that names no text is completed by its hash alone") {
    using unit = tiny_dlm::tokenizer::unit;
    std::string letters[2]; // of the same letters, as often
    for (int i = 0; i < 200; ++i) {
        letters[0] += "abcdef";
        letters[1] += "fedcba";
    }
    auto const open = [&](std::string const& text, unit by) {
        return tiny_dlm::corpus::from_text(text, tiny_dlm::tokenizer::from_text(text, by), 16);
    };
    auto const texts = open(letters[0], unit::characters), others = open(letters[1], unit::characters);
    auto how = quick_recipe(texts);
    how.model.length = 16;
    std::string const path = "tiny_dlm_corpus_test.safetensors";
    tiny_dlm::trainer work(how, texts, 1), same(how, texts, 1), stranger(how, others, 1);
    work.step();
    work.save(path);
    CHECK_NOTHROW(same.resume(path));
    CHECK_THROWS_WITH(stranger.resume(path),
                      (path + " belongs to another training: its corpus is " + tiny_dlm::corpus_hash(texts) + ", not " +
                       tiny_dlm::corpus_hash(others) + "; delete it or choose another --out")
                          .c_str());
    auto file = tiny_dlm::read_safetensors(path);
    file.metadata.erase("corpus");
    CHECK(file.metadata.at("rate") == "0.005000"); // as earlier programs wrote it
    tiny_dlm::write_safetensors(path, file);
    CHECK_THROWS_WITH(same.resume(path), doctest::Contains("its corpus is missing"));
    file.metadata["corpus"] = tiny_dlm::corpus_hash(texts);
    tiny_dlm::write_safetensors(path, file);
    CHECK_NOTHROW(same.resume(path));
    std::remove(path.c_str());

    CHECK(tiny_dlm::corpus_hash(tiny_dlm::corpus::synthetic()) == "c9e4d02719311d06"); // by Python;
    std::string const words = "a b c d e f g h i j ";
    std::string text;
    for (int i = 0; i < 40; ++i) text += words;
    CHECK(tiny_dlm::corpus_hash(open(text, unit::words)) != tiny_dlm::corpus_hash(open(text, unit::characters)));
}

TEST_CASE("a damaged state gets its sentence") {
    auto const texts = tiny_dlm::corpus::synthetic();
    auto const how = quick_recipe(texts);
    std::string const path = "tiny_dlm_damaged_test.safetensors";
    tiny_dlm::trainer work(how, texts, 1), other(how, texts, 1);
    work.step();
    work.save(path);
    auto const good = tiny_dlm::read_safetensors(path);
    auto const with = [&](auto const& change) {
        auto file = good;
        change(file);
        tiny_dlm::write_safetensors(path, file);
        return path + " is damaged: ";
    };
    for (std::string const done : {"abc", "-3", "7", "", "3x", " 3", "99999999999999999999"}) {
        std::string const begin = with([&](tiny_dlm::tensor_file& file) { file.metadata["done"] = done; });
        CHECK_THROWS_WITH(
            other.resume(path),
            (begin + "the number of steps that are done is " + done + ", outside of 0 ... 6; delete it").c_str());
    }
    with([](tiny_dlm::tensor_file& file) { file.metadata.erase("done"); });
    CHECK_THROWS_WITH(other.resume(path), doctest::Contains("done is missing, outside of 0 ... 6; delete it"));
    std::string const begin = with([](tiny_dlm::tensor_file& file) { file.tensors.erase("mean.head"); });
    CHECK_THROWS_WITH(other.resume(path), (begin + "the checkpoint has no tensor \"mean.head\"; delete it").c_str());
    CHECK(other.done() == 0);
    with([](tiny_dlm::tensor_file& file) { file.metadata["done"] = "6"; });
    CHECK_NOTHROW(other.resume(path));
    CHECK(other.finished());
    std::remove(path.c_str());
}

TEST_CASE("the objective masks what it should, as often as it should") {
    auto const texts = tiny_dlm::corpus::synthetic();
    tiny_dlm::model_config c;
    c.vocabulary = texts.words().size();
    double masked = 0, weight = 0, open = 0;
    for (std::uint64_t step = 0; step < 50; ++step) {
        auto const given = texts.training(1, step, 8);
        auto const b = tiny_dlm::objective(c, given, 1, step);
        for (int t = 0; t < 8; ++t) {
            for (int i = 0; i < c.length; ++i) {
                auto const at = static_cast<std::size_t>(t * c.length + i);
                bool const hidden = b.input[at] == model_config::mask_token;
                CHECK(hidden == (b.weight[at] > 0));
                CHECK(b.target[at] == given.tokens[at]);
                if (i < given.prompt[static_cast<std::size_t>(t)]) CHECK(!hidden);
                masked += hidden;
                weight += static_cast<double>(b.weight[at]);
                open += i >= given.prompt[static_cast<std::size_t>(t)];
            }
        }
    }
    CHECK(masked / open == doctest::Approx(0.5).epsilon(0.03));
    CHECK(weight / 50 == doctest::Approx(1).epsilon(0.1)); // 1 / p undoes the masking on average

    c.kind = tiny_dlm::model_kind::autoregressive;
    auto const given = texts.training(1, 0, 2);
    auto const b = tiny_dlm::objective(c, given, 1, 0);
    CHECK(b.input == std::vector<int>(given.tokens.begin(), given.tokens.end()));
    CHECK(b.weight[16] == 0.0F); // the first token of the answer is number 18, predicted by row 17
    CHECK(b.weight[17] > 0.0F);
    CHECK(b.target[17] == given.tokens[18]);
    CHECK(b.weight[63] == 0.0F);
}

TEST_CASE("models that cannot be are refused in one sentence") {
    auto const refused = [](auto const& change) {
        model_config c = small_model();
        change(c);
        try {
            tiny_dlm::check(c);
        } catch (std::runtime_error const& e) {
            return std::string(e.what());
        }
        return std::string();
    };
    CHECK(refused([](model_config&) {}).empty());
    CHECK(refused([](model_config& c) { c.width = 9; }).find("multiple of the heads") != std::string::npos);
    CHECK(refused([](model_config& c) { c.layers = 0; }).find("layers is 0") != std::string::npos);
    CHECK(refused([](model_config& c) { c.key_value_heads = 3; }).find("key_value_heads is 3") != std::string::npos);
    CHECK(refused([](model_config& c) {
              c.kind = model_kind::block_diffusion;
              c.sinks.kind = sink_kind::token;
          }).find("no place for sink tokens") != std::string::npos);
    auto text = tiny_dlm::to_text(small_model());
    CHECK(tiny_dlm::to_text(tiny_dlm::config_from_text(text)) == text);
    text["mask_token"] = "3"; // samplers would look for another token than the model
    CHECK_THROWS_WITH(tiny_dlm::config_from_text(text),
                      "the model's configuration says \"mask_token\": \"3\", but [MASK] is token 0");
    text["mask_token"] = "0";
    text["sinks"] = "several";
    CHECK_THROWS_WITH(tiny_dlm::config_from_text(text),
                      "the model's configuration says \"sinks\": \"several\", which is not understood");
    text.erase("layers");
    CHECK_THROWS_WITH(tiny_dlm::config_from_text(text), "the model's configuration has no \"layers\"");
    tiny_dlm::model<float> net(small_model());
    CHECK_THROWS_WITH(net.logits(std::vector<int>(18), 9), "texts of 9 tokens do not fit a model of length 8");
}

TEST_CASE("a block is guessed behind clean blocks, whatever is hidden in those") {
    model_config c = small_model();
    c.kind = model_kind::block_diffusion;
    tiny_dlm::model<float> net(c, 1);
    net.initialise(5);
    tiny_dlm::batch both = some_texts(c, 64), second = both;
    for (int t = 0; t < both.texts; ++t)
        for (int i = 0; i < c.length; ++i) {
            auto const at = static_cast<std::size_t>(t * c.length + i);
            bool const in_second = i >= c.block;
            both.input[at] = model_config::mask_token;
            second.input[at] = in_second ? model_config::mask_token : both.target[at];
            both.weight[at] = second.weight[at] = in_second ? 1.0F : 0.0F;
        }
    auto const logits = net.logits(second.input, c.length);
    int right = 0;
    for (std::size_t i = 0; i < second.input.size(); ++i) {
        float const* const row = logits.data() + i * static_cast<std::size_t>(c.vocabulary);
        right += second.weight[i] != 0 && std::max_element(row, row + c.vocabulary) - row == second.target[i] ? 1 : 0;
    }
    CHECK(tiny_dlm::guessed(net, second) == right);
    CHECK(tiny_dlm::guessed(net, both) == right);
    double sum = 0; // and losses are those of the same logits
    for (std::size_t i = 0; i < second.input.size(); ++i) {
        if (second.weight[i] == 0) continue;
        double total = 0;
        float const* const row = logits.data() + i * static_cast<std::size_t>(c.vocabulary);
        for (int v = 0; v < c.vocabulary; ++v) total += std::exp(static_cast<double>(row[v]));
        sum += std::log(total) - static_cast<double>(row[second.target[i]]);
    }
    CHECK(net.loss(both) == doctest::Approx(sum).epsilon(1e-4));
}
