// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#include "maps.hpp"

#include <basin/basin.hpp>

#include <doctest/doctest.h>

#include <string>

using namespace basin;
using maps::keys_of;
using keys = std::vector<int>;

TEST_CASE("padding leaves: 64 live of 128 keys have the threshold 3.95, not 3.48") {
    // ((64 - 1) 3 + 64) / 64 = 253 / 64 = 3.953125; with the padding ((128 - 1) 3 + 64) / 128 = 445 / 128 = 3.4765625
    buffer<float, 3> mass(1, 1, 128);
    for (int i = 0; i < 64; ++i) mass(0, 0, i) = i == 5 ? 3.7F : 60.3F / 63;
    buffer<index_t, 1> lengths(1);
    lengths(0) = 64;
    auto const padded = detect(reference_backend{}, evidence{mass}, exceeds_others{}, {.lengths = lengths});
    CHECK(padded.keys().keys() == 128);
    CHECK(padded.list().empty());
    CHECK(padded.observed().count() == 64);
    CHECK(padded.head(0, 0).keys == 64);
    CHECK(exceeds_others{}.threshold(padded.head(0, 0)) == doctest::Approx(3.953125));
    auto const naive = detect(reference_backend{}, evidence{mass}.queries(64), exceeds_others{});
    CHECK(keys_of(naive) == keys{5});
    CHECK(naive.list()[0].threshold == doctest::Approx(3.4765625));
}

TEST_CASE("a causal mask alone makes key 0 a sink, and against the baseline of the mask it is none") {
    // Uniform attention under a causal mask: key 0 of 64 receives 1 + 1/2 + ... + 1/64 = 4.74, the last one 1/64.
    index_t const n = 64;
    buffer<float, 4> q(1, 1, n, 4), k(1, 1, n, 4), v(1, 1, n, 4), out(1, 1, n, 4);
    buffer<float, 3> mass(1, 1, n), watched(1, 1, n);
    attention(reference_backend{}, q, k, v, out, causal{}, received{mass}, seen{watched});
    CHECK(mass(0, 0, 0) == doctest::Approx(4.7439).epsilon(1e-4));
    CHECK(keys_of(detect(reference_backend{}, evidence{mass}, exceeds_others{})) == keys{0}); // the trap

    auto const mask = visibility_of(causal{}, 1, 1, n, n);
    for (index_t j = 0; j < n; ++j) {
        CHECK(mask.seen(0, 0, j) == watched(0, 0, j));
        CHECK(mask.seen(0, 0, j) == n - j);
        CHECK(mask.uniform(0, 0, j) == doctest::Approx(mass(0, 0, j)));
    }
    // Dividing by the queries that see a key cannot cure key 0, which all of them see; the record shows that it received no
    // more than uniform attention gives it.
    auto const normalised = detect(reference_backend{}, evidence{mass}.under(mask), exceeds_others{});
    REQUIRE(!normalised.list().empty());
    CHECK(normalised.list()[0].key == 0);
    CHECK(normalised.list()[0].seen == 64);
    CHECK(normalised.list()[0].baseline == doctest::Approx(normalised.list()[0].received));
    // Uniform attention is 1 on the scale of ratios, everywhere.
    auto const ratio = detect(reference_backend{}, evidence{mass}.under(mask),
                              exceeds_others{.epsilon = 1e-3, .scale = mass_scale::uniform_ratio});
    CHECK(ratio.list().empty());
    CHECK(ratio.head(0, 0).ratio.mean == doctest::Approx(1));
    CHECK(ratio.head(0, 0).ratio.deviation < 1e-5);
    // With `seen` alone there is no baseline, and a rule that needs one says so.
    CHECK_THROWS_AS(
        detect(reference_backend{}, evidence{mass}.seen(watched), exceeds_others{.scale = mass_scale::uniform_ratio}),
        argument_error);
    CHECK_THROWS_AS(
        detect(reference_backend{}, evidence{mass}.seen(watched), outlier{.scale = mass_scale::uniform_ratio}),
        argument_error);
    CHECK_THROWS_AS(detect(reference_backend{}, evidence{mass}.seen(watched), soft{.scale = mass_scale::uniform_ratio}),
                    argument_error);
}

