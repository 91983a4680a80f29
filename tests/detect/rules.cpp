// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#include "maps.hpp"

#include <basin/basin.hpp>
#include <basin/measure/activations.hpp>

#include <doctest/doctest.h>

#include <string>

using namespace basin;
using maps::keys_of;
using maps::sinks;
using keys = std::vector<int>;

// Most examples share one head of S = 8 keys and 8 queries that received, in column sums,
//   c = 4.5 0.5 0.5 0.5 0.5 0.5 0.5 0.5        C = 8
static std::vector<double> const one_sink{4.5, .5, .5, .5, .5, .5, .5, .5};

TEST_CASE("exceeds_others: by hand on every scale") {
    // Others of key 0: 3.5 / 7 = 0.5. It exceeds them by 4.0 on the sum scale: a sink for epsilon < 4.
    // Closed form: ((8 - 1) 3 + 8) / 8 = 29 / 8 = 3.625, and 4.5 > 3.625.
    CHECK(sinks(one_sink, exceeds_others{}) == keys{0});
    CHECK(sinks(one_sink, exceeds_others{.epsilon = 3.99}) == keys{0});
    CHECK(sinks(one_sink, exceeds_others{.epsilon = 4.01}) == keys{});
    // mean: 4.5 / 8 - 0.5 / 8 = 0.5
    CHECK(sinks(one_sink, exceeds_others{.epsilon = 0.49, .scale = mass_scale::mean}) == keys{0});
    CHECK(sinks(one_sink, exceeds_others{.epsilon = 0.51, .scale = mass_scale::mean}) == keys{});
    // percent: 50
    CHECK(sinks(one_sink, exceeds_others{.epsilon = 49.9, .scale = mass_scale::percent}) == keys{0});
    CHECK(sinks(one_sink, exceeds_others{.epsilon = 50.1, .scale = mass_scale::percent}) == keys{});
    // uniform_ratio: uniform attention gives every key 8 / 8 = 1, so that it is the sum scale here: 4.0
    CHECK(sinks(one_sink, exceeds_others{.epsilon = 3.99, .scale = mass_scale::uniform_ratio}) == keys{0});
    CHECK(sinks(one_sink, exceeds_others{.epsilon = 4.01, .scale = mass_scale::uniform_ratio}) == keys{});
    // With 16 queries for the same 8 keys and twice the mass, sums double (8.0 above the others), means stay, and
    // uniform attention gives 2 each, so that ratios stay.
    std::vector<double> twice = one_sink;
    for (double& x : twice) x *= 2;
    auto const m = maps::head(twice);
    auto const at = [&](double epsilon, mass_scale scale) {
        return keys_of(detect(reference_backend{}, evidence{m}.queries(16), exceeds_others{epsilon, scale}));
    };
    CHECK(at(7.99, mass_scale::sum) == keys{0});
    CHECK(at(8.01, mass_scale::sum) == keys{});
    CHECK(at(0.49, mass_scale::mean) == keys{0});
    CHECK(at(0.51, mass_scale::mean) == keys{});
    CHECK(at(3.99, mass_scale::uniform_ratio) == keys{0});
    CHECK(at(4.01, mass_scale::uniform_ratio) == keys{});
}

