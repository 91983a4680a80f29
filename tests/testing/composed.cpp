// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
// Statically composed policies under the laws: both, either, inverse, only_where, sink_token over a base.
#include <basin/basin.hpp>
#include <basin/testing/policy_laws.hpp>

#include <doctest/doctest.h>

namespace {

using namespace basin;
using testing::check_mask;
using testing::check_options;
using testing::check_policy;

void passes(testing::report const& r) { CHECK_MESSAGE(r.ok(), r.text()); }

struct fading {
    template <class X>
    X weight(X p, site const& s) const {
        return s.key % 2 == 0 ? p : p * X(0.5);
    }
    template <class X>
    X value(X x, value_site const& s) const {
        return x + X(s.key);
    }
};

TEST_CASE("laws of composed policies") {
    passes(check_policy(all_of(causal{}, softcap{30}, sink_logit{0.25})));
    passes(check_policy(any_of(window{2, 2}, prefix{4})));
    passes(check_policy(none_of(blocks{4}, prefix{2})));
    passes(check_policy(where(causal{}, all_of(softcap{1}, temperature{2}))));
    passes(check_policy(sink_token{{0, 7}, all_of(window{3, 1}, alibi{0.5, 0.25}, sink_logit{1}, fading{})}));
    passes(check_policy(sink_token{{2, 3, 2}, none_of(window{1, 1}), true}));
    passes(check_policy(all_of(fading{}, where(prefix{5}, score_with([](auto x, auto) { return x - 1; })), full{})));
    passes(check_policy(
        all_of(sink_logit{1}, sink_logit{0.5, -1}, any_of(causal{}, mask_if([](site s) { return s.head == 1; })))));
    auto const a = window{2, 2};
    auto const b = prefix{3};
    passes(check_policy((a | b) & ~(~a & ~b) & ~blocks{7}));
}

TEST_CASE("the algebra of masks") {
    check_options o;
    o.queries = 11;
    o.keys = 13;
    passes(check_mask(window{2, 1}, causal{}, o));
    passes(check_mask(any_of(prefix{2}, blocks{3}), block_causal{4}, o));
    passes(check_mask(sink_token{3, window{1, 1}}, none_of(causal{}), o));
    passes(check_mask(sink_masked{key_set(13, {2, 7})}, any_mask(window{3, 3}), o));
    passes(check_mask(key_bits::of({{1, 1, 11, 13}}, [](site s) { return s.key * 5 % 3 != s.query % 3; }), full{}, o));
}

} // namespace
