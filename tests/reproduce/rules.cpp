// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#include "reproduce/statistics.hpp"

#include <doctest/doctest.h>

#include <cmath>

// What the rules say about measurements that are made up.
namespace {

using namespace reproduce;

void add(results& all, char const* corpus, char const* variant, std::uint64_t seed, measurement numbers) {
    result r;
    r.model.corpus = corpus;
    r.model.size = "small";
    r.model.variant = variant;
    r.model.seed = seed;
    r.numbers = std::move(numbers);
    all.push_back(std::move(r));
}

finding const& found(std::vector<claim> const& claims, char const* letter, char const* words) {
    for (claim const& c : claims) {
        if (c.letter == letter) return c.found.at(words);
    }
    FAIL("no such claim");
    throw 0;
}

/// f and g: losses of five seeds without a token, with one, and how much each variant differs from one.
std::string judged(char const* letter, double benefit, std::map<std::string, std::vector<double>> differences) {
    results all;
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
        double const none = 4 + 0.1 * static_cast<double>(seed), wave = 0.001 * (static_cast<double>(seed % 3) - 1);
        add(all, "tasks", "dlm", seed, {{"loss", {none}}, {"accuracy", {0.5}}, {"maps_with_sink", {0.5}}});
        for (variant_name const& v : sink_variants()) {
            auto const d = differences.find(v.name);
            double const more = d == differences.end() ? wave : d->second[seed - 1];
            add(all, "tasks", v.name, seed,
                {{"loss", {none - benefit + (std::string(v.name) == "token" ? 0 : more)}},
                 {"accuracy", {0.5}},
                 {"maps_with_sink", {0.5}},
                 {"escaped", {0}},
                 {"classes", {0, 0, 0, 0, 0, 0}},
                 {"extra_mass", {0}},
                 {"extra_uniform", {0.01}}});
        }
    }
    return found(judge_tokens(all), letter, "tasks").verdict;
}

/// c: one key per head hidden in five models, each with so many texts.
std::string spared(double lost, double share_hidden) {
    results all;
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
        measurement m;
        for (int text = 0; text < 12; ++text) {
            double const before = 0.3 + 0.01 * (text % 4), after = before - lost - 0.0001 * (text % 3);
            for (char const* const outcome : {"guessed.", "loss."}) {
                m[std::string(outcome) + "nothing"].push_back(before);
                for (char const* const what : {"sinks", "random", "matched"})
                    for (int const count : masked_counts)
                        m[std::string(outcome) + what + "." + std::to_string(count)].push_back(what[0] == 's' ? after
                                                                                                              : before);
            }
        }
        for (char const* const what : {"sinks", "random", "matched"})
            for (int const count : masked_counts)
                m[std::string("once_killed.") + what + "." + std::to_string(count)] = {1, share_hidden, 0};
        add(all, "words", "dlm", seed, m);
    }
    return found(judge_masking(all), "c1", "English words").verdict;
}

} // namespace

TEST_CASE("Student's test gives the tables' values") {
    for (auto const& [freedom, t] :
         {std::pair{1, 12.7062}, {2, 4.3027}, {3, 3.1824}, {4, 2.7764}, {9, 2.2622}, {30, 2.0423}})
        CHECK(student_quantile(0.95, freedom) == doctest::Approx(t).epsilon(1e-4));
    paired_test const t({1, 2, 3, 4, 5}); // mean 3, error sqrt(0.5)
    CHECK(t.mean == doctest::Approx(3));
    CHECK(t.low == doctest::Approx(3 - 2.7764 * std::sqrt(0.5)).epsilon(1e-4));
    CHECK(t.p == doctest::Approx(0.01324).epsilon(1e-3));
    CHECK(t.within(5));
    CHECK(!t.within(4.9));
    CHECK(paired_test({0.25, 0.25, 0.25}).p == 0);
    CHECK(paired_test({0, 0, 0}).p == 1);
    CHECK(!paired_test({0}).within(1));
}

TEST_CASE("four contrasts of five seeds of noise seldom contradict a claim that nothing differs") {
    basin::random_stream random(7);
    int contradicted = 0, confirmed = 0;
    constexpr int worlds = 200;
    for (int i = 0; i < worlds; ++i) {
        std::map<std::string, std::vector<double>> noise;
        for (char const* const name : {"token_middle", "token_end", "token_2", "token_4"})
            for (int seed = 0; seed < 5; ++seed) {
                double sum = -6;
                for (int j = 0; j < 12; ++j) sum += random.below(1U << 30U) * 0x1p-30;
                noise[name].push_back(0.05 * sum);
            }
        auto const verdict = judged("f", 0.05, noise);
        contradicted += verdict == fails ? 1 : 0;
        confirmed += verdict == holds ? 1 : 0;
    }
    CHECK(contradicted <= worlds / 10); // 5 % are meant; "the same sign in all seeds" would be 23 %
    CHECK(confirmed == 0);              // nor is what is not seen taken for equal
}