TEST_CASE("exceeds_others: a scale on which it can never fire is refused, and one that works is named") {
    auto const m = maps::head(one_sink);
    auto const message = [&](exceeds_others rule) -> std::string {
        try {
            detect(reference_backend{}, evidence{m}, rule);
        } catch (argument_error const& e) {
            return e.what();
        }
        return "";
    };
    std::string const mean = message({.epsilon = 3, .scale = mass_scale::mean});
    CHECK(mean.find("can never be exceeded on mass_scale::mean") != std::string::npos);
    CHECK(mean.find("mass_scale::sum works") != std::string::npos);
    CHECK(message({.epsilon = 1, .scale = mass_scale::mean}) != "");
    CHECK(message({.epsilon = 0.99, .scale = mass_scale::mean}) == "");
    // 8 queries: no sum reaches 20, percent does
    CHECK(message({.epsilon = 20, .scale = mass_scale::mean}).find("mass_scale::percent works") != std::string::npos);
    CHECK(message({.epsilon = 100, .scale = mass_scale::percent}) != "");
    CHECK(message({.epsilon = 99, .scale = mass_scale::percent}) == "");
    CHECK(message({.epsilon = std::nan("")}) != "");
    // Where it is only the text that is too short, there is no sink, and the detection says that there could be none.
    auto const found = detect(reference_backend{}, evidence{m}, exceeds_others{.epsilon = 8});
    CHECK(found.list().empty());
    CHECK(found.unreachable() == 1);
    CHECK(detect(reference_backend{}, evidence{m}, exceeds_others{.epsilon = 7.99}).unreachable() == 0);
    // a key that took all would have 8 times what uniform attention gives
    auto const ratio = [&](double epsilon) {
        exceeds_others const rule{.epsilon = epsilon, .scale = mass_scale::uniform_ratio};
        return detect(reference_backend{}, evidence{m}, rule).unreachable();
    };
    CHECK(ratio(8) == 1);
    CHECK(ratio(7.99) == 0);
}

TEST_CASE("top_keys: by hand, with ties") {
    // masses 1 3 2 3 0.5 0.5: order by mass, then by place: 1, 3, 2, 0, 4, 5
    std::vector<double> const mass{1, 3, 2, 3, .5, .5};
    auto const top = [&](index_t k) {
        auto const m = maps::head(mass);
        return keys_of(detect(reference_backend{}, evidence{m}.queries(10), top_keys{k}));
    };
    CHECK(top(0) == keys{});
    CHECK(top(1) == keys{1});
    CHECK(top(2) == keys{1, 3});
    CHECK(top(4) == keys{0, 1, 2, 3});
    CHECK(top(5) == keys{0, 1, 2, 3, 4});
    CHECK(top(6) == keys{0, 1, 2, 3, 4, 5});
    CHECK_THROWS_AS(top(7), argument_error);
    CHECK_THROWS_AS(top(-1), argument_error);
}

TEST_CASE("outlier: by hand") {
    // mean 1; squares: 3.5^2 + 7 x 0.5^2 = 12.25 + 1.75 = 14, / 8 = 1.75; deviation 1.3229. Key 0 is 3.5 above: 2.6458 = sqrt(7)
    // deviations, the most that one of eight can be.
    CHECK(sinks(one_sink, outlier{}) == keys{0});
    CHECK(sinks(one_sink, outlier{.z = 2.64}) == keys{0});
    CHECK(sinks(one_sink, outlier{.z = 2.65}) == keys{});
    auto const m = maps::head(one_sink);
    CHECK(detect(reference_backend{}, evidence{m}, outlier{.z = 2.65}).unreachable() == 1);
    CHECK(detect(reference_backend{}, evidence{m}, outlier{.z = 2.64}).unreachable() == 0);
    // Equal masses have no outlier, whatever rounding does.
    CHECK(sinks(std::vector<double>(7, 0.1), outlier{.z = 0}) == keys{});
}

TEST_CASE("where all keys receive the same, none is an outlier on any scale, whatever the rounding") {
    for (index_t n = 2; n < 300; ++n) {
        std::vector<float> const mass(static_cast<std::size_t>(n), 1.0F);
        for (mass_scale const scale : {mass_scale::sum, mass_scale::mean, mass_scale::uniform_ratio})
            CHECK(detect(reference_backend{}, evidence{mass}, outlier{2, scale}).list().empty());
    }
}