TEST_CASE("visibility from a policy is what attention counts, padded, packed and composed") {
    index_t const n = 90;
    buffer<index_t, 1> lengths(2), borders(4);
    lengths(0) = 90;
    lengths(1) = 33;
    auto const compare = [&](auto const& p, options const& o, index_t batch) {
        buffer<float, 4> query(batch, 2, n, 3), key(batch, 2, n, 3), value(batch, 2, n, 3), result(batch, 2, n, 3);
        buffer<float, 3> count(batch, 2, n), uniform(batch, 2, n);
        attention(reference_backend{}, query, key, value, result, p, o, seen{count}, received{uniform});
        auto const mask = visibility_of(p, batch, 2, n, n, o);
        int wrong = 0;
        for (std::ptrdiff_t i = 0; i < count.size(); ++i) {
            wrong += mask.seen.data()[i] != count.data()[i] ? 1 : 0;
            wrong += std::abs(mask.uniform.data()[i] - uniform.data()[i]) > 1e-4F ? 1 : 0;
        }
        CHECK(wrong == 0);
    };
    borders(0) = 0;
    borders(1) = 10;
    borders(2) = 75;
    borders(3) = 85;
    compare(causal{}, {.lengths = lengths}, 2);
    compare(any_of(window{.before = 3, .after = 70}, prefix{2}), {}, 2);
    compare(causal{}, {.offsets = borders}, 1);
    compare(sink_masked{key_set(n, {1, 70})}, {}, 2);
}

TEST_CASE("packed texts are detected text by text, at positions") {
    // Two texts of 8 in one row; in the second, the key in place 11 is the one at position 3.
    buffer<float, 3> mass(1, 2, 16);
    mass.fill(0.5F);
    mass(0, 1, 11) = 4.5F;
    buffer<index_t, 1> borders(3);
    borders(1) = 8;
    borders(2) = 16;
    auto const found = detect(reference_backend{}, evidence{mass}, exceeds_others{}, {.offsets = borders});
    CHECK(found.batch() == 2);
    CHECK(found.keys().keys() == 8);
    REQUIRE(found.list().size() == 1);
    CHECK(found.list()[0].batch == 1);
    CHECK(found.list()[0].head == 1);
    CHECK(found.list()[0].key == 3);
}

TEST_CASE("groups of queries keep their own sinks") {
    buffer<float, 4> mass(1, 1, 2, 8), count(1, 1, 2, 8);
    mass.fill(0.05F);
    count.fill(4);
    mass(0, 0, 0, 1) = 3.5F;
    mass(0, 0, 1, 6) = 3.5F;
    auto const of = [&](index_t g) {
        return keys_of(
            detect(reference_backend{}, evidence<float>::of_group(mass, g).seen(count).queries(4), mass_share{0.3}));
    };
    CHECK(of(0) == keys{1});
    CHECK(of(1) == keys{6});
    CHECK_THROWS_AS(of(2), shape_error);
}

TEST_CASE("mass that was accumulated over calls says so") {
    buffer<double, 3> mass(1, 1, 8);
    mass.fill(1.5);
    mass(0, 0, 2) = 13.5; // three layers of 4.5 and 0.5
    CHECK_THROWS_AS(detect(reference_backend{}, evidence{mass}, exceeds_others{}), argument_error);
    auto const found = detect(reference_backend{}, evidence{mass}.passes(3), exceeds_others{.epsilon = 11.9});
    CHECK(keys_of(found) == keys{2}); // sums of three passes: 12 above the others
    CHECK(keys_of(detect(reference_backend{}, evidence{mass}.passes(3), exceeds_others{.epsilon = 12.1})) == keys{});
    CHECK(keys_of(detect(reference_backend{}, evidence{mass}.passes(3), mass_share{0.56})) == keys{2});
    auto const mask = visibility_of<double>(full{}, 1, 1, 8, 8);
    CHECK(keys_of(detect(reference_backend{}, evidence{mass}.under(mask).passes(3),
                         exceeds_others{.epsilon = 3.9, .scale = mass_scale::uniform_ratio})) == keys{2});
}

