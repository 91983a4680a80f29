// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#include "call.hpp"

#include <doctest/doctest.h>

#include <cmath>

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
