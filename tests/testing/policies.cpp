// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
// Every policy of the library under the laws; and faulty ones, which the laws must find.
#include <basin/basin.hpp>
#include <basin/testing/policy_laws.hpp>

#include <doctest/doctest.h>

#include <string>

namespace {

using namespace basin;
using testing::check_mask;
using testing::check_options;
using testing::check_policy;

void passes(testing::report const& r) { CHECK_MESSAGE(r.ok(), r.text()); }

TEST_CASE("laws of masks that have a formula") {
    passes(check_policy(full{}));
    passes(check_policy(causal{}));
    passes(check_policy(window{3, 2}));
    passes(check_policy(window{0, 0}));
    passes(check_policy(prefix{4}));
    passes(check_policy(prefix{0}));
    passes(check_policy(blocks{5}));
    passes(check_policy(block_causal{4}));
    check_options square;
    square.queries = square.keys = 22;
    passes(check_policy(block_diffusion{4, 11}, square));
    passes(check_policy(sink_token{5}));
    passes(check_policy(mask_if([](auto s) { return (s.query ^ s.key) % 2 == 0; }, supported{})));
}

TEST_CASE("laws of policies that own data") {
    check_options o;
    o.keys = 70; // more than one word of bits
    o.queries = 9;
    key_set hidden(2, 2, 70);
    for (index_t const key : {0, 3, 62, 63, 64, 69}) hidden.insert(key % 2, key % 2, key), hidden.insert(1, 0, key);
    passes(check_policy(sink_masked{hidden}, o));
    passes(check_policy(sink_masked{hidden, sink_masked::except_itself}, o));
    passes(check_policy(
        key_bits::of({{2, 1, 9, 70}}, [](site s) { return (s.query * 7 + s.key * 3 + s.batch) % 5 < 2; }), o));
    passes(check_policy(any_mask(any_of(window{2, 2}, prefix{3})), o));
    passes(check_policy(any_mask(sink_masked{hidden}), o));
    passes(check_policy(all_of(any_mask(causal{}), any_mask{}), o));
    buffer<float, 4> table(2, 1, 9, 70);
    index_t n = 0;
    for (float& x : table) x = n++ % 11 == 0 ? -math::infinity<float> : 0.125F * static_cast<float>(n % 7);
    passes(check_policy(bias{table}, o));
}

TEST_CASE("laws of scores and sinks") {
    passes(check_policy(softcap{2}));
    passes(check_policy(temperature{0.5}));
    passes(check_policy(alibi{0.5, 0.25}));
    passes(check_policy(alibi::geometric(2)));
    passes(check_policy(score_with([](auto x, auto s) { return s.key % 2 == 0 ? x : -x; })));
    passes(check_policy(sink_logit{0}));
    passes(check_policy(sink_logit{0.5, -1}));
    buffer<float, 2> keys(2, 6), values(2, 3);
    keys.fill(0.25F);
    values.fill(0.5F);
    passes(check_policy(kv_sink{keys}));
    passes(check_policy(kv_sink{keys, values}));
}

// ---- what the laws must find ----

struct loses_its_diagonal { // cover says none one tile too early
    constexpr bool visible(site s) const { return s.key <= s.query; }
    constexpr coverage cover(tile t) const { return t.key_begin >= t.query_end - 1 ? coverage::none : coverage::some; }
};
struct claims_all {
    constexpr bool visible(site s) const { return s.key <= s.query; }
    constexpr coverage cover(tile t) const { return t.key_begin <= t.query_begin ? coverage::all : coverage::some; }
};
struct other_in_lanes {
    using lanes = supported;
    template <class Lane>
    auto visible(basic_site<Lane> const& s) const {
        if constexpr (std::is_same_v<Lane, index_t>)
            return s.key <= s.query;
        else
            return s.key < s.query;
    }
};
struct other_scores_in_lanes {
    using lanes = supported;
    template <class X, class Lane>
    X score(X x, basic_site<Lane> const&) const {
        if constexpr (std::is_same_v<Lane, index_t>)
            return x * X(2);
        else
            return x * X(2.00001);
    }
};
struct cap_without_units { // the cap stays where it was
    using lanes = supported;
    double cap = 3;
    template <class X, class Lane>
    X score(X x, basic_site<Lane> const&) const {
        return math::soft_cap(x, cap);
    }
    cap_without_units in_units(double) const { return *this; }
};
struct hides_too_much {
    constexpr bool visible(site s) const { return s.key != 2; }
    constexpr bool hides(head_site, index_t key) const { return key <= 2; }
};
struct bound_differently {
    bool visible(site s) const { return s.key < 3; }
    prefix bind(shape_facts const&) const { return {4}; }
};

void fails(testing::report const& r, char const* words) {
    CHECK_FALSE(r.ok());
    CHECK(r.failed() > 0);
    REQUIRE_FALSE(r.failures().empty());
    CHECK_MESSAGE(r.text().find(words) != std::string::npos, r.text());
}

TEST_CASE("faulty policies are found") {
    fails(check_policy(loses_its_diagonal{}), "cover says none for (batch 0, head 0, queries 0 to 0, keys 0 to 0), but "
                                              "(batch 0, head 0, query 0, key 0) is visible");
    fails(check_policy(claims_all{}), "cover says all for (batch 0, head 0, queries 0 to 0, keys 0 to 1), but (batch "
                                      "0, head 0, query 0, key 1) is hidden");
    fails(check_policy(other_in_lanes{}), "lanes equal scalars: visible differs at (batch 0, head 0, query 0, key 0)");
    fails(check_policy(other_scores_in_lanes{}), "lanes equal scalars: score differs");
    fails(check_policy(cap_without_units{}),
          "in_units: the score differs in other units at (batch 0, head 0, query 0, key 0)");
    fails(check_policy(hides_too_much{}), "hides says that nobody sees key 0 of head 0, but somebody does");
    fails(check_policy(bound_differently{}),
          "the bound form differs from the policy at (batch 0, head 0, query 0, key 3)");
    fails(check_mask(claims_all{}), "cover says all");
}

} // namespace
