// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#include <basin/basin.hpp>
#include <basin/detect.hpp>
#include <basin/measure.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <vector>

using namespace basin;
using doctest::Approx;

TEST_CASE("value norms and their mean over heads") {
    // heads (3, 4) -> 5 and (0, 2) -> 2 for key 0; (6, 8) -> 10 and (0, 0) -> 0 for key 1
    buffer<float, 4> v(1, 2, 2, 2);
    float const numbers[8] = {3, 4, 6, 8, 0, 2, 0, 0};
    for (std::ptrdiff_t i = 0; i < 8; ++i) v.data()[i] = numbers[i];
    auto const n = value_norms(v);
    CHECK(n(0, 0, 0) == 5);
    CHECK(n(0, 0, 1) == 10);
    CHECK(n(0, 1, 0) == 2);
    CHECK(n(0, 1, 1) == 0);
    auto const r = mean_over_heads(n);
    CHECK(r(0, 0) == 3.5F);
    CHECK(r(0, 1) == 5);
    CHECK_THROWS_AS(mean_over_heads(buffer<float, 3>(1, 0, 2)), argument_error);
}

TEST_CASE("absorption is a share in percent") {
    buffer<float, 3> mass(1, 2, 4);
    float const numbers[8] = {1, 2, 3, 4, 0, 0, 0, 0};
    for (std::ptrdiff_t i = 0; i < 8; ++i) mass.data()[i] = numbers[i];
    auto const a = absorption(mass, key_set(4, {1, 3})); // (2 + 4) / 10
    CHECK(a(0, 0) == Approx(60));
    CHECK(std::isnan(a(0, 1)));
    CHECK_THROWS_AS(absorption(mass, key_set(3, {1})), shape_error);
    CHECK_THROWS_AS(absorption(mass, key_set(1, 3, 4)), shape_error);
}

TEST_CASE("sets: united, common, without, shared by heads, jaccard") {
    key_set a(1, 2, 70), b(1, 2, 70);
    for (index_t const k : {1, 5, 69}) a.insert(0, 0, k);
    for (index_t const k : {5, 69, 68}) b.insert(0, 0, k);
    a.insert(0, 1, 5);
    CHECK(united(a, b).count(0, 0) == 4);
    CHECK(common(a, b).count(0, 0) == 2);
    CHECK(without(a, b).count(0, 0) == 1);
    CHECK(without(a, b).contains(0, 0, 1));
    CHECK(jaccard(a, b, 0, 0) == 0.5); // 2 of 4
    CHECK(jaccard(a, b, 0, 1) == 0);
    CHECK(jaccard(a, b) == 0.25);
    CHECK(jaccard(a, a) == 1);
    CHECK(jaccard(key_set(1, 1, 4), key_set(1, 1, 4)) == 1); // nothing changed
    CHECK(shared_by_heads(a).count() == 3);
    CHECK(shared_by_heads(a, 2).count() == 1);
    CHECK(shared_by_heads(a, 2).contains(0, 0, 5));
    CHECK(shared_by_heads(a).heads() == 1);
    CHECK_THROWS_AS(shared_by_heads(a, 3), argument_error);
    CHECK_THROWS_AS(jaccard(a, key_set(1, 2, 71)), shape_error);
    CHECK(united(key_set(70, {3}), a).count() == 6); // shared by both heads
}

TEST_CASE("sink rate over layers and heads, of those that saw the key") {
    sink_rate rate;
    for (int layer = 0; layer < 2; ++layer) {
        detection d(0, layer, 1, 2, 3);
        for (index_t h = 0; h < 2; ++h)
            for (index_t key = 0; key < 2; ++key) d.observe(0, h, key);
        sink s;
        s.layer = layer;
        s.key = 1;
        d.add(s);
        if (layer == 0) {
            s.head = 1;
            d.add(s);
        }
        rate.add(d);
    }
    CHECK(rate.of(0) == 0);
    CHECK(rate.of(1) == 0.75); // three of four
    CHECK(std::isnan(rate.of(2)));
    CHECK(std::isnan(rate.of(-1)));
    CHECK(std::isnan(rate.of(3)));
}

