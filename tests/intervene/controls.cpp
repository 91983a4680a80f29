// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#include <basin/basin.hpp>
#include <basin/detect.hpp>
#include <basin/intervene.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <vector>

using namespace basin;

namespace {

/// Two heads of 32 keys, of which the last four are not visible; sinks by head, with these masses.
detection found_at(index_t step, std::vector<std::vector<index_t>> const& sinks) {
    detection d(step, 3, 1, static_cast<index_t>(sinks.size()), 32);
    for (index_t h = 0; h < d.heads(); ++h) {
        head_facts<double> facts;
        facts.head = h;
        facts.keys = 28;
        d.set_head(facts);
        for (index_t key = 0; key < 28; ++key) d.observe(0, h, key);
        double share = 0.1;
        for (index_t const key : sinks[static_cast<std::size_t>(h)]) {
            sink s;
            s.step = step;
            s.layer = 3;
            s.head = h;
            s.key = key;
            s.share = share += 0.1; // later ones are stronger
            s.received = 32 * share;
            d.add(s);
        }
    }
    return d;
}
std::vector<index_t> row(key_set const& s, index_t h) {
    std::vector<index_t> result;
    for (index_t key = 0; key < s.keys(); ++key) {
        if (s.contains(0, h, key)) result.push_back(key);
    }
    return result;
}
bool apart(key_set const& a, detection const& d) {
    for (index_t h = 0; h < a.heads(); ++h)
        for (index_t const key : row(a, h)) {
            if (d.keys().contains(0, h, key) || !d.observed().contains(0, h, key)) return false;
        }
    return true;
}
using list = std::vector<index_t>;

} // namespace

TEST_CASE("strongest takes the top k of what was found, and says how many it got") {
    auto const d = found_at(0, {{2, 9, 20}, {5}});
    auto const two = strongest(d, 2);
    CHECK(row(two.keys, 0) == list{9, 20});
    CHECK(row(two.keys, 1) == list{5});
    CHECK(two.asked == 4);
    CHECK(two.killed == 3);
    CHECK(strongest(d, 0).killed == 0);
    CHECK(strongest(d, 9).keys == d.keys());
    CHECK(every_sink(d).killed == 4);
    CHECK_THROWS_AS(strongest(d, -1), argument_error);
    sink_masked const masked{strongest(d, 1)}; // a policy as it is
    CHECK(masked.keys().count() == 2);
}

TEST_CASE("random controls have the same budget, avoid sinks and the invisible, and are seeded by step") {
    auto const d = found_at(0, {{2, 9, 20}, {5}});
    auto const c = random_keys(d, 7);
    CHECK(c.asked == 4);
    CHECK(c.killed == 4);
    CHECK(c.keys.count(0, 0) == 3);
    CHECK(c.keys.count(0, 1) == 1);
    CHECK(apart(c.keys, d));
    CHECK(random_keys(d, 7).keys == c.keys);
    CHECK(!(random_keys(d, 8).keys == c.keys));
    CHECK(!(random_keys(found_at(1, {{2, 9, 20}, {5}}), 7).keys == c.keys)); // drawn anew
    auto const fewer = random_keys(d, strongest(d, 1), 7);
    CHECK(fewer.killed == 2);
    CHECK(apart(fewer.keys, d));
    // every free key is as likely as any other: 25 of them, 3 drawn, 5,000 times
    std::vector<int> drawn(32);
    for (std::uint64_t seed = 0; seed < 5000; ++seed)
        for (index_t const key : row(random_keys(d, seed).keys, 0)) ++drawn[static_cast<std::size_t>(key)];
    for (index_t key = 0; key < 32; ++key) {
        bool const possible = key < 28 && key != 2 && key != 9 && key != 20;
        CHECK(std::abs(drawn[static_cast<std::size_t>(key)] - (possible ? 600 : 0)) <
              (possible ? 120 : 1)); // five deviations
    }
}