TEST_CASE("keys that nobody sees, NaN and lone keys are no sinks, and the detection knows it") {
    buffer<double, 3> mass(2, 1, 4), watched(2, 1, 4);
    watched.fill(4);
    mass.fill(0.2);
    mass(0, 0, 0) = 3.2;
    watched(0, 0, 1) = 0;
    mass(0, 0, 1) = 0;
    mass(0, 0, 2) = std::nan("");
    watched(1, 0, 0) = watched(1, 0, 1) = watched(1, 0, 2) = 0; // one key left
    mass(1, 0, 0) = mass(1, 0, 1) = mass(1, 0, 2) = 0;
    mass(1, 0, 3) = 4;
    auto const found = detect(reference_backend{}, evidence{mass}.seen(watched), mass_share{});
    CHECK(keys_of(found) == keys{0});
    CHECK(found.invalid() == 1);
    CHECK(found.observed().contains(0, 0, 0));
    CHECK(!found.observed().contains(0, 0, 1));
    CHECK(!found.observed().contains(0, 0, 2));
    CHECK(found.head(0, 0).keys == 2);
    CHECK(found.head(1, 0).keys == 1);
    buffer<double, 3> one(1, 1, 1);
    one(0, 0, 0) = 1;
    CHECK(detect(reference_backend{}, evidence{one}, mass_share{}).list().empty());
    CHECK(detect(reference_backend{}, evidence{one}, top_keys{5}).list().empty());
    // whole rows of NaN, as attention leaves them
    buffer<double, 3> nothing(1, 2, 3);
    nothing.fill(std::nan(""));
    CHECK(detect(reference_backend{}, evidence{nothing}, outlier{}).invalid() == 6);
}

TEST_CASE("a head is read the same beside others as alone, whatever the one before it was like") {
    constexpr index_t texts = 3, heads = 4, size = 12;
    basin::buffer<index_t, 1> lengths(texts);
    lengths(0) = 12;
    lengths(1) = lengths(2) = 9;
    basin_test::random_numbers random{7, 0};
    basin::buffer<double, 3> mass(texts, heads, size);
    for (index_t b = 0; b < texts; ++b) {
        for (index_t h = 0; h < heads; ++h) {
            for (index_t key = 0; key < size; ++key)
                mass(b, h, key) = key < lengths(b) ? random.uniform(0, 0.5) : 100; // padding is not looked at
            mass(b, h, (b + h) % lengths(b)) = 4;
        }
        mass(b, 1, 7) = std::nan(""); // fewer keys than the head before and the one after
    }
    auto const rule = basin::exceeds_others{2};
    auto const together = basin::detect(basin::reference_backend{}, basin::evidence{mass}, rule, {.lengths = lengths});
    std::size_t n = 0;
    for (index_t b = 0; b < texts; ++b) {
        for (index_t h = 0; h < heads; ++h) {
            basin::view<double const, 3> const one{&mass(b, h, 0), {{1, 1, size}}};
            basin::buffer<index_t, 1> length(1);
            length(0) = lengths(b);
            auto const alone =
                basin::detect(basin::reference_backend{}, basin::evidence{one}, rule, {.lengths = length});
            CAPTURE(b);
            CAPTURE(h);
            auto const &x = together.head(b, h), &y = alone.head(0, 0);
            CHECK(x.keys == y.keys);
            CHECK(x.keys == lengths(b) - (h == 1 ? 1 : 0));
            CHECK(x.queries == y.queries);
            CHECK(x.highest_ratio == y.highest_ratio);
            CHECK(x.share.sum == y.share.sum);
            CHECK(x.ratio.sum == y.ratio.sum);
            CHECK(x.ratio.deviation == y.ratio.deviation);
            CHECK(x.ratio.max == y.ratio.max);
            for (index_t key = 0; key < size; ++key)
                CHECK(together.observed().contains(b, h, key) == alone.observed().contains(0, 0, key));
            REQUIRE(alone.list().size() == 1);
            REQUIRE(n < together.list().size());
            auto const &s = together.list()[n++], &t = alone.list()[0];
            CHECK(s.key == (b + h) % lengths(b));
            CHECK(t.key == s.key);
            CHECK(s.seen == t.seen);
            CHECK(s.share == t.share);
            CHECK(s.baseline == t.baseline);
            CHECK(s.baseline == x.queries / x.keys);
        }
    }
    CHECK(n == together.list().size());
}

