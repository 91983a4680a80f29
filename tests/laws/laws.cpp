// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
// Random laws: composed policies to depth 4, random shapes, with and without sinks, all statistics. Seeded.
#include "laws.hpp"
#include "shrink.hpp"

#include <doctest/doctest.h>

#include <cstring>

namespace {

#if defined(BASIN_TEST_REDUCED)
constexpr long policy_cases = 150, reference_cases = 60, backend_cases = 40;
#else
constexpr long policy_cases = 4000, reference_cases = 1600, backend_cases = 400;
#endif

void law_of_policies(char const* name) {
    for (auto const& l : laws::policy_laws())
        if (std::strcmp(l.name, name) == 0) return laws::run_law(l, laws::all_runners().front(), policy_cases);
    FAIL("no such law");
}
void law_of_attention(char const* name) {
    for (auto const& l : laws::attention_laws()) {
        if (std::strcmp(l.name, name) != 0) continue;
        for (auto const& r : laws::all_runners()) laws::run_law(l, r, r.exact ? reference_cases : backend_cases);
        return;
    }
    FAIL("no such law");
}

TEST_CASE("law of policies: visible is the formula") { law_of_policies("visible is the formula"); }
TEST_CASE("law of policies: cover is sound") { law_of_policies("cover is sound"); }
TEST_CASE("law of policies: cover is sound far out") { law_of_policies("cover is sound far out"); }
TEST_CASE("law of policies: lanes are scalars") { law_of_policies("lanes are scalars"); }
TEST_CASE("law of policies: full is the identity") { law_of_policies("full is the identity"); }
TEST_CASE("law of policies: all_of is associative") { law_of_policies("all_of is associative"); }
TEST_CASE("law of policies: both is both") { law_of_policies("both is both"); }
TEST_CASE("law of policies: masks are an algebra") { law_of_policies("masks are an algebra"); }
TEST_CASE("law of policies: a sink token is seen by all and sees itself") {
    law_of_policies("a sink token is seen by all and sees itself");
}

TEST_CASE("law of attention: agrees with the oracle") { law_of_attention("agrees with the oracle"); }
TEST_CASE("law of attention: rows sum to one minus escaped") { law_of_attention("rows sum to one minus escaped"); }
TEST_CASE("law of attention: the order of keys does not matter") {
    law_of_attention("the order of keys does not matter");
}
TEST_CASE("law of attention: a constant changes nothing without a sink") {
    law_of_attention("a constant changes nothing without a sink");
}
TEST_CASE("law of attention: split keys merge by lse") { law_of_attention("split keys merge by lse"); }
TEST_CASE("law of attention: the unseen may hold NaN") { law_of_attention("the unseen may hold NaN"); }
TEST_CASE("law of attention: NaN reaches only who sees it") { law_of_attention("NaN reaches only who sees it"); }
TEST_CASE("law of attention: a wide window is full") { law_of_attention("a wide window is full"); }
TEST_CASE("law of attention: grouped heads are repeated heads") {
    law_of_attention("grouped heads are repeated heads");
}
TEST_CASE("law of attention: strided is contiguous") { law_of_attention("strided is contiguous"); }
TEST_CASE("law of attention: observe is the pass") { law_of_attention("observe is the pass"); }
TEST_CASE("law of attention: packed is padded") { law_of_attention("packed is padded"); }
TEST_CASE("law of attention: a row stands alone") { law_of_attention("a row stands alone"); }
TEST_CASE("law of attention: a sink token is a denominator sink") {
    law_of_attention("a sink token is a denominator sink");
}

TEST_CASE("every law is run, and enough of them") {
    CHECK(laws::policy_laws().size() == 9);
    CHECK(laws::attention_laws().size() == 14);
#if !defined(BASIN_TEST_REDUCED)
    CHECK(9 * policy_cases + 14 * 3 * reference_cases >= 100000); // without any other backend
#endif
}

TEST_CASE("a failing case shrinks to its cause and prints as C++") {
    // A made-up law that fails where a window meets more than two keys.
    auto const fails = [](laws::law_case const& c) {
        for (int i = 0; i < c.policy.count; ++i)
            if (c.policy.nodes[i].what == laws::program::op::window) return c.keys > 2;
        return false;
    };
    int shrunk = 0;
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        laws::law_case const c = laws::random_case(seed);
        if (!fails(c)) continue;
        laws::law_case const small = laws::shrink(c, fails);
        ++shrunk;
        CHECK(fails(small));
        CHECK(small.keys == 3);
        CHECK(small.queries == 0);
        CHECK(small.policy.count == 1);
        CHECK(small.policy.score_count == 0);
        CHECK(laws::text(small, "x", "y").find("c.policy = program{}.window(") != std::string::npos);
    }
    CHECK(shrunk > 20);
    CHECK(laws::try_law("no such law", laws::law_case{}, "reference float") != "");
    CHECK(laws::try_law("agrees with the oracle", laws::random_case(1), "reference float") == "");
}

} // namespace
