// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#include <basin/attention_backward.hpp>
#include <basin/statistic/lse.hpp>
#include <support/backends.hpp>
#include <support/random.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <vector>

// What is not a number in one row or token reaches the gradients of those that meet it, and of nobody else.
using namespace basin;

namespace {

constexpr index_t queries = 70, keys = 130, channels = 16, reach = 3;
constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();

struct arrays {
    buffer<float, 4> q{1, 1, queries, channels}, k{1, 1, keys, channels}, v{1, 1, keys, channels};
    buffer<float, 4> out{1, 1, queries, channels}, d_out{1, 1, queries, channels};
    buffer<float, 4> d_q{1, 1, queries, channels}, d_k{1, 1, keys, channels}, d_v{1, 1, keys, channels};
    buffer<float, 3> lse{1, 1, queries}, d_lse{1, 1, queries};

    arrays() {
        basin_test::random_numbers random{7};
        for (auto* x : {&q, &k, &v, &d_out})
            for (std::ptrdiff_t i = 0; i < x->size(); ++i) x->data()[i] = static_cast<float>(random.uniform(0.1, 1));
    }
    template <class Backend, class Policy>
    void run(Policy const& policy) {
        attention(Backend{}, q, k, v, out, policy, basin::lse{lse});
        attention_backward(Backend{}, saved{q, k, v, out, lse}, upstream{d_out, through_lse{d_lse}},
                           gradients{d_q, d_k, d_v}, policy);
    }
};

/// Finite outside of tokens [begin, end].
bool finite_but(buffer<float, 4> const& x, index_t begin, index_t end) {
    for (index_t i = 0; i < x.extent(2); ++i)
        for (index_t c = 0; c < channels; ++c)
            if ((i < begin || i > end) && !std::isfinite(x(0, 0, i, c))) return false;
    return true;
}

template <class Backend, class Policy, class Spoil>
void expect_isolated(char const* what, Policy const& policy, index_t token, index_t by_queries, Spoil const& spoil) {
    CAPTURE(what);
    arrays a;
    spoil(a);
    a.run<Backend>(policy);
    index_t const by_keys = by_queries + reach;
    CHECK(finite_but(a.d_q, token - by_queries, token + by_queries));
    CHECK(finite_but(a.d_k, token - by_keys, token + by_keys));
    CHECK(finite_but(a.d_v, token - by_keys, token + by_keys));
    CHECK_FALSE(finite_but(a.d_q, -1, -1)); // it did reach those that meet it
}

/// Makes something of a share of nothing, unlike most.
struct share_plus {
    using lanes = supported;
    template <class X, class Lane>
    X weight(X p, basic_site<Lane> const&) const {
        return p + X(0.25);
    }
};
struct root_of_value {
    template <class X>
    X value(X x, value_site const&) const {
        return math::sqrt(x);
    }
};

/// Queries 10 and 11 may see keys, but no score of theirs is left.
struct two_rows_forbidden {
    template <class X, class Lane>
    X score(X x, basic_site<Lane> const& s) const {
        return s.query / 2 == 5 ? X(-math::infinity<double>) : x;
    }
};

} // namespace

TEST_CASE("a row or token that is not a number spoils only what meets it") {
    basin_test::for_each_backend([]<class Backend>() {
        CAPTURE(basin_test::name_of<Backend>);
        auto const check = [](auto const& policy) {
            expect_isolated<Backend>("q", policy, 10, 0, [](arrays& a) { a.q(0, 0, 10, 2) = not_a_number; });
            expect_isolated<Backend>("d_out", policy, 10, 0, [](arrays& a) { a.d_out(0, 0, 10, 2) = not_a_number; });
            expect_isolated<Backend>("d_lse", policy, 10, 0, [](arrays& a) { a.d_lse(0, 0, 10) = not_a_number; });
            // A key at the border of two blocks of keys: the block before it is finite, but not all rows that see it are.
            expect_isolated<Backend>("k", policy, 64, reach, [](arrays& a) { a.k(0, 0, 64, 2) = not_a_number; });
            expect_isolated<Backend>("v", policy, 64, reach, [](arrays& a) { a.v(0, 0, 64, 2) = not_a_number; });
        };
        check(window{reach, reach});
        check(all_of(window{reach, reach}, softcap{5}));
    });
}

