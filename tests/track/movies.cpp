// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#include <support/random.hpp>

#include <basin/track.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

using namespace basin;

// Synthetic movies whose truth is known: at each step, which sinks are where.
namespace {

constexpr index_t width = 400;

/// One head in which everything is observed, with sinks at these keys.
detection frame(index_t step, std::vector<index_t> keys, double mass = 5) {
    detection d(step, 0, 1, 1, width);
    for (index_t key = 0; key < width; ++key) d.observe(0, 0, key);
    std::sort(keys.begin(), keys.end());
    for (index_t const key : keys) {
        sink s;
        s.step = step;
        s.key = key;
        s.received = mass;
        d.add(s);
    }
    return d;
}

std::string words(std::vector<track_event> const& events) {
    std::string text;
    for (auto const& e : events) {
        char one[80];
        std::snprintf(one, sizeof one, "%s%s %d", text.empty() ? "" : ", ", name_of(e.what), e.track);
        text += one;
        if (e.from >= 0 || e.to >= 0) {
            std::snprintf(one, sizeof one, " (%d to %d)", e.from, e.to);
            text += one;
        }
        if (e.other >= 0) text += " beside " + std::to_string(e.other);
    }
    return text;
}

bool balanced(tracker const& t) {
    long long dead = 0, alive = 0;
    for (life const& l : t.lives()) (l.alive() ? alive : dead) += 1;
    return t.births() - t.deaths() == t.living() && dead == t.deaths() && alive == t.living() &&
           static_cast<long long>(t.present(0).size()) == t.living();
}

} // namespace

TEST_CASE("born, moved, strengthened, died") {
    tracker t{{.max_shift = 4}};
    CHECK(words(t.update(0, 0, frame(0, {10, 50}))) == "born 0 (-1 to 10), born 1 (-1 to 50)");
    CHECK(words(t.update(1, 0, frame(1, {10, 50}))) == ""); // the same set twice is no news
    CHECK(words(t.update(2, 0, frame(2, {14, 50}))) == "moved 0 (10 to 14)");
    CHECK(words(t.update(3, 0, frame(3, {14, 55}))) == "died 1 (50 to -1), born 2 (-1 to 55)"); // five is too far
    CHECK(words(t.update(4, 0, frame(4, {14, 55}, 7.4))) == "");
    CHECK(words(t.update(5, 0, frame(5, {14, 55}, 7.5))) ==
          "strengthened 0 (14 to 14), strengthened 2 (55 to 55)"); // 1.5 x 5
    CHECK(words(t.update(6, 0, frame(6, {14, 55}, 11))) == "");    // 1.5 x 7.5 = 11.25
    CHECK(words(t.update(7, 0, frame(7, {}))) == "died 0 (14 to -1), died 2 (55 to -1)");
    CHECK(t.births() == 3);
    CHECK(t.deaths() == 3);
    CHECK(t.living() == 0);
    life const& l = t.lives()[0];
    CHECK(l.born == 0);
    CHECK(l.last_seen == 6);
    CHECK(l.died == 7);
    CHECK(l.steps == 7);
    CHECK(l.peak == 11);
    CHECK(l.mass == doctest::Approx(5 * 4 + 7.4 + 7.5 + 11));
    REQUIRE(l.path.size() == 2);
    CHECK(l.path[0] == waypoint{0, 1, 10, token_kind::unknown, 2, 10});
    CHECK(l.path[1].step == 2);
    CHECK(l.path[1].last == 6);
    CHECK(l.path[1].key == 14);
}

TEST_CASE("what became weak may strengthen again, and stays are told on request") {
    tracker t{{.strengthened = 2, .report_stays = true}};
    t.update(0, 0, frame(0, {10}, 8));
    CHECK(words(t.update(1, 0, frame(1, {10}, 15))) == "stayed 0 (10 to 10)");
    CHECK(words(t.update(2, 0, frame(2, {10}, 3))) == "stayed 0 (10 to 10)");
    CHECK(words(t.update(3, 0, frame(3, {10}, 6))) == "strengthened 0 (10 to 10)");
}

