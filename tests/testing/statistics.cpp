// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#include <basin/basin.hpp>
#include <basin/testing/statistic_laws.hpp>

#include <doctest/doctest.h>

#include <string>

#if defined(BASIN_TEST_SIMD) && __has_include(<basin/backend/simd.hpp>)
#include <basin/backend/simd.hpp>
using fast_backend = basin::simd_backend;
#else
using fast_backend = basin::reference_backend;
#endif

namespace {

using namespace basin;
using testing::check_statistic;

void passes(testing::report const& r) { CHECK_MESSAGE(r.ok(), r.text()); }

/// A statistic of one's own: by key, the mean distance to the queries that look at it, unnormalised.
template <class T>
struct reach : key_statistic<T> {
    using key_statistic<T>::key_statistic;
    using lanes = supported;
    static constexpr T identity() { return T(0); }
    template <class X, class Lane, class Site>
    X map(cell<X, Lane, T> const& c, Site const& s) const {
        return c.p * math::convert<X>(math::abs(s.query - s.key));
    }
    template <class X>
    X combine(X a, X b) const {
        return a + b;
    }
};
template <class Array>
reach(Array&&) -> reach<detail::element_of<Array>>;

TEST_CASE("laws of statistics by key") {
    passes(check_statistic([](auto& a) { return received{a}; }, {}, fast_backend{}));
    passes(check_statistic([](auto& a) { return received_value{a}; }, {}, fast_backend{}));
    passes(check_statistic([](auto& a) { return peak{a}; }));
    passes(check_statistic([](auto& a) { return votes{a}; }));
    passes(check_statistic([](auto& a) { return seen{a}; }));
    passes(check_statistic([](auto& a) { return reach{a}; }, fast_backend{}));
}

TEST_CASE("laws of statistics by query") {
    passes(check_statistic([](auto& a) { return entropy{a}; }, {}, fast_backend{}));
    passes(check_statistic([](auto& a) { return lse{a}; }));
    passes(check_statistic([](auto& a) { return escaped{a}; }));
    testing::check_options const o;
    buffer<index_t, 3> keys(o.batch, o.heads, o.queries);
    passes(check_statistic([&](auto& a) { return favourite{keys, a}; }));
}

struct takes_the_last : key_statistic<float> { // depends on the order
    using key_statistic<float>::key_statistic;
    static constexpr float identity() { return 0; }
    float map(cell<float, index_t, float> const& c, site const&) const { return c.p; }
    float combine(float, float b) const { return b; }
};
struct counts_places : key_statistic<float> { // depends on where a key lies in memory
    using key_statistic<float>::key_statistic;
    static constexpr float identity() { return 0; }
    float map(cell<float, index_t, float> const& c, site const&) const { return c.p * static_cast<float>(c.place); }
    float combine(float a, float b) const { return a + b; }
};
struct keeps_the_first : key_statistic<float> { // its own results are all the identity
    using key_statistic<float>::key_statistic;
    static constexpr float identity() { return 0; }
    float map(cell<float> const& c, site const&) const { return c.p; }
    float combine(float a, float) const { return a; }
};
struct odd_places : key_statistic<float> { // which a mere reversal of the keys would not show
    using key_statistic<float>::key_statistic;
    static constexpr float identity() { return 0; }
    float map(cell<float> const& c, site const&) const { return c.place % 2 == 0 ? 0.F : c.p; }
    float combine(float a, float b) const { return a + b; }
};
struct never_fires : key_statistic<float> {
    using key_statistic<float>::key_statistic;
    static constexpr float identity() { return 0; }
    float map(cell<float> const& c, site const&) const { return c.p > 1 ? 1.F : 0.F; }
    float combine(float a, float b) const { return a + b; }
};
struct wrong_identity : query_statistic<float> {
    using query_statistic<float>::query_statistic;
    static constexpr float identity() { return 1; }
    float map(cell<float, index_t, float> const& c, site const&) const { return c.p; }
    float combine(float a, float b) const { return a + b; }
};

struct no_more_than_one : key_statistic<float> { // 5 is none of its numbers
    using key_statistic<float>::key_statistic;
    static constexpr float identity() { return 0; }
    float map(cell<float> const& c, site const&) const { return c.p; }
    float combine(float a, float b) const { return a + b < 1 ? a + b : 1.F; }
};

void fails(testing::report const& r, char const* words) {
    CHECK_FALSE(r.ok());
    CHECK_MESSAGE(r.text().find(words) != std::string::npos, r.text());
}

TEST_CASE("a statistic with numbers of its own is combined with those") {
    auto const make = [](auto& a) { return no_more_than_one{a}; };
    fails(check_statistic(make), "combine(a, identity) is a");
    passes(check_statistic(make, {.numbers = {0, 0.1F, 0.25F, 0.5F, 1}}));
    fails(check_statistic(make, {.numbers = {0.5F, 3}}), "combine(a, identity) is a: 1.000000 and 3.000000");
}

TEST_CASE("faulty statistics are found") {
    fails(check_statistic([](auto& a) { return takes_the_last{a}; }), "combine(a, b) is combine(b, a)");
    fails(check_statistic([](auto& a) { return counts_places{a}; }), "the order of keys does not matter");
    fails(check_statistic([](auto& a) { return wrong_identity{a}; }), "combine(a, identity) is a");
    fails(check_statistic([](auto& a) { return keeps_the_first{a}; }), "combine(a, b) is combine(b, a)");
    fails(check_statistic([](auto& a) { return odd_places{a}; }), "the order of keys does not matter");
    fails(check_statistic([](auto& a) { return never_fires{a}; }), "nothing was tested");
}

} // namespace