TEST_CASE("soft: by hand") {
    // threshold of the sum scale: 1 + 2 x 1.32288 = 3.64575; key 0 is 0.85425 above: sigmoid(5 x 0.85425) = 1 / (1 + e^-4.27124)
    // = 0.98623; the others are 3.14575 below: sigmoid(-15.7) = 1.5e-7.
    CHECK(sinks(one_sink, soft{}) == keys{0});
    CHECK(sinks(one_sink, soft{.at_least = 0.986}) == keys{0});
    CHECK(sinks(one_sink, soft{.at_least = 0.987}) == keys{});
    CHECK(sinks(one_sink, soft{.at_least = 1e-7}) == keys{0, 1, 2, 3, 4, 5, 6, 7});
    CHECK(sinks(one_sink, soft{.at_least = 2e-7}) == keys{0});
    // on the mean scale everything is 8 times nearer: sigmoid(5 x 0.10678) = 0.63040
    CHECK(sinks(one_sink, soft{.at_least = 0.630, .scale = mass_scale::mean}) == keys{0});
    CHECK(sinks(one_sink, soft{.at_least = 0.631, .scale = mass_scale::mean}) == keys{});
    CHECK_THROWS_AS(sinks(one_sink, soft{.at_least = 1}), argument_error);
    CHECK_THROWS_AS(sinks(one_sink, soft{.at_least = -0.1}), argument_error);
    CHECK_THROWS_AS(sinks(one_sink, soft{.steepness = 0}), argument_error);
}

TEST_CASE("mass_share: by hand") {
    // 4.5 of 8 queries: 0.5625 each
    CHECK(sinks(one_sink, mass_share{}) == keys{0});
    CHECK(sinks(one_sink, mass_share{0.5624}) == keys{0});
    CHECK(sinks(one_sink, mass_share{0.5625}) == keys{}); // "above", not "at"
    CHECK(sinks(one_sink, mass_share{0}) == keys{0, 1, 2, 3, 4, 5, 6, 7});
    CHECK_THROWS_AS(sinks(one_sink, mass_share{1}), argument_error);
    CHECK_THROWS_AS(sinks(one_sink, mass_share{30}), argument_error);
    CHECK_THROWS_AS(sinks(one_sink, mass_share{-1}), argument_error);
}

TEST_CASE("first_token: by hand") {
    CHECK(sinks(one_sink, first_token{}) == keys{0});
    CHECK(sinks(one_sink, first_token{4}) == keys{0, 1, 2, 3});
    CHECK(sinks(one_sink, first_token{0}) == keys{});
    CHECK(sinks(one_sink, all_of(first_token{4}, mass_share{0.3})) == keys{0});
    // positions, not places: a block whose keys begin at position 2
    auto const m = maps::head(one_sink);
    auto const found = detect(reference_backend{}, evidence{m}, first_token{4}, {.key_position = 2});
    CHECK(keys_of(found) == keys{2, 3});
    CHECK_THROWS_AS(sinks(one_sink, first_token{-1}), argument_error);
}

TEST_CASE("low_norm: by hand") {
    // norms 2.4 7 8 7.5 3.8: sorted 2.4 3.8 7 7.5 8, median 7; below half of it, 3.5: key 0 only. Below 0.6, 4.2: keys 0 and 4.
    auto const m = maps::head({1, 1, 1, 1, 1});
    auto const n = maps::head({2.4, 7, 8, 7.5, 3.8});
    auto const low = [&](auto const& rule) { return keys_of(detect(reference_backend{}, evidence{m}.norms(n), rule)); };
    CHECK(low(low_norm{}) == keys{0});
    CHECK(low(low_norm{.fraction = 0.6}) == keys{0, 4});
    CHECK(low(low_norm{.fraction = 0.34}) == keys{}); // 2.38
    // four keys: the median is the mean of the middle two, (3 + 7) / 2 = 5; half of it 2.5
    auto const m4 = maps::head({1, 1, 1, 1});
    auto const n4 = maps::head({2.4, 7, 8, 3});
    CHECK(keys_of(detect(reference_backend{}, evidence{m4}.norms(n4), low_norm{})) == keys{0});
    CHECK(keys_of(detect(reference_backend{}, evidence{m4}.norms(n4), low_norm{0.61})) == keys{0, 3}); // 3.05
    CHECK_THROWS_AS(detect(reference_backend{}, evidence{m}, low_norm{}), argument_error);
    CHECK_THROWS_AS(low(low_norm{0}), argument_error);
    auto const broken = maps::head({std::nan(""), std::nan(""), std::nan(""), 7.5, 3.8});
    CHECK_THROWS_AS(detect(reference_backend{}, evidence{m}.norms(broken), low_norm{}), argument_error);
}