TEST_CASE("split and merged are births and deaths beside a survivor") {
    tracker t{{.max_shift = 4}};
    t.update(0, 0, frame(0, {100}));
    CHECK(words(t.update(1, 0, frame(1, {100, 103}))) == "split 1 (-1 to 103) beside 0");
    CHECK(t.lives()[1].parent == 0);
    CHECK(balanced(t));
    CHECK(words(t.update(2, 0, frame(2, {100}))) == "merged 1 (103 to -1) beside 0");
    CHECK(t.lives()[1].merged_into == 0);
    CHECK(!t.lives()[1].alive());
    CHECK(balanced(t));
    CHECK(words(t.update(3, 0, frame(3, {100, 105}))) == "born 2 (-1 to 105)"); // five away: not beside
    // two may meet: both come from within reach, the nearer one goes on
    tracker m{{.max_shift = 4}};
    m.update(0, 0, frame(0, {20, 26}));
    CHECK(words(m.update(1, 0, frame(1, {22}))) == "moved 0 (20 to 22), merged 1 (26 to -1) beside 0");
}

TEST_CASE("a drifting sink is one track, and so are many at once") {
    tracker t{{.max_shift = 3}};
    for (index_t step = 0; step < 100; ++step) {
        std::vector<index_t> keys{3 * step, 350, 300 - 2 * step};
        std::sort(keys.begin(), keys.end());
        keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
        t.update(step, 0, frame(step, keys));
        if (step == 55) break; // they cross at 60
    }
    REQUIRE(t.births() == 3);
    CHECK(t.deaths() == 0);
    CHECK(t.lives()[0].path.back().key == 165);
    CHECK(t.lives()[0].path.size() == 56);
    CHECK(t.lives()[1].path.back().key == 190);
    CHECK(t.lives()[2].path.size() == 1); // the static one costs one waypoint
    CHECK(t.lives()[2].path[0].steps == 56);
}

TEST_CASE("a jump beyond reach is a death and a birth, and a block that moves together keeps its order") {
    tracker t{{.max_shift = 4}};
    t.update(0, 0, frame(0, {10, 20, 30}));
    CHECK(words(t.update(1, 0, frame(1, {10, 30, 200}))) == "died 1 (20 to -1), born 3 (-1 to 200)");
    tracker block{{.max_shift = 4}};
    block.update(0, 0, frame(0, {10, 11, 12}));
    CHECK(words(block.update(1, 0, frame(1, {12, 13, 14}))) ==
          "moved 0 (10 to 12), moved 1 (11 to 13), moved 2 (12 to 14)");
    // with keys first, the key that is still a sink is still the same one
    tracker keys{{.max_shift = 4, .keys_first = true}};
    keys.update(0, 0, frame(0, {10, 12}));
    CHECK(words(keys.update(1, 0, frame(1, {12, 14}))) == "moved 0 (10 to 14)");
}

TEST_CASE("a blinking sink is one track for the patient, many for the others") {
    tracker patient{{.max_shift = 2, .patience = 2}}, strict{{.max_shift = 2}};
    for (index_t step = 0; step < 30; ++step) {
        auto const f = frame(step, step % 3 == 0 ? std::vector<index_t>{70} : std::vector<index_t>{});
        patient.update(step, 0, f);
        strict.update(step, 0, f);
        CHECK(balanced(patient));
        CHECK(balanced(strict));
    }
    CHECK(patient.births() == 1);
    CHECK(patient.lives()[0].steps == 10);
    CHECK(strict.births() == 10);
    CHECK(strict.deaths() == 10);
    // last seen at 27, missed at 28 and 29: the third miss is one too many
    CHECK(words(patient.update(30, 0, frame(30, {}))) == "died 0 (70 to -1)");
    CHECK(patient.living() == 0);
    CHECK(patient.lives()[0].died == 30);
}

