// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#include "call.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

using namespace basin_test;
using basin::buffer;
using basin::index_t;

// Corners in which a backend once differed from the reference.
namespace {

struct arrays {
    buffer<float, 4> q, k, v, out;
    arrays(index_t queries, index_t keys)
        : q(1, 1, queries, 8), k(1, 1, keys, 8), v(1, 1, keys, 8), out(1, 1, queries, 8) {
        float x = 0.37F;
        for (auto* a : {&q, &k, &v})
            for (float& y : *a) y = x = std::fmod(x * 97.31F + 0.123F, 1.F) - 0.5F + (x < 0 ? 0.3F : 0.F);
    }
};

/// Of the row's facts alone, and not 0 before the first one.
struct highest_lse : basin::query_statistic<float> {
    using basin::query_statistic<float>::query_statistic;
    using only_rows = void;
    static constexpr float identity() { return -basin::math::infinity<float>; }
    float combine(float a, float b) const { return a < b ? b : a; }
    float finish(float x, basin::row_facts<float> const& row) const { return x < row.lse ? row.lse : x; }
};

/// Output, lse, entropy and received attention of one policy, by a backend and by the reference.
template <class Backend, class Policy>
void check_against_reference(Policy const& policy, index_t queries, index_t keys) {
    INFO(std::string(name_of<Backend>));
    arrays a(queries, keys), b(queries, keys);
    buffer<float, 3> lse(1, 1, queries), expected(1, 1, queries), spread(1, 1, queries), expected_spread(1, 1, queries);
    buffer<float, 3> mass(1, 1, keys), expected_mass(1, 1, keys);
    basin::attention(Backend{}, a.q, a.k, a.v, a.out, policy, basin::lse{lse}, basin::entropy{spread},
                     basin::received{mass});
    basin::attention(basin::reference_backend{}, b.q, b.k, b.v, b.out, policy, basin::lse{expected},
                     basin::entropy{expected_spread}, basin::received{expected_mass});
    for (index_t i = 0; i < queries; ++i) {
        CHECK(lse(0, 0, i) == doctest::Approx(static_cast<double>(expected(0, 0, i))).epsilon(1e-5));
        CHECK(std::fabs(spread(0, 0, i) - expected_spread(0, 0, i)) < 1e-3F);
        for (index_t c = 0; c < 8; ++c) CHECK(std::fabs(a.out(0, 0, i, c) - b.out(0, 0, i, c)) < 1e-4F);
    }
    for (index_t i = 0; i < keys; ++i) CHECK(std::fabs(mass(0, 0, i) - expected_mass(0, 0, i)) < 1e-3F);
}

} // namespace

TEST_CASE("contract: a statistic of rows alone starts from its own identity") {
    for_each_backend([]<class Backend>() {
        INFO(std::string(name_of<Backend>));
        arrays a(20, 20);
        buffer<float, 3> mine(1, 1, 20), l(1, 1, 20), spread(1, 1, 20);
        auto const low = basin::score_with([](auto x, auto) { return x - 50.F; });
        basin::attention(Backend{}, a.q, a.k, a.v, a.out, low, highest_lse{mine}, basin::lse{l},
                         basin::entropy{spread});
        for (index_t i = 0; i < 20; ++i) CHECK(mine(0, 0, i) == l(0, 0, i));
    });
}

TEST_CASE("contract: a NaN row makes NaN of what the keys it sees received, and of no other") {
    for_each_backend([]<class Backend>() {
        INFO(std::string(name_of<Backend>));
        for (int const n : {5, 70, 150}) { // the row lies in the first vector of rows, and in later ones
            for (int const row : {1, n / 2, n - 2}) {
                call x(n, n), good(n, n);
                x.q(row, 1) = not_a_number;
                for (call* const c : {&x, &good})
                    basin::attention(Backend{}, c->q, c->k, c->v, c->out, basin::causal{},
                                     basin::received{c->received});
                CAPTURE(n);
                CAPTURE(row);
                for (int j = 0; j < n; ++j)
                    CHECK((j <= row ? std::isnan(x.received(j)) : x.received(j) == good.received(j)));
            }
        }
    });
}