TEST_CASE("motion: standing sinks vary in space, moving ones in time") {
    std::vector<double> mass(4);
    motion stands, moves;
    for (int t = 0; t < 4; ++t) {
        mass = {4, 0, 0, 0};
        stands.add(mass, key_set(4, {0}));
        mass = {0, 0, 0, 0};
        mass[static_cast<std::size_t>(t)] = 4;
        moves.add(mass, key_set(4, {t}));
    }
    CHECK(stands.spatial_variance() == 3); // of 4 0 0 0: mean 1, (9 + 1 + 1 + 1) / 4
    CHECK(stands.temporal_variance() == 0);
    CHECK(stands.drift() == 0);
    CHECK(moves.spatial_variance() == 0);
    CHECK(moves.temporal_variance() == 1.25); // of 0 1 2 3
    CHECK(moves.drift() == 1);
    // the centroid is weighted by mass and knows sinks only: (1 x 1 + 3 x 2) / 4
    motion two;
    mass = {9, 1, 3, 0};
    two.add(mass, key_set(4, {1, 2}));
    CHECK(two.centroids() == std::vector<double>{1.75});
    two.add(mass, key_set(1, 1, 4)); // a step without sinks has none
    CHECK(two.centroids().size() == 1);
    CHECK(two.steps() == 2);
    CHECK(std::isnan(two.drift()));
    mass.push_back(1);
    CHECK_THROWS_AS(two.add(mass, key_set(5, {1})), shape_error);
    mass = {1, -1, 0, 0};
    CHECK_THROWS_AS(two.add(mass, key_set(4, {1})), argument_error);
}

TEST_CASE("persistence and half-life") {
    // key 0 stays for all of five steps, key 1 is there for the first two: survival(1): pairs 2 + 2 + 1 + 1 sinks, of which
    // 2 + 1 + 1 + 1 are still there; survival(2) = (1 + 1 + 1) / (2 + 2 + 1)
    persistence p;
    for (int t = 0; t < 5; ++t) {
        key_set s(8, {0});
        if (t < 2) s.insert(0, 0, 1);
        p.add(s);
    }
    CHECK(p.survival(0) == 1);
    CHECK(p.survival(1) == Approx(5.0 / 6));
    CHECK(p.survival(2) == Approx(3.0 / 5));
    CHECK(p.survival(3) == Approx(0.5)); // (1 + 1) / (2 + 2)
    CHECK(p.half_life() == Approx(3));
    CHECK(std::isnan(p.survival(9)));
    CHECK_THROWS_AS(p.survival(-1), argument_error);
    CHECK_THROWS_AS(p.add(key_set(9, {0})), shape_error);
    persistence forever, flash;
    for (int t = 0; t < 4; ++t) {
        forever.add(key_set(8, {2}));
        flash.add(key_set(8, {t}));
    }
    CHECK(std::isinf(forever.half_life()));
    CHECK(flash.half_life() == 0.5); // from 1 to 0 within a step
}

TEST_CASE("over-mixing is zero where all tokens are the same") {
    // rows (1, 5) and (3, 5): minus the mean (2, 5): (-1, 0), (1, 0): norm sqrt(2)
    buffer<double, 2> v(2, 2);
    v(0, 0) = 1;
    v(1, 0) = 3;
    v(0, 1) = v(1, 1) = 5;
    CHECK(over_mixing(v)(0, 0) == Approx(std::sqrt(2.0)));
    v(0, 0) = 3;
    CHECK(over_mixing(v)(0, 0) == 0);
    CHECK_THROWS_AS(over_mixing(buffer<double, 2>(0, 2)), argument_error);
}

TEST_CASE("summaries of a statistic by query") {
    buffer<float, 3> h(1, 1, 6);
    float const numbers[6] = {1, 4, 2, 3, std::nanf(""), 100};
    for (std::ptrdiff_t i = 0; i < 6; ++i) h.data()[i] = numbers[i];
    buffer<index_t, 1> lengths(1);
    lengths(0) = 5;
    auto const s = summarise(h, 0, 0, lengths);
    CHECK(s.counted == 4);
    CHECK(s.mean == 2.5);
    CHECK(s.min == 1);
    CHECK(s.max == 4);
    CHECK(s.median == 2.5);
    CHECK(summarise(h, 0, 0).median == 3);
    lengths(0) = 0;
    CHECK(summarise(h, 0, 0, lengths).counted == 0);
    CHECK(std::isnan(summarise(h, 0, 0, lengths).mean));
    CHECK_THROWS_AS(summarise(h, 0, 1), argument_error);
}