TEST_CASE("patience counts misses exactly") {
    tracker t{{.patience = 2}};
    t.update(0, 0, frame(0, {70}));
    CHECK(words(t.update(1, 0, frame(1, {}))) == "");
    CHECK(t.present(0)[0].missing);
    CHECK(words(t.update(2, 0, frame(2, {}))) == "");
    CHECK(words(t.update(3, 0, frame(3, {}))) == "died 0 (70 to -1)");
}

TEST_CASE("what was not observed does not age") {
    tracker t{{.max_shift = 4}};
    t.update(0, 0, frame(0, {10, 50}));
    CHECK(words(t.update(1, 0, detection(1, 0, 1, 1, width))) == ""); // nothing was seen at all
    CHECK(t.living() == 2);
    // key 10 is masked: it waits, and a new sink beside it is another one
    detection masked(2, 0, 1, 1, width);
    for (index_t key = 0; key < width; ++key) {
        if (key != 10) masked.observe(0, 0, key);
    }
    sink s;
    s.key = 12;
    s.received = 5;
    masked.add(s);
    s.key = 50;
    masked.add(s);
    CHECK(words(t.update(2, 0, masked)) == "born 2 (-1 to 12)");
    CHECK(t.living() == 3);
    CHECK(words(t.update(3, 0, frame(3, {10, 12, 50}))) == ""); // it was there all the time
    CHECK(balanced(t));
}

TEST_CASE("layers, texts and heads are followed apart") {
    tracker t;
    auto const two = [](index_t step, index_t layer, index_t key) {
        detection d(step, layer, 2, 2, 32);
        for (index_t b = 0; b < 2; ++b)
            for (index_t h = 0; h < 2; ++h) {
                for (index_t k = 0; k < 32; ++k) d.observe(b, h, k);
                sink s;
                s.batch = b;
                s.head = h;
                s.key = key + b + 2 * h;
                s.kind = step == 0 ? token_kind::masked : token_kind::decoded;
                s.received = 3;
                d.add(s);
            }
        return d;
    };
    CHECK(t.update(two(0, 5, 8)).size() == 4);
    CHECK(t.update(two(0, 1, 8)).size() == 4);
    CHECK(t.update(two(1, 5, 9)).size() == 4);
    CHECK(t.births() == 8);
    CHECK(t.present(5).size() == 4);
    CHECK(t.present(2).empty());
    life const& l = t.lives()[3];
    CHECK(l.layer == 5);
    CHECK(l.batch == 1);
    CHECK(l.head == 1);
    CHECK(l.path.size() == 2);
    CHECK(l.path[0].kind == token_kind::masked);
    CHECK(l.path[1].kind == token_kind::decoded);
    // Track 1 (batch 0, head 1, keys 10 then 11) of layer 5 and track 5 of layer 1 share key 10 of text 0.
    auto const groups = joined(t.lives());
    CHECK(groups.size() == 4);
    for (auto const& g : groups) CHECK(g.size() == 2);
    CHECK(groups[1] == std::vector<index_t>{1, 5});
}

TEST_CASE("a path has a new waypoint where the kind of token changes") {
    tracker t;
    for (index_t step = 0; step < 6; ++step) {
        detection d(step, 0, 1, 1, 8);
        for (index_t key = 0; key < 8; ++key) d.observe(0, 0, key);
        sink s;
        s.key = 3;
        s.received = 2;
        s.kind = step < 4 ? token_kind::masked : token_kind::decoded;
        d.add(s);
        CHECK(t.update(step, 0, d).size() == (step == 0 ? 1 : 0));
    }
    REQUIRE(t.lives().size() == 1);
    CHECK(t.lives()[0].path ==
          std::vector<waypoint>{{0, 3, 3, token_kind::masked, 4, 8}, {4, 5, 3, token_kind::decoded, 2, 4}});
}