TEST_CASE("contract: an infinite value whose share becomes 0 later takes nothing") {
    for_each_backend([]<class Backend>() {
        INFO(std::string(name_of<Backend>));
        for (float const bad : {not_a_number, inf, -inf}) {
            // The share of key 0 is 1 at first. Then another key takes all of it: at once, or in three steps, none of which
            // makes it 0 alone; or a sink does, or a key and a sink together.
            for (int const kind : {0, 1, 2, 3}) {
                CAPTURE(kind);
                call x(40, 400), good(40, 400);
                for (call* const c : {&x, &good}) {
                    for (int i = 0; i < 40; i += 2) {
                        if (kind == 0) c->bias(i, 300) = 500;
                        if (kind == 1) c->bias(i, 140) = 60, c->bias(i, 270) = 120, c->bias(i, 399) = 180;
                        if (kind == 3) c->bias(i, 399) = 60;
                    }
                    if (kind == 2) c->sink = 500;
                    if (kind == 3) c->sink = 120;
                    c->sees = [=](int i, int j) { return j != 0 || kind >= 2 || i % 2 == 0; };
                }
                x.v(0, 1) = bad;
                good.v(0, 1) = 0;
                x.run(Backend{});
                good.run(Backend{});
                for (int i = 0; i < 40; ++i) {
                    if (kind == 3 && i % 2 == 1) continue; // the sink alone leaves something
                    CHECK(x.lse(i) == good.lse(i));
                    for (int c = 0; c < 4; ++c) CHECK(x.out(i, c) == doctest::Approx(good.out(i, c)).epsilon(1e-6));
                }
            }
        }
    });
}

TEST_CASE("contract: an infinite score beside an infinite sink is NaN, though the sink takes all") {
    for_each_backend([]<class Backend>() {
        INFO(std::string(name_of<Backend>));
        call x(40, 150);
        x.sink = static_cast<double>(inf);
        x.bias(7, 70) = inf;
        x.bias(9, 71) = not_a_number;
        x.run(Backend{});
        CHECK(x.row_is_nan(7));
        CHECK(x.row_is_nan(9));
        for (int i = 0; i < 40; ++i) {
            CHECK((i == 7 || i == 9 || x.row_is(i, 0)));
            CHECK((i == 9 || x.lse(i) == inf));
            CHECK((i == 9 || x.escaped(i) == 1));
        }
        CHECK(std::isnan(x.received(70)));
    });
}

TEST_CASE("contract: a NaN row has escaped NaN beside a sink") {
    for_each_backend([]<class Backend>() {
        INFO(std::string(name_of<Backend>));
        arrays a(8, 8);
        a.q(0, 0, 3, 0) = NAN;
        buffer<float, 3> gone(1, 1, 8);
        basin::attention(Backend{}, a.q, a.k, a.v, a.out, basin::sink_logit{0.0}, basin::escaped{gone});
        CHECK(std::isnan(gone(0, 0, 3)));
        CHECK(gone(0, 0, 2) < 1);
    });
}

TEST_CASE("contract: no key visible beside a large sink gives its logit and escaped 1") {
    for_each_backend([]<class Backend>() {
        INFO(std::string(name_of<Backend>));
        for (float const logit : {1e3F, 1e4F, 1e5F, -1e5F}) {
            arrays a(8, 8);
            buffer<float, 3> gone(1, 1, 8), l(1, 1, 8);
            basin::attention(Backend{}, a.q, a.k, a.v, a.out, basin::prefix{0} & basin::sink_logit{logit},
                             basin::escaped{gone}, basin::lse{l});
            CHECK(gone(0, 0, 5) == doctest::Approx(1).epsilon(1e-6));
            CHECK(gone(0, 0, 5) <= 1);
            CHECK(l(0, 0, 5) == logit);
        }
    });
}

TEST_CASE("contract: a kv_sink that takes all gives its value") {
    for_each_backend([]<class Backend>() {
        INFO(std::string(name_of<Backend>));
        arrays a(8, 8);
        buffer<float, 2> key(1, 8), value(1, 8);
        key.fill(1e30F);
        value.fill(2.F);
        a.q.fill(1e30F);
        basin::attention(Backend{}, a.q, a.k, a.v, a.out, basin::kv_sink{key, value});
        for (float const x : a.out) CHECK(x == 2.F);
    });
}

TEST_CASE("contract: blocks at the largest positions do not overflow") {
    for_each_backend([]<class Backend>() {
        INFO(std::string(name_of<Backend>));
        arrays a(8, 8), b(8, 8);
        basin::options const far{.query_position = 0x7fffffff - 8, .key_position = 0x7fffffff - 8};
        // 0x7fffffff - 8 lies in the last block of 64, as do the seven after it
        basin::attention(Backend{}, a.q, a.k, a.v, a.out, basin::full{});
        basin::attention(Backend{}, b.q, b.k, b.v, b.out, basin::block_causal{64} & basin::blocks{64}, far);
        for (index_t i = 0; i < 8; ++i) CHECK(b.out(0, 0, i, 3) == doctest::Approx(a.out(0, 0, i, 3)));
    });
}