TEST_CASE("low_norm: value norms belong to key-value heads") {
    // four query heads, two key-value heads: heads 0 and 1 read norms of 0, heads 2 and 3 those of 1
    buffer<float, 3> mass(1, 4, 4), norms(1, 2, 4);
    mass.fill(0.5F);
    norms.fill(8);
    norms(0, 0, 1) = 1;
    norms(0, 1, 3) = 1;
    auto const found = detect(reference_backend{}, evidence{mass}.norms(norms), low_norm{});
    CHECK(keys_of(found) == keys{1, 1, 3, 3});
    CHECK(found.list()[2].head == 2);
    CHECK(found.list()[2].norm == 1);
}

TEST_CASE("massive: by hand") {
    // Four tokens of two channels: |x| = 150, 0.2 | 0.1, 0.1 | 0.1, 0.3 | 90, 0.1. The median of
    // 0.1 0.1 0.1 0.1 0.2 0.3 90 150 is 0.15, and 1,000 times it is 150, which 150 does not exceed.
    buffer<double, 2> hidden(4, 2);
    double const numbers[8] = {-150, .2, .1, .1, -.1, .3, 90, .1};
    std::copy(numbers, numbers + 8, hidden.begin());
    auto const facts = activations_of(hidden);
    CHECK(facts.medians(0) == doctest::Approx(0.15));
    CHECK(facts.peaks(0, 0, 0) == 150);
    CHECK(facts.peaks(0, 0, 3) == 90);
    auto const m = maps::head({1, 1, 1, 1});
    auto const at = [&](massive rule) {
        return keys_of(detect(reference_backend{}, evidence{m}.activations(facts), rule));
    };
    CHECK(at({.times_median = 999}) == keys{0});
    CHECK(at({.times_median = 1001}) == keys{});
    CHECK(at({.above = 89, .times_median = 10}) == keys{0, 3});
    CHECK(at({.above = 100, .times_median = 10}) == keys{0});
    CHECK_THROWS_AS(detect(reference_backend{}, evidence{m}, massive{}), argument_error);
}

TEST_CASE("vote: by hand") {
    // mass 4.5 1.5 0.5 0.5 0.5 0.5: mass_share{0.2} of 8 queries: keys 0 (0.5625); mass_share{0.1}: keys 0, 1; first_token{3}: 0, 1, 2
    auto const m = maps::head({4.5, 1.5, .5, .5, .5, .5});
    auto const at = [&](index_t n) {
        return keys_of(detect(reference_backend{}, evidence{m}.queries(8),
                              vote{n, mass_share{0.2}, mass_share{0.1}, first_token{3}}));
    };
    CHECK(at(1) == keys{0, 1, 2});
    CHECK(at(2) == keys{0, 1});
    CHECK(at(3) == keys{0});
    CHECK_THROWS_AS(at(0), argument_error);
    CHECK_THROWS_AS(at(4), argument_error);
}

