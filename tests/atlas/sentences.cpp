// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#include "results.hpp"

#include <array>
#include <cmath>

#include <doctest/doctest.h>

using namespace sink_atlas;

// Sentences are made from numbers: they must not say more than the numbers do.
namespace {

/// A run of one head without a sink, and nothing else measured.
results plain() {
    results r;
    r.run.layers = r.run.heads = 1;
    r.heads = {{}};
    r.thresholds = {3};
    r.curves = {{"dlm", "diffusion", {0.01}}};
    r.counts = {1, 10};
    return r;
}

basin::comparison change(std::string const& what, int k, double low, double mean, double high) {
    basin::comparison c;
    c.name = what + " (K = " + std::to_string(k) + ") - nothing";
    c.mean = mean;
    c.range = {low, high};
    return c;
}

/// A model whose loss (or share of right answers) of `before` changes in this range, whatever is hidden.
masking_result changed(std::vector<std::string> const& conditions, double before, double low, double mean,
                       double high) {
    masking_result m{"model", {before, before, before, 0}, {}, {}};
    for (auto const& condition : conditions) {
        m.series.push_back({{mean, low, high, 1}, {mean, low, high, 1}});
        for (int k : {1, 10}) m.report.push_back(change(condition, k, low, mean, high));
    }
    return m;
}

std::string of_losses(std::array<double, 3> dlm, std::array<double, 3> arm) {
    auto r = plain();
    for (auto const& x : {dlm, arm}) r.masking.push_back(changed(masking_conditions(), 4, x[0], x[1], x[2]));
    return say(r).masking;
}
std::string of_answers(std::array<double, 3> dlm, std::array<double, 3> arm) {
    auto r = plain();
    for (auto const& x : {dlm, arm}) r.answers.push_back(changed(answer_conditions(), 1, x[0], x[1], x[2]));
    return say(r).answers;
}
/// With so many right answers before anything is hidden.
std::string of_ability(double dlm, double arm) {
    auto r = plain();
    for (double const before : {dlm, arm}) r.answers.push_back(changed(answer_conditions(), before, 0, 0, 0));
    return say(r).answers;
}
bool has(std::string const& text, char const* part) { return text.find(part) != text.npos; }

} // namespace

TEST_CASE("hiding sinks spares diffusion only if the intervals of both losses say so") {
    CHECK(has(of_losses({0.1, 0.2, 0.3}, {1, 2, 3}), "holds in this run"));
    CHECK(has(of_losses({1, 2, 3}, {1, 2, 3}), "cannot be seen")); // intervals overlap
    CHECK(has(of_losses({1.8, 2, 2.2}, {1.9, 2, 2.1}), "does not hold"));
    CHECK(has(of_losses({0.1, 0.4, 0.7}, {0.5, 1, 1.5}), "cannot be seen")); // half, within the error
}

TEST_CASE("a change that may be none, or is an improvement, is never half of another") {
    CHECK(has(of_losses({-0.3, -0.2, -0.1}, {1, 2, 3}), "cannot be seen"));
    CHECK(has(of_losses({-0.1, 0.1, 0.2}, {1, 2, 3}), "cannot be seen"));
    CHECK(has(of_losses({-0.3, -0.2, -0.1}, {-0.2, -0.1, -0.05}), "cannot be seen"));
    CHECK(has(of_losses({0.1, 0.2, 0.3}, {-0.5, 0.5, 1}), "cannot be seen"));
}

TEST_CASE("a model that has no right answer loses none, and nothing is said of it") {
    for (auto const& text : {of_ability(0, 0.9), of_ability(0.8, 0)}) {
        CHECK(has(text, "nothing follows"));
        CHECK(!has(text, "nan"));
        CHECK(!has(text, "in this run"));
    }
}

TEST_CASE("without a twin the reason is said") {
    auto r = plain();
    r.absent.arm = "The twin is away.";
    CHECK(has(say(r).motion, "The twin is away."));
}

TEST_CASE("answers are kept or lost only as far as their intervals go") {
    CHECK(has(of_answers({-0.05, -0.02, 0}, {-0.9, -0.8, -0.7}), "holds in this run"));
    CHECK(has(of_answers({-0.15, -0.05, 0.05}, {-0.9, -0.8, -0.7}), "cannot be seen"));
    CHECK(has(of_answers({-0.05, -0.02, 0}, {-0.9, -0.6, -0.3}), "cannot be seen"));
    CHECK(has(of_answers({-0.8, -0.7, -0.6}, {-0.9, -0.8, -0.7}), "does not hold"));
    CHECK(has(of_answers({-0.05, -0.02, 0}, {-0.4, -0.3, -0.2}), "does not hold"));
}

TEST_CASE("both verdicts say by which rule the keys of the twin are chosen") {
    CHECK(has(of_losses({1, 2, 3}, {1, 2, 3}), "last row"));
    CHECK(has(of_answers({-0.3, -0.2, -0.1}, {-0.3, -0.2, -0.1}), "last row"));
}

TEST_CASE("a control that did not exist is called so") {
    auto r = plain();
    double const none = std::nan("");
    for (int model = 0; model < 2; ++model) {
        r.masking.push_back(changed(masking_conditions(), 4, 1, 2, 3));
        r.masking.back().series[1].front() = {none, none, none, none};
        r.answers.push_back(changed(answer_conditions(), 1, -0.3, -0.2, -0.1));
        r.answers.back().series[1].front() = {none, none, none, none};
    }
    auto const words = say(r);
    for (auto const* text : {&words.masking, &words.answers}) {
        CHECK(has(*text, "did not exist"));
        CHECK_FALSE(has(*text, "nan"));
    }
}

TEST_CASE("a sink token is hardly used below three even shares, however many tokens share it") {
    auto const of = [](double keys, int tokens) {
        auto r = plain();
        r.before = {{0, 0.2}};
        r.after = {{keys, 0.01}};
        r.rows_after = 100;
        r.tokens_after = tokens;
        return say(r).token;
    };
    CHECK(has(of(0.02, 1), "hardly used"));
    CHECK(has(of(0.02, 1), "an even share would be 1.0 %"));
    CHECK(has(of(0.04, 1), "takes over"));
    CHECK(has(of(0.04, 4), "hardly used"));
    CHECK(has(of(0.04, 4), "4 sink tokens"));
    CHECK(has(of(0.04, 4), "an even share would be 4.0 %"));
}

TEST_CASE("sinks that change as often in the twin are not said to stand still") {
    auto const of = [](double dlm, double arm) {
        auto r = plain();
        auto const path = [](double stays) { return path_of_sinks{{0.5}, 0.01, 0.1, stays}; };
        r.motion = {{"dlm", "", "", path(dlm), {}}, {"arm", "", "", path(arm), {}}, {"raw", "", "", path(1), path(1)}};
        return say(r).motion;
    };
    CHECK(has(of(0.9, 0.99), "change less, as the papers say"));
    CHECK(has(of(0.94, 0.93), "is not seen here"));
    CHECK(has(of(0.9, std::nan("")), "nothing follows"));
}