TEST_CASE("contract: scores that a policy raises late in the text do not overflow") {
    // Far above what the row began with, in whole tiles, for some rows of a tile and not for others.
    auto const policy = basin::score_with(
        [](float x, basin::site s) { return s.key >= 150 && s.query % 4 == 1 ? x + static_cast<float>(s.key) : x; });
    for_each_backend([&]<class Backend>() { check_against_reference<Backend>(policy, 70, 300); });
}

TEST_CASE("contract: rows that start far from their neighbours keep their digits") {
    for (int which = 0; which < 6; ++which) {
        for (float const offset : {200.F, -200.F}) { // 2^200 and 2^-200 are no floats
            INFO("row ", which, " of six, moved by ", offset);
            auto const policy =
                basin::score_with([=](float x, basin::site s) { return s.query % 6 == which ? x + offset : x; });
            for_each_backend([&]<class Backend>() { check_against_reference<Backend>(policy, 15, 140); });
        }
    }
}

TEST_CASE("contract: a row that starts before its neighbours keeps what it has gathered") {
    for (int which = 0; which < 6; ++which) {
        INFO("row ", which, " of six");
        auto const policy = basin::mask_if([=](basin::site s) { return s.key >= 70 || s.query % 6 == which; });
        for_each_backend([&]<class Backend>() { check_against_reference<Backend>(policy, 15, 280); });
    }
}

TEST_CASE("contract: entropy beside a sink keeps its digits where the scores rise above it") {
    for_each_backend([&]<class Backend>() {
        INFO(std::string(name_of<Backend>));
        buffer<double, 4> q(1, 1, 3, 1), k(1, 1, 200, 1), v(1, 1, 200, 1), out(1, 1, 3, 1);
        q.fill(1);
        for (index_t i = 0; i < 200; ++i) k(0, 0, i, 0) = i < 120 ? 0.01 * i : 22;
        buffer<double, 3> got(1, 1, 3), expected(1, 1, 3);
        basin::attention(Backend{}, q, k, v, out, basin::sink_logit{0.5}, basin::options{.scale = 1},
                         basin::entropy{got});
        basin::attention(basin::reference_backend{}, q, k, v, out, basin::sink_logit{0.5}, basin::options{.scale = 1},
                         basin::entropy{expected});
        for (index_t i = 0; i < 3; ++i) CHECK(std::fabs(got(0, 0, i) - expected(0, 0, i)) < 1e-11);
    });
}

TEST_CASE("contract: a soft cap as large as a number can be caps nothing") {
    for_each_backend([&]<class Backend>() {
        INFO(std::string(name_of<Backend>));
        arrays a(20, 40), b(20, 40);
        basin::attention(Backend{}, a.q, a.k, a.v, a.out,
                         basin::softcap{static_cast<double>(std::numeric_limits<float>::max())});
        basin::attention(basin::reference_backend{}, b.q, b.k, b.v, b.out, basin::full{});
        for (index_t i = 0; i < 20; ++i)
            for (index_t c = 0; c < 8; ++c) CHECK(std::fabs(a.out(0, 0, i, c) - b.out(0, 0, i, c)) < 1e-5F);
    });
}

#if defined(BASIN_TEST_SIMD_BACKEND)
TEST_CASE("contract: tiny values give the same statistics on one thread and on two threads") {
    arrays a(200, 200);
    for (float& x : a.v) x *= 6e-20F;
    buffer<float, 3> one(1, 1, 200), two(1, 1, 200);
    basin::attention(basin::simd_backend{}, a.q, a.k, a.v, a.out, basin::full{}, basin::received_value{one});
    basin::attention(basin::simd_backend{.threads = 2}, a.q, a.k, a.v, a.out, basin::full{},
                     basin::received_value{two});
    for (index_t i = 0; i < 200; ++i) {
        CHECK(one(0, 0, i) == two(0, 0, i));
        CHECK(one(0, 0, i) > 0);
    }
}

TEST_CASE("contract: a row taken by an infinite sink does not spoil others, however many blocks there are") {
    for (index_t const n : {288, 3840}) {
        arrays a(n, 40);
        a.q(0, 0, 5, 0) = NAN;
        buffer<float, 3> mass(1, 1, 40);
        basin::attention(basin::simd_backend{}, a.q, a.k, a.v, a.out, basin::sink_logit{double{INFINITY}},
                         basin::received{mass});
        for (float const x : mass) CHECK(x == 0.F);
    }
}

TEST_CASE("contract: workspace_bytes refuses less than one thread") {
    arrays a(80, 80);
    CHECK_THROWS_AS(basin::workspace_bytes(basin::simd_backend{.threads = 0}, a.q, a.k, a.v, a.out, basin::full{}),
                    basin::argument_error);
}
#endif