TEST_CASE("the value of a key that nobody sees has no gradient, whatever its slope is") {
    basin_test::for_each_backend([]<class Backend>() {
        CAPTURE(basin_test::name_of<Backend>);
        arrays a;
        for (index_t c = 0; c < channels; ++c) a.v(0, 0, 120, c) = 0; // where a root has no slope
        a.run<Backend>(all_of(window{reach, reach}, root_of_value{}));
        CHECK(finite_but(a.d_v, -1, -1));
        for (index_t c = 0; c < channels; ++c) CHECK(a.d_v(0, 0, 120, c) == 0);
    });
}

TEST_CASE("a share too small for a float is seen, and a hidden key is not") {
    basin_test::for_each_backend([]<class Backend>() {
        CAPTURE(basin_test::name_of<Backend>);
        arrays a;
        for (index_t i = 0; i < queries; ++i)
            for (index_t c = 0; c < channels; ++c) a.q(0, 0, i, c) = 30;
        for (index_t c = 0; c < channels; ++c) a.k(0, 0, 1, c) = 30; // takes all of the rows that see it: 0 to 4
        a.run<Backend>(all_of(window{reach, reach}, share_plus{}));
        for (index_t c = 0; c < channels; ++c) {
            CHECK(a.d_v(0, 0, 0, c) == doctest::Approx(0.25 * (a.d_out(0, 0, 0, c) + a.d_out(0, 0, 1, c) +
                                                               a.d_out(0, 0, 2, c) + a.d_out(0, 0, 3, c))));
            CHECK(a.d_v(0, 0, 120, c) == 0);
        }
    });
}

TEST_CASE("rows whose every score is -inf pass nothing on, whatever comes from above") {
    basin_test::for_each_backend([]<class Backend>() {
        CAPTURE(basin_test::name_of<Backend>);
        arrays a;
        for (index_t c = 0; c < channels; ++c) a.d_out(0, 0, 10, c) = a.d_out(0, 0, 11, c) = not_a_number;
        a.d_lse(0, 0, 10) = not_a_number;
        buffer<float, 1> d_logits(1);
        sink_logit const absent(std::vector{-math::infinity<float>});
        a.run<Backend>(all_of(window{40, 60}, two_rows_forbidden{}, learned{absent, d_logits}));
        CHECK(finite_but(a.d_q, -1, -1));
        CHECK(finite_but(a.d_k, -1, -1));
        CHECK(finite_but(a.d_v, -1, -1));
        CHECK(d_logits(0) == 0);
        for (index_t c = 0; c < channels; ++c) CHECK(a.d_q(0, 0, 10, c) == 0);
    });
}

#if defined(BASIN_TEST_SIMD_BACKEND)
TEST_CASE("a call without heads asks for a workspace and takes it") {
    buffer<float, 4> q(1, 0, 3, 4), k(1, 0, 3, 4), out(1, 0, 3, 4), d_out(1, 0, 3, 4), d_q(1, 0, 3, 4), d_k(1, 0, 3, 4),
        d_v(1, 0, 3, 4);
    buffer<float, 3> lse(1, 0, 3);
    saved const from{q, k, k, out, lse};
    auto const bytes =
        backward_workspace_bytes(simd_backend{}, from, upstream{d_out}, gradients{d_q, d_k, d_v}, full{});
    CHECK(bytes < 1U << 20U);
    std::vector<std::byte> room(bytes);
    simd_backend const backend{.workspace = room.data(), .workspace_size = bytes};
    attention_backward(backend, from, upstream{d_out}, gradients{d_q, d_k, d_v}, full{});
}
#endif