TEST_CASE("rules combine as sets do") {
    auto const m = maps::head({4.5, 1.5, .5, .5, .5, .5});
    auto const at = [&](auto const& rule) {
        return keys_of(detect(reference_backend{}, evidence{m}.queries(8), rule));
    };
    mass_share const a{0.1}; // 0, 1
    first_token const b{3};  // 0, 1, 2
    mass_share const c{0.2}; // 0
    CHECK(at(all_of(a, b)) == keys{0, 1});
    CHECK(at(any_of(c, b)) == keys{0, 1, 2});
    CHECK(at(none_of(a)) == keys{2, 3, 4, 5});
    CHECK(at(none_of(a, b)) == keys{3, 4, 5});
    CHECK(at(a & b) == at(all_of(a, b)));
    CHECK(at(c | b) == at(any_of(c, b)));
    CHECK(at(~a) == at(none_of(a)));
    CHECK(at(~(a | b)) == at(~a & ~b));
    CHECK(at(b & ~c) == keys{1, 2});
    CHECK(at(all_of(a)) == at(a));
    CHECK(at(top_keys{2} & exceeds_others{.epsilon = 2}) == keys{0});
    // unreachable: with `any` one rule that can fire is enough, with `all` one that cannot is too much
    CHECK(detect(reference_backend{}, evidence{m}.queries(8), exceeds_others{.epsilon = 9} | a).unreachable() == 0);
    CHECK(detect(reference_backend{}, evidence{m}.queries(8), exceeds_others{.epsilon = 9} & a).unreachable() == 1);
    // errors of parts are errors of the whole
    CHECK_THROWS_AS(at(a | exceeds_others{.epsilon = 3, .scale = mass_scale::mean}), argument_error);
    CHECK_THROWS_AS(at(~mass_share{2}), argument_error);
}

namespace {
struct with_reason {
    template <class T>
    verdict<T> operator()(key_facts<T> const& key, head_facts<T> const&) const {
        return {key.received > T(1), key.received, T(1), "with_reason"};
    }
};
} // namespace

TEST_CASE("a rule of one's own is one function object") {
    auto const mine = [](key_facts<double> const& key, head_facts<double> const& head) {
        return key.received > 2 * head.share.mean * head.queries;
    };
    double const factor = 2;
    auto const captures = [factor](auto const& key, auto const& head) {
        return key.received > factor * head.share.mean * head.queries;
    };
    static_assert(rule<std::remove_const_t<decltype(mine)>> && rule<std::remove_const_t<decltype(captures)>>);
    CHECK(sinks(one_sink, captures) == keys{0});
    static_assert(!rule<full> && !rule<int>);
    static_assert(!policy<exceeds_others>);
    CHECK(sinks(one_sink, mine) == keys{0});
    CHECK(sinks(one_sink, any_of(mine, first_token{2})) == keys{0, 1});
    auto const m = maps::head(one_sink);
    auto const found = detect(reference_backend{}, evidence{m}, with_reason{});
    REQUIRE(found.list().size() == 1);
    CHECK(std::string(found.list()[0].by) == "with_reason");
}

TEST_CASE("explain says which rule, which numbers, how far") {
    auto const m = maps::head(one_sink);
    std::vector<token_kind> const kinds(8, token_kind::masked);
    auto const found = detect(reference_backend{}, evidence{m}.kinds(kinds).at(3, 2), exceeds_others{} & top_keys{8});
    REQUIRE(found.list().size() == 1);
    sink const& s = found.list()[0];
    CHECK(s.step == 3);
    CHECK(s.layer == 2);
    CHECK(s.kind == token_kind::masked);
    CHECK(s.number == 4.5);
    CHECK(s.threshold == 3.625);
    CHECK(explain(s) == "step 3, layer 2, batch 0, head 0: key 0 is a sink by exceeds_others: 4.5 against a threshold "
                        "of 3.625, 0.875 above it; it received 4.5 from 8 queries "
                        "(0.562 each), uniform attention would give 1; the token is masked");
    // of `any_of`, the surest rule is named: mass_share is 0.5625 - 0.3, 88 % above; exceeds_others 24 %
    auto const either = detect(reference_backend{}, evidence{m}, exceeds_others{} | mass_share{});
    CHECK(std::string(either.list()[0].by) == "mass_share");
    auto const both = detect(reference_backend{}, evidence{m}, mass_share{} & exceeds_others{});
    CHECK(std::string(both.list()[0].by) == "exceeds_others");
    auto const low = detect(reference_backend{}, evidence{m}, first_token{});
    CHECK(explain(low.list()[0]).find("0 against a threshold of 1, 1 below it") != std::string::npos);
}