TEST_CASE("mass by kind of query and key, from one pass") {
    index_t const n = 6;
    buffer<float, 4> q(1, 2, n, 2), k(1, 2, n, 2), v(1, 2, n, 2), out(1, 2, n, 2), mass(1, 2, token_kinds, n);
    std::vector<token_kind> const kinds{token_kind::prompt, token_kind::prompt, token_kind::masked,
                                        token_kind::masked, token_kind::masked, token_kind::decoded};
    std::vector<index_t> groups;
    for (auto const kind : kinds) groups.push_back(static_cast<index_t>(kind));
    attention(reference_backend{}, q, k, v, out, full{}, received{mass, by_group(groups, token_kinds)});
    // uniform attention: 3 masked queries in 2 heads give 1/6 to each key; 2 of the keys are of the prompt
    auto const t = mass_by_kind(mass, kinds);
    CHECK(t.at(token_kind::masked, token_kind::prompt) == Approx(3 * 2 * 2 / 6.0));
    CHECK(t.at(token_kind::prompt, token_kind::decoded) == Approx(2 * 2 * 1 / 6.0));
    CHECK(t.share(token_kind::decoded, token_kind::masked) == Approx(0.5));
    CHECK(std::isnan(t.share(token_kind::special, token_kind::masked)));
    std::vector<token_kind> const few(3);
    CHECK_THROWS_AS(mass_by_kind(mass, few), shape_error);
}

TEST_CASE("contribution: each query's keys contribute 1, a low-norm sink little") {
    index_t const n = 12;
    buffer<double, 4> q(1, 4, n, 3), k(1, 2, n, 3), v(1, 2, n, 3), out(1, 4, n, 3);
    unsigned seed = 5;
    for (auto* a : {&q, &k, &v})
        for (double& x : *a) x = static_cast<double>((seed = seed * 1664525U + 1013904223U) >> 8U) / (1U << 23U) - 1;
    for (index_t h = 0; h < 2; ++h)
        for (index_t c = 0; c < 3; ++c) v(0, h, 4, c) *= 1e-3;
    buffer<double, 3> l(1, 4, n), mass(1, 4, n), share(1, 4, n);
    attention(reference_backend{}, q, k, v, out, causal{}, lse{l}, received{mass});
    observe(reference_backend{}, q, k, l, causal{}, contribution{share, v, out});
    for (index_t h = 0; h < 4; ++h) {
        double sum = 0;
        for (index_t j = 0; j < n; ++j) sum += share(0, h, j);
        CHECK(sum == Approx(n)); // one per query
        CHECK(std::abs(share(0, h, 4)) < 0.1 * mass(0, h, 4));
        // by its definition, for one key
        double want = 0;
        for (index_t i = 7; i < n; ++i) {
            double dot = 0, square = 0, score = 0;
            for (index_t c = 0; c < 3; ++c) {
                dot += v(0, h / 2, 7, c) * out(0, h, i, c);
                square += out(0, h, i, c) * out(0, h, i, c);
                score += q(0, h, i, c) * k(0, h / 2, 7, c) / std::sqrt(3.0);
            }
            want += std::exp(score - l(0, h, i)) * dot / square;
        }
        CHECK(share(0, h, 7) == Approx(want));
    }
    buffer<double, 4> narrow(1, 2, n, 2);
    CHECK_THROWS_AS((contribution{share, narrow, out}), shape_error);
}

TEST_CASE("soft weights fade keys by how much of a sink they are") {
    buffer<double, 3> mass(1, 1, 8);
    mass.fill(0.5);
    mass(0, 0, 0) = 4.5;
    auto const w = soft_weights(evidence{mass}, soft{});
    CHECK(w(0, 0, 0) == Approx(0.98623).epsilon(1e-5));
    CHECK(w(0, 0, 1) == Approx(1.4755e-7).epsilon(1e-2));
    buffer<index_t, 1> lengths(1);
    lengths(0) = 6;
    mass.fill(0.3);
    CHECK(soft_weights(evidence{mass}, soft{}, {.lengths = lengths})(0, 0, 7) == 0);
}

TEST_CASE("activations refuse NaN and leave padding out") {
    buffer<float, 3> x(2, 3, 2);
    x.fill(1);
    x(1, 2, 0) = 9;
    buffer<index_t, 1> lengths(2);
    lengths(0) = 3;
    lengths(1) = 2;
    auto const a = activations_of(batches(x), lengths);
    CHECK(a.peaks(1, 0, 2) == 0);
    CHECK(a.medians(1) == 1);
    CHECK(activations_of(batches(x)).peaks(1, 0, 2) == 9);
    x(0, 0, 0) = std::nanf("");
    CHECK_THROWS_AS(activations_of(batches(x)), argument_error);
    lengths(1) = 4;
    CHECK_THROWS_AS(activations_of(batches(x), lengths), argument_error);
}
