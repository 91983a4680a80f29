// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#include "analysis.hpp"

#include <doctest/doctest.h>

using namespace sink_atlas;

// A model whose parameters are all zero spreads its attention evenly over what it sees: whatever is found there is made by
// the mask or by the arithmetic, not by learning.
namespace {

constexpr int enough = 8;

tiny_dlm::model_config small(tiny_dlm::model_kind kind, int length) {
    tiny_dlm::model_config c;
    c.kind = kind;
    c.layers = 1;
    c.width = 8;
    c.heads = c.key_value_heads = 2;
    c.hidden = 8;
    c.vocabulary = 6;
    c.length = length;
    return c;
}

/// Autoregressive: one token more at each step, from `prompt` to length - 1. Others read the whole text at `steps` steps.
recording read_evenly(tiny_dlm::model_config const& c, int prompt, int steps, sink_rule const& rule) {
    tiny_dlm::model<float> const model(c, 1); // zeros
    bool const grows = c.kind == tiny_dlm::model_kind::autoregressive;
    recorder watcher(c, c.length, prompt, rule, grows ? enough : 0);
    std::vector<token_id> text(static_cast<std::size_t>(c.length), 4);
    for (int s = 0; s < (grows ? c.length - prompt : steps); ++s) {
        auto const now = std::span(text).first(static_cast<std::size_t>(grows ? prompt + s : c.length));
        (void)model.logits(now, static_cast<int>(now.size()), watcher.watch());
        watcher.step(now);
    }
    return watcher.finish(text);
}

double harmonic(int first, int last) {
    double sum = 0;
    for (int i = first; i <= last; ++i) sum += 1.0 / i;
    return sum;
}

/// A recording of `keys` keys that grows by one at each step, with nothing received yet.
recording growing(int prompt, int keys) {
    return read_evenly(small(tiny_dlm::model_kind::autoregressive, keys), prompt, 0, sink_rule("exceeds_others:3"));
}

void add_sink(recording& r, int step, int key) {
    basin::detection found(step, 0, 1, r.heads, r.keys);
    for (basin::sink const& s : r.at(step, 0).list()) found.add(s);
    basin::sink s{};
    s.step = step;
    s.key = key;
    found.add(s);
    r.found[static_cast<std::size_t>(step)] = found;
}

} // namespace

TEST_CASE("uniform causal attention gives every key 1, and raw sums give the first one a harmonic number") {
    sink_rule const rule("exceeds_others:3");
    auto const r = read_evenly(small(tiny_dlm::model_kind::autoregressive, 64), 63, 0, rule); // one map of 63 queries
    CHECK(r.received(0, 0, 0, 0) == doctest::Approx(harmonic(1, 63)));
    CHECK(r.even(0, 0) == doctest::Approx(harmonic(1, 63)));
    for (int key = 0; key < 63; ++key) {
        CAPTURE(key);
        CHECK(r.relative(0, 0, 1, key) == doctest::Approx(1));
        CHECK(r.of_text(0, 0, 1, key) == doctest::Approx(harmonic(key + 1, 63)));
        CHECK(r.seen(0, 0, 1, key) == 63 - key);
    }
    CHECK(r.relative(0, 0, 1, 63) == 0); // is not there yet
    CHECK(r.at(0, 0).list().empty());
    CHECK(motion_of(r, columns::raw, rule, enough).centroids.front() < 0.05); // the first key alone
}

TEST_CASE("a sweep of the last causal map has the keys that 8 queries see, and no others") {
    auto const r = growing(20, 40); // the last map has 39 queries: key 31 is seen by 8, key 32 by 7
    CHECK(r.seen(r.steps - 1, 0, 0, 31) == 8);
    std::vector<double> const thresholds = {0.5, 3};
    auto const raw = sweep_of(r, thresholds, columns::raw, true, enough);
    double mean = 0;
    for (int key = 0; key < 32; ++key) mean += harmonic(key + 1, 39) / 32;
    int above = 0;
    for (int key = 0; key < 32; ++key) above += (harmonic(key + 1, 39) - mean) * 32 / 31 > 0.5 ? 1 : 0;
    CHECK(raw[0] == doctest::Approx(above / 32.0));
    auto const relative = sweep_of(r, thresholds, columns::relative, true, enough);
    CHECK(relative[0] == 0);
    CHECK(relative[1] == 0);
}