TEST_CASE("joining needs the same key at the same time") {
    auto const at = [](index_t track, index_t batch, index_t key, index_t from, index_t to) {
        life l;
        l.track = track;
        l.batch = batch;
        l.path = {{from, to, key, token_kind::unknown, to - from + 1, 1}};
        return l;
    };
    // 0 and 1 overlap, 2 is later, 3 another text, 4 another key; 5 bridges 1 and 2
    std::vector<life> lives{at(0, 0, 7, 0, 9), at(1, 0, 7, 5, 6), at(2, 0, 7, 12, 13), at(3, 1, 7, 0, 9),
                            at(4, 0, 8, 0, 9)};
    CHECK(joined(lives) == std::vector<std::vector<index_t>>{{0, 1}, {2}, {3}, {4}});
    lives.push_back(at(5, 0, 7, 9, 12));
    CHECK(joined(lives) == std::vector<std::vector<index_t>>{{0, 1, 2, 5}, {3}, {4}});
    CHECK(joined({}).empty());
}

TEST_CASE("noisy movies: identity is exact wherever it is decidable") {
    // Sinks at least 2 x reach + jitter apart, each a random walk of steps within reach, some born and some dead at known
    // steps: every pair of successive appearances is decidable.
    basin_test::random_numbers random{11};
    for (int movie = 0; movie < 50; ++movie) {
        index_t const reach = 1 + random.below(5), lanes = 8, room = width / lanes;
        struct truth {
            index_t key, born, died;
        };
        std::vector<truth> sinks;
        for (index_t i = 0; i < lanes; ++i) {
            index_t const born = random.below(20);
            sinks.push_back({i * room + room / 2, born, born + 1 + random.below(30)});
        }
        tracker t{{.max_shift = reach}};
        std::map<index_t, index_t> track_of; // by true sink
        int wrong = 0;
        for (index_t step = 0; step < 60; ++step) {
            std::vector<index_t> keys;
            for (auto& s : sinks) {
                if (step < s.born || step >= s.died) continue;
                if (step > s.born) {
                    index_t const low = (s.key / room) * room + reach + 1, high = (s.key / room + 1) * room - reach - 2;
                    s.key = std::clamp(s.key + random.below(2 * reach + 1) - reach, low, high);
                }
                keys.push_back(s.key);
            }
            t.update(step, 0, frame(step, keys));
            auto const present = t.present(0);
            for (std::size_t i = 0; i < sinks.size(); ++i) {
                if (step < sinks[i].born || step >= sinks[i].died) continue;
                auto const here =
                    std::find_if(present.begin(), present.end(), [&](auto const& p) { return p.key == sinks[i].key; });
                REQUIRE(here != present.end());
                auto const known = track_of.emplace(static_cast<index_t>(i), here->track).first;
                wrong += known->second != here->track ? 1 : 0;
            }
            wrong += balanced(t) ? 0 : 1;
        }
        CHECK(wrong == 0);
        CHECK(t.births() == lanes);
        for (auto const& [i, track] : track_of) {
            CHECK(t.lives()[static_cast<std::size_t>(track)].born == sinks[static_cast<std::size_t>(i)].born);
            CHECK(t.lives()[static_cast<std::size_t>(track)].last_seen == sinks[static_cast<std::size_t>(i)].died - 1);
        }
    }
}