TEST_CASE("evidence that no attention can have left is refused in words") {
    auto const message = [](auto const& f) -> std::string {
        try {
            f();
        } catch (argument_error const& e) {
            return e.what();
        }
        return "";
    };
    auto const has = [&](std::string const& text, char const* words) { return text.find(words) != std::string::npos; };
    buffer<double, 3> mass(1, 1, 4), none(0, 1, 4), empty(1, 1, 0), wrong(1, 1, 5), two(1, 2, 4), three(1, 3, 4);
    auto const look = [&](auto const& e, options const& o = {}) {
        return message([&] { detect(reference_backend{}, e, mass_share{}, o); });
    };
    CHECK(look(evidence{mass}) == "");
    CHECK(has(look(evidence{none}), "empty"));
    CHECK(has(look(evidence{empty}), "empty"));
    mass(0, 0, 1) = -0.1;
    CHECK(has(look(evidence{mass}), "never negative"));
    mass(0, 0, 1) = INFINITY;
    CHECK(has(look(evidence{mass}), "infinite"));
    mass(0, 0, 1) = 4.1;
    CHECK(has(look(evidence{mass}), "do not sum to 1"));
    mass(0, 0, 1) = 2.1;
    mass(0, 0, 2) = 2.1;
    CHECK(has(look(evidence{mass}), "do not sum to 1")); // 4.2 from 4 queries
    mass(0, 0, 2) = 1.9;
    CHECK(look(evidence{mass}) == "");
    buffer<double, 3> few(1, 1, 4); // two queries cannot give 2.1
    few.fill(2);
    CHECK(has(look(evidence{mass}.seen(few)), "received 2.1 from 2 queries"));
    CHECK(has(look(evidence{mass}.seen(wrong)), "key extent is 5"));
    CHECK(has(look(evidence{mass}.seen(two)), "head extent is 2"));
    CHECK(has(look(evidence{two}.norms(three)), "does not divide"));
    buffer<double, 3> minus(1, 1, 4);
    minus.fill(-1);
    CHECK(has(look(evidence{mass}.seen(minus)), "seen is -1"));
    std::vector<token_kind> const kinds(3);
    CHECK(has(look(evidence{mass}.kinds(kinds)), "kinds: key extent is 3"));
    CHECK_THROWS_AS(evidence{mass}.queries(-1), argument_error);
    CHECK_THROWS_AS(evidence{mass}.passes(0), argument_error);
    buffer<index_t, 1> lengths(1);
    lengths(0) = 5;
    CHECK(has(look(evidence{mass}, {.lengths = lengths}), "outside of 0 ... 4"));
    CHECK_THROWS_AS(detect(reference_backend{}, evidence{mass}, mass_share{}).head(0, 1), argument_error);
}

TEST_CASE("the sinks of a detection mask the next step") {
    index_t const n = 24;
    buffer<float, 4> q(2, 2, n, 4), k(2, 2, n, 4), v(2, 2, n, 4), out(2, 2, n, 4);
    q.fill(2);
    for (index_t b = 0; b < 2; ++b)
        for (index_t h = 0; h < 2; ++h)
            for (index_t c = 0; c < 4; ++c) k(b, h, 3 + 5 * b + 7 * h, c) = 1;
    buffer<float, 3> mass(2, 2, n);
    attention(reference_backend{}, q, k, v, out, full{}, received{mass});
    auto const found = detect(reference_backend{}, evidence{mass}, exceeds_others{});
    CHECK(keys_of(found) == keys{3, 10, 8, 15});
    attention(reference_backend{}, q, k, v, out, sink_masked{found.keys()}, received{mass});
    for (auto const& s : found.list()) CHECK(mass(s.batch, s.head, s.key) == 0);
}