TEST_CASE("uniform attention made from a recording is what a model of zeros gives") {
    sink_rule const rule("exceeds_others:3");
    auto const r = growing(12, 64);
    auto const even = with_even_attention(r, rule, enough);
    CHECK(xt::allclose(even.relative, r.relative));
    CHECK(xt::allclose(even.of_text, r.of_text));
    CHECK(even.found.size() == r.found.size());
    for (auto const& found : even.found) CHECK(found.list().empty());
}

TEST_CASE("the spatial variance of uniform attention is 0 in a text that grows, and that of its raw sums is not") {
    sink_rule const rule("exceeds_others:3");
    auto const r = growing(5, 128);
    CHECK(motion_of(r, columns::relative, rule, enough).spatial == doctest::Approx(0));
    CHECK(motion_of(r, columns::raw, rule, enough).spatial > 0.3);
    CHECK(std::isnan(motion_of(r, columns::relative, rule, enough).temporal)); // no sinks
}

TEST_CASE("a key counts from the step at which 8 queries see it") {
    sink_rule const rule("exceeds_others:3");
    auto r = growing(10, 30);
    double const before = motion_of(r, columns::relative, rule, enough).spatial;
    r.relative(0, 0, 0, 3) = r.relative(0, 0, 1, 3) = 100; // 10 queries: keys 0 to 2 are seen by 8 or more
    CHECK(motion_of(r, columns::relative, rule, enough).spatial == doctest::Approx(before));
    r.relative(1, 0, 0, 3) = r.relative(1, 0, 1, 3) = 100; // 11 queries: so is key 3
    CHECK(motion_of(r, columns::relative, rule, enough).spatial > 1);
}

TEST_CASE("sinks that keep their place in a text that grows have no temporal variance, but they do not stay") {
    sink_rule const rule("exceeds_others:3");
    auto moving = growing(20, 40), standing = growing(20, 40);
    for (int s = 0; s < moving.steps; s += 2) add_sink(moving, s, (13 + s) / 2); // of 13 + s that are seen by 8 queries
    for (int s = 0; s < standing.steps; ++s) add_sink(standing, s, 6);
    auto const a = motion_of(moving, columns::relative, rule, enough),
               b = motion_of(standing, columns::relative, rule, enough);
    CHECK(a.centroids[0] == doctest::Approx(0.5));
    CHECK(a.temporal == doctest::Approx(0));
    CHECK(a.stays == doctest::Approx(0));
    CHECK(std::isnan(a.centroids[1]));
    CHECK(b.stays == doctest::Approx(1));
    CHECK(b.temporal > 0.001);
}

TEST_CASE("sink tokens of a model that spreads its attention evenly take an even share, their own rows left out") {
    for (int count : {1, 2, 4})
        for (auto place : {tiny_dlm::sink_place::front, tiny_dlm::sink_place::middle, tiny_dlm::sink_place::end}) {
            CAPTURE(count);
            CAPTURE(name_of(place));
            auto c = small(tiny_dlm::model_kind::masked_diffusion, 24);
            c.sinks = {tiny_dlm::sink_kind::token, count, place};
            auto const r = read_evenly(c, 4, 3, sink_rule("exceeds_others:3"));
            CHECK(r.received(0, 0, 0, c.extra_begin()) > 1.5); // with what the token pays itself
            CHECK(r.relative(0, 0, 0, c.extra_begin()) == doctest::Approx(1));
            auto const shares = taken_by(r, c.extra_begin(), count);
            CHECK(shares.size() == 2);
            for (auto const& share : shares) {
                CHECK(share.keys == doctest::Approx(static_cast<double>(count) / c.rows()));
                CHECK(share.sinks == 0);
            }
        }
}