TEST_CASE("variants are called equal only within the margin, and different only by a corrected test") {
    std::vector<double> const same = {0.001, -0.001, 0.002, -0.002, 0.0005}, wide = {0.06, -0.05, 0.04, -0.06, 0.01},
                              worse = {0.1, 0.11, 0.12, 0.1, 0.09}, better = {-0.1, -0.11, -0.12, -0.1, -0.09},
                              some = {0.008, -0.008, 0.006, -0.007, 0.001},
                              slightly = {0.003, 0.0035, 0.004, 0.003, 0.0035};
    CHECK(judged("f", 0.05, {}) == holds);
    CHECK(judged("f", 0.05, {{"token_4", same}}) == holds);
    CHECK(judged("f", 0.05, {{"token_4", wide}}) == unseen);
    CHECK(judged("f", 0.05, {{"token_4", worse}}) == fails);
    CHECK(judged("f", 0.05, {{"token_4", some}}) == holds);
    CHECK(judged("f", 0.012, {{"token_4", some}}) == unseen);   // half of a small benefit is a small margin
    CHECK(judged("f", 0, {{"token_4", some}}) == holds);        // no benefit is seen: 0.02 nats
    CHECK(judged("f", 0.05, {{"token_4", slightly}}) == holds); // surely different, but by less than matters
    CHECK(judged("g", 0.05, {{"gate", worse}}) == holds);
    CHECK(judged("g", 0.05, {{"gate", worse}, {"zero_value", wide}}) == unseen);
    CHECK(judged("g", 0.05, {{"gate", worse}, {"zero_value", worse}}) == fails);
    CHECK(judged("g", 0.05, {{"gate", wide}}) == unseen);
    CHECK(judged("g", 0.05, {{"gate", worse}, {"zero_value", better}}) == holds);
    CHECK(judged("g", 0.05, {{"gate", better}}) == fails);
}

TEST_CASE("that hiding next to nothing costs nothing is no verdict, that it costs much is one") {
    CHECK(spared(0, 0.2) == holds);
    CHECK(spared(0, 0.006) == unseen);
    CHECK(spared(0.1, 0.2) == fails);
    CHECK(spared(0.1, 0.006) == fails);
}

TEST_CASE("an interval that straddles its limit is no verdict") {
    auto const verdict = [](std::vector<double> const& share) {
        results all;
        for (std::uint64_t seed = 1; seed <= 5; ++seed) {
            add(all, "tasks", "dlm", seed, {{"loss", {4}}, {"accuracy", {0.5}}, {"maps_with_sink", {0.5}}});
            add(all, "tasks", "token", seed,
                {{"loss", {4}},
                 {"accuracy", {0.5}},
                 {"maps_with_sink", {0.5}},
                 {"extra_mass", {0.1}},
                 {"extra_uniform", {0.01}},
                 {"escaped", {0}},
                 {"classes", {0, 0, 0, 0, 0, share[seed - 1]}}});
        }
        return found(judge_tokens(all), "e1", "tasks").verdict;
    };
    CHECK(verdict({0.8, 0.9, 0.8, 0.9, 0.8}) == holds);
    CHECK(verdict({0.1, 0.2, 0.1, 0.2, 0.1}) == fails);
    CHECK(verdict({0.1, 0.9, 0.5, 0.8, 0.3}) == unseen);
}

TEST_CASE("texts that several models read are one sample, and p is corrected for all of a claim") {
    std::vector<result const*> list;
    results all;
    for (std::uint64_t seed = 1; seed <= 6; ++seed) {
        measurement m;
        for (int text = 0; text < 8; ++text) { // the same texts lose for every model
            m["loss.nothing"].push_back(1);
            m["loss.sinks.1"].push_back(text < 6 ? 2 : 0.5);
            m["loss.random.1"].push_back(1);
        }
        add(all, "words", "dlm", seed, m);
    }
    for (result const& r : all) list.push_back(&r);
    auto const once = compare_masking({list[0]}, "loss", "sinks", {"random"}, 1);
    auto const report = compare_masking(list, "loss", "sinks", {"random"}, 1);
    REQUIRE(report.contrasts.size() == 1);
    CHECK(report.contrasts[0].p > 0.02); // 48 pairs would give less than 0.001
    CHECK(report.contrasts[0].p == once.contrasts[0].p);
    CHECK(report.contrasts[0].note == "models");
    CHECK(report.contrasts[0].pairs == 6);

    std::vector<figure> figures(3);
    figures[0].p = 0.01;
    figures[2].p = 0.04;
    correct(figures, "over texts");
    CHECK(figures[0].p == doctest::Approx(0.02));
    CHECK(figures[1].p < 0);
    CHECK(figures[2].p == doctest::Approx(0.04));
    CHECK(figures[0].note == "; p = 0.02 over texts");
}