TEST_CASE("a budget that cannot be met is an error, not a smaller control") {
    list many;
    for (index_t key = 0; key < 15; ++key) many.push_back(key);
    auto const d = found_at(0, {many}); // 15 of 28: 13 are left
    CHECK_THROWS_AS(random_keys(d, 1), argument_error);
    CHECK_THROWS_AS(position_matched(d, d.keys(), 1), argument_error);
    many.pop_back();
    CHECK(random_keys(found_at(0, {many}), 1).killed == 14); // all that is left
    CHECK_THROWS_AS(random_keys(d, key_set(1, 1, 31), 1), shape_error);
}

TEST_CASE("position-matched controls are the nearest neighbours") {
    auto const d = found_at(0, {{10, 11, 27}});
    auto const c = position_matched(d, d.keys(), 3);
    CHECK(c.killed == 3);
    CHECK(apart(c.keys, d));
    // 10 takes 9 (12 is two away), 11 takes 12, 27 takes 26: 28 is not visible
    CHECK(row(c.keys, 0) == list{9, 12, 26});
    int left = 0;
    for (std::uint64_t seed = 0; seed < 200; ++seed)
        left += position_matched(found_at(0, {{10}}), found_at(0, {{10}}).keys(), seed).keys.contains(0, 0, 9) ? 1 : 0;
    CHECK(left > 60); // a fair coin
    CHECK(left < 140);
}

TEST_CASE("mass-matched controls receive most of what the others leave") {
    auto const d = found_at(0, {{10, 20}});
    buffer<float, 3> mass(1, 1, 32);
    mass.fill(0.1F);
    mass(0, 0, 10) = 5;
    mass(0, 0, 20) = 9;
    mass(0, 0, 4) = 2;
    mass(0, 0, 7) = 3;
    mass(0, 0, 30) = 4; // not visible
    CHECK(row(mass_matched(d, d.keys(), mass).keys, 0) == list{4, 7});
    CHECK(row(mass_matched(d, strongest(d, 1).keys, mass).keys, 0) == list{7});
    // the strongest chooses first: 9 takes 6.4, and 5 is left with 3; the other way round, 13 would be taken
    mass(0, 0, 4) = 6.4F;
    mass(0, 0, 7) = 13;
    mass(0, 0, 8) = 3;
    CHECK(row(mass_matched(d, d.keys(), mass).keys, 0) == list{4, 8});
    buffer<float, 3> wrong(1, 1, 31);
    CHECK_THROWS_AS(mass_matched(d, d.keys(), wrong), shape_error);
}

TEST_CASE("sticky controls keep their partner while the sink lives") {
    tracker t{{.max_shift = 2}};
    sticky_keys sticky{5};
    auto const step = [&](detection const& d) {
        t.update(d.step(), d.layer(), d);
        return sticky.draw(d, t);
    };
    auto const d0 = found_at(0, {{8, 20}, {3}});
    auto const c0 = step(d0);
    CHECK(c0.killed == 3);
    CHECK(apart(c0.keys, d0));
    auto const c1 = step(found_at(1, {{9, 20}, {3}})); // one moved: still the same sinks
    bool const collides = c0.keys.contains(0, 0, 9);
    if (!collides) CHECK(c1.keys == c0.keys);
    auto const d2 = found_at(2, {{9}, {3}}); // one died
    auto const c2 = step(d2);
    CHECK(c2.killed == 2);
    CHECK(c2.keys.count(0, 0) == 1);
    CHECK(c1.keys.contains(0, 0, row(c2.keys, 0)[0])); // the other one keeps its own
    // a partner that becomes a sink is replaced; its sink keeps living
    index_t const partner = row(c2.keys, 1)[0];
    auto const d3 = found_at(3, {{9}, {std::min<index_t>(3, partner), std::max<index_t>(3, partner)}});
    auto const c3 = step(d3);
    CHECK(c3.killed == 3);
    CHECK(apart(c3.keys, d3));
    CHECK(row(c3.keys, 0) == row(c2.keys, 0));
    // random keys over the same steps flicker, sticky ones do not
    tracker other;
    sticky_keys still{6};
    int kept = 0, redrawn = 0;
    key_set last_sticky, last_random;
    for (index_t s = 0; s < 30; ++s) {
        auto const d = found_at(s, {{8, 20}});
        other.update(s, 3, d);
        auto const a = still.draw(d, other), b = random_keys(d, 6);
        if (s > 0) {
            kept += a.keys == last_sticky ? 1 : 0;
            redrawn += b.keys == last_random ? 0 : 1;
        }
        last_sticky = a.keys;
        last_random = b.keys;
    }
    CHECK(kept == 29);
    CHECK(redrawn > 25);
    CHECK_THROWS_AS(still.draw(found_at(30, {{8, 15, 20}}), other), argument_error); // not updated
}

