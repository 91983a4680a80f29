// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
// Derivatives of the library's policies under the laws; and faulty ones, which the laws must find.
#include <basin/basin.hpp>
#include <basin/intervene.hpp>
#include <basin/policy/learned.hpp>
#include <basin/testing/gradient_laws.hpp>

#include <doctest/doctest.h>

namespace {

using namespace basin;
using testing::check_gradients;
using testing::check_options;
using testing::check_score_slope;

void passes(testing::report const& r) { CHECK_MESSAGE(r.ok(), r.text()); }

/// Uses every function that dual numbers have.
struct wiggly {
    using lanes = supported;
    template <class X, class Lane>
    X score(X x, basic_site<Lane> const& s) const {
        X const far = math::convert<X>(math::abs(s.query - s.key));
        X const y = math::exp(x * 0.25) + math::log(x * x + 1.5F) / (2 + math::sqrt(x * x + X(1)));
        X const bent = math::max(y, -5.0 - math::abs(x)) - math::min(math::tanh(y - 1), X(3)) * far / X(10);
        return math::select(far > X(3), bent, 2 - bent * x);
    }
};
struct powers {
    template <class X>
    X score(X x, site const&) const {
        return math::pow(x * x + X(1), X(1.5)) + math::pow(X(2), x);
    }
};
template <int Wrong>
struct half_square {
    template <class X>
    X score(X x, site const& s) const {
        return x * x * X(0.5) + X(s.key);
    }
    template <class X>
    X score_slope(X x, site const& s) const {
        return x + (Wrong != 0 && s.key == 3 ? X(0.01) : X(0));
    }
};
/// A slope that differs between lanes and scalars.
struct forgets_a_lane {
    using lanes = supported;
    template <class X, class Lane>
    X score(X x, basic_site<Lane> const&) const {
        return x + x;
    }
    template <class X, class Lane>
    X score_slope(X, basic_site<Lane> const&) const {
        return std::is_same_v<Lane, index_t> ? X(2) : X(1);
    }
};
/// A policy of one's own around another: lanes outside, none inside.
template <class Inside>
struct around {
    using lanes = supported;
    Inside inside;
    template <class X, class Lane>
    X score(X x, basic_site<Lane> const& s) const {
        return facet::score(inside, x * X(2), s) + x;
    }
};
struct faded {
    template <class X>
    X weight(X p, site const& s) const {
        return s.key % 2 == 0 ? p * p : p;
    }
};
struct wrongly_faded : faded {
    template <class X>
    X weight_slope(X p, site const& s) const {
        return s.key % 2 == 0 ? p : X(1);
    }
};
struct squared_values {
    template <class X>
    X value(X x, value_site const&) const {
        return x * x;
    }
};
struct wrongly_squared_values : squared_values {
    template <class X>
    X value_slope(X x, value_site const&) const {
        return x;
    }
};

TEST_CASE("derivatives of every policy keep the laws") {
    check_options const o{.queries = 6, .keys = 7};
    passes(check_gradients(softcap{1.25}, o));
    passes(check_gradients(temperature{0.7}, o));
    passes(check_gradients(alibi{0.5, 0.25}, o));
    buffer<double, 2> table(6, 7);
    table(2, 3) = 1.5;
    passes(check_gradients(bias{table}, o));
    passes(check_gradients(all_of(softcap{2}, temperature{0.5}, wiggly{}), o));
    passes(check_gradients(where(causal{}, all_of(wiggly{}, softcap{3})), o));
    passes(check_gradients(sink_token{{0, 2}, wiggly{}}, o));
    passes(check_gradients(powers{}, o));
    std::vector<double> d(1), slopes(2);
    passes(check_gradients(all_of(learned{temperature{1.5}, d}, learned{alibi{1.0, 0.5}, slopes}), o));
    key_set keys(1, 1, 7);
    keys.insert(0, 0, 3);
    passes(check_gradients(all_of(faded{}, probability_scaled{keys, 0.25}), o));
    passes(check_gradients(where(causal{}, faded{}), o));
    passes(check_gradients(all_of(squared_values{}, value_replaced{keys}), o));
    passes(check_gradients(sink_token{{1}, all_of(squared_values{}, faded{})}, o));
    passes(check_gradients(logit_added{keys, 0.5}, o));
    passes(check_gradients(around<half_square<0>>{}, o));
    passes(check_gradients(around<wiggly>{}, o));
    passes(check_gradients(half_square<0>{}, o));
    passes(check_score_slope(half_square<0>{}, o));
    CHECK(check_gradients(softcap{2}, o).cases() > 100);
}

TEST_CASE("wrong slopes are found") {
    check_options const o{.queries = 6, .keys = 7};
    CHECK(!check_gradients(half_square<1>{}, o).ok());
    CHECK(!check_score_slope(half_square<1>{}, o).ok());
    CHECK(!check_gradients(all_of(softcap{3}, half_square<1>{}), o).ok());
    CHECK(!check_gradients(forgets_a_lane{}, o).ok());
    CHECK(!check_gradients(wrongly_faded{}, o).ok());
    CHECK(!check_gradients(wrongly_squared_values{}, o).ok());
}

} // namespace