TEST_CASE("births minus deaths are the living, replay gives the same, memory is bounded by tracks") {
    basin_test::random_numbers random{12};
    for (index_t const patience : {0, 1, 3}) {
        tracking const how{.max_shift = 3, .patience = patience, .keys_first = patience == 1};
        tracker t{how};
        track_log log;
        std::vector<track_event> all;
        for (index_t step = 0; step < 200; ++step) {
            detection d(step, 0, 1, 1, 48);
            for (index_t key = 0; key < 48; ++key) {
                if (!random.chance(0.9)) continue;
                d.observe(0, 0, key);
                if (!random.chance(0.2)) continue;
                sink s;
                s.key = key;
                s.received = random.uniform(1, 9);
                s.kind = static_cast<token_kind>(random.below(5));
                d.add(s);
            }
            log.add(step, 0, d);
            auto const& events = t.update(step, 0, d);
            all.insert(all.end(), events.begin(), events.end());
            REQUIRE(balanced(t));
            // every sink of this step is the present key of exactly one track
            for (auto const& s : d.list()) {
                int holders = 0;
                for (auto const& p : t.present(0))
                    holders +=
                        p.key == s.key && !p.missing && t.lives()[static_cast<std::size_t>(p.track)].last_seen == step
                            ? 1
                            : 0;
                REQUIRE(holders == 1);
            }
        }
        std::string const path = "basin_test_track.log";
        log.save(path);
        tracker again{how};
        std::vector<track_event> replayed;
        auto const loaded = track_log::load(path);
        CHECK(loaded.size() == 200);
        loaded.replay(again,
                      [&](auto const& events) { replayed.insert(replayed.end(), events.begin(), events.end()); });
        CHECK(replayed == all);
        CHECK(again.lives() == t.lives());
        std::remove(path.c_str());
        long long births = 0, deaths = 0;
        for (auto const& e : all) {
            births += e.what == happening::born || e.what == happening::split ? 1 : 0;
            deaths += e.what == happening::died || e.what == happening::merged ? 1 : 0;
        }
        CHECK(births == t.births());
        CHECK(deaths == t.deaths());
    }
    tracker still;
    for (index_t step = 0; step < 2000; ++step) still.update(step, 0, frame(step, {5, 9, 100}));
    std::size_t waypoints = 0;
    for (life const& l : still.lives()) waypoints += l.path.size();
    CHECK(waypoints == 3);
    tracker brief{{.keep_paths = false}};
    for (index_t step = 0; step < 100; ++step) brief.update(step, 0, frame(step, {step}));
    REQUIRE(brief.lives().size() == 1);
    REQUIRE(brief.lives()[0].path.size() == 2);
    CHECK(brief.lives()[0].path[0].key == 0);
    CHECK(brief.lives()[0].path[1].key == 99);
}

TEST_CASE("steps out of order and heads that change are refused, and change nothing") {
    tracker t;
    t.update(5, 0, frame(5, {10}));
    CHECK_THROWS_AS(t.update(5, 0, frame(5, {10})), argument_error);
    CHECK_THROWS_AS(t.update(4, 0, frame(4, {10})), argument_error);
    CHECK_THROWS_AS(t.update(6, 0, detection(6, 0, 1, 2, width)), shape_error);
    CHECK_THROWS_AS(t.update(6, 0, detection(6, 0, 2, 1, width)), shape_error);
    CHECK_THROWS_AS(t.update(6, -1, frame(6, {10})), argument_error);
    CHECK(t.births() == 1);
    CHECK(words(t.update(6, 0, frame(6, {11}))) == "moved 0 (10 to 11)");
    CHECK_THROWS_AS(tracker{{.max_shift = -1}}, argument_error);
    CHECK_THROWS_AS(tracker{{.patience = -1}}, argument_error);
    CHECK_THROWS_AS(tracker{{.strengthened = 1}}, argument_error);
    CHECK_THROWS_AS(track_log::load("no/such/file"), io_error);
    std::FILE* const f = std::fopen("basin_test_bad.log", "w");
    REQUIRE(f != nullptr);
    std::fputs("basin track log 1\nupdate 0 0 1 1 8 1 0\n0 0 99 0 0x1p+0\n", f); // key 99 of 8
    std::fclose(f);
    CHECK_THROWS_AS(track_log::load("basin_test_bad.log"), io_error);
    std::remove("basin_test_bad.log");
}