namespace {
/// A head in which key 5 attracts everyone, and key 9 those that cannot have it.
struct scene {
    buffer<float, 4> q{1, 2, 32, 4}, k{1, 2, 32, 4}, v{1, 2, 32, 4}, out{1, 2, 32, 4};
    scene() {
        q.fill(2);
        for (index_t h = 0; h < 2; ++h)
            for (index_t c = 0; c < 4; ++c) {
                k(0, h, 5, c) = 2;
                k(0, h, 9, c) = 1;
            }
    }
};
} // namespace

TEST_CASE("lag: what is found at one step is hidden at the next, and a masked key cannot be found again") {
    scene s;
    auto const run = [&](lag& memory, index_t step) {
        return attention_lagged(reference_backend{}, s.q, s.k, s.v, s.out, full{}, exceeds_others{}, memory, step, 0,
                                every_sink);
    };
    // On the masked map the sets alternate: 5, then 9 (5 is hidden), then 5 again, ...
    lag alternating;
    std::vector<index_t> sequence, killed;
    for (index_t t = 0; t < 4; ++t) {
        auto const done = run(alternating, t);
        sequence.push_back(done.found.list().at(0).key);
        killed.push_back(done.killed);
    }
    CHECK(sequence == list{5, 9, 5, 9});
    CHECK(killed == list{0, 2, 2, 2});
    // On the unmasked map it is 5 at every step.
    lag steady{{.map = detect_on::unmasked_map}};
    for (index_t t = 0; t < 3; ++t) {
        auto const done = run(steady, t);
        CHECK(done.found.list().at(0).key == 5);
        CHECK(done.killed == (t == 0 ? 0 : 2));
    }
    // The first step: untouched (above), the same step's own sinks, or refused.
    lag own{{.first = first_step::same_step}};
    auto const first = run(own, 0);
    CHECK(first.killed == 2);
    CHECK(first.found.list().at(0).key == 9); // found on the masked map
    lag never{{.first = first_step::refused}};
    CHECK_THROWS_AS(run(never, 0), argument_error);
    // No step may be left out or come twice.
    CHECK_THROWS_AS(run(steady, 5), argument_error);
    CHECK_THROWS_AS(run(steady, 2), argument_error);
    CHECK(run(steady, 3).killed == 2);
    CHECK_THROWS_AS(steady.keep(3, 0, key_set(1, 1, 32)), argument_error);
    CHECK_THROWS_AS(steady.keep(0, -1, key_set(1, 1, 32)), argument_error);
}

TEST_CASE("lag: masked keys may still see themselves, and sets may be shared or controls") {
    scene s;
    lag memory{{.map = detect_on::unmasked_map, .sees_itself = true}};
    auto const run = [&](index_t step, auto const& choose) {
        return attention_lagged(reference_backend{}, s.q, s.k, s.v, s.out, full{}, exceeds_others{}, memory, step, 0,
                                choose);
    };
    run(0, [](detection const& d) { return shared_by_heads(d.keys(), 2); });
    auto const shared = run(1, [](detection const& d) { return random_keys(d, 3); });
    CHECK(shared.killed == 2); // one set, two heads
    auto const control = run(2, every_sink);
    CHECK(control.killed == 2);
    buffer<float, 3> mass(1, 2, 32);
    attention(reference_backend{}, s.q, s.k, s.v, s.out, sink_masked{control.found.keys(), sink_masked::except_itself},
              received{mass});
    CHECK(mass(0, 0, 5) > 0.9F); // only its own query sees it
    CHECK(mass(0, 0, 5) <= 1);
}
