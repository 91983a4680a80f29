// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#include "policies.hpp"

// What holds for gradients whatever the policy.

using namespace basin_test;

namespace {

struct result {
    std::vector<double> d_q, d_k, d_v;
};

template <class Change>
result gradients_of(training<double>& t, any_policy<double> const& policy, backward_run<double, false> const& with,
                    bool terms, Change const& change) {
    change();
    t.blank_gradients();
    with.run(t, policy, terms);
    return {t.d_q.numbers(), t.d_k.numbers(), t.d_v.numbers()};
}

double dot(std::vector<double> const& a, std::vector<double> const& b) {
    double sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
    return sum;
}

/// Calls f(training, policy, run) for every policy on some shape, for every backend.
template <class F>
void for_each_policy(F const& f) {
    auto const shapes = backward_shapes();
    std::uint64_t seed = 5000;
    for (auto const& maker : makers<double>()) {
        ++seed;
        training<double> t(shapes[seed % shapes.size()], seed);
        parameters owned;
        workshop w{t.is, owned, 0, seed};
        auto const policy = maker.make(w);
        run_forward(t, policy);
        for (auto const& run : backward_runs<double, false>()) {
            CAPTURE(maker.name);
            CAPTURE(run.backend);
            CAPTURE(t.is.text());
            f(t, policy, run, std::string(maker.name));
        }
    }
}

} // namespace

TEST_CASE("queries and keys get the same share of a scale") {
    // Scores depend on q and k through q.k alone: both q -> c q and k -> c k change the loss alike.
    for_each_policy([](auto& t, auto const& policy, auto const& run, std::string const& name) {
        if (name.find("kv_sink") != std::string::npos) return; // they read the query, but not the keys
        auto const g = gradients_of(t, policy, run, true, [] {});
        CHECK(dot(g.d_q, t.q.numbers()) == doctest::Approx(dot(g.d_k, t.k.numbers())).epsilon(1e-9));
    });
}

TEST_CASE("gradients are linear in what comes from above") {
    for_each_policy([](auto& t, auto const& policy, auto const& run, std::string const&) {
        auto const one = gradients_of(t, policy, run, true, [] {});
        auto const twice = gradients_of(t, policy, run, true, [&] {
            for (auto* const a : {&t.d_out, &t.d_lse, &t.d_received, &t.d_entropy})
                a->for_each([](double& x) { x *= 2; });
        });
        for (auto* const a : {&t.d_out, &t.d_lse, &t.d_received, &t.d_entropy})
            a->for_each([](double& x) { x *= 0.5; });
        std::vector<double> doubled;
        for (double const x : one.d_k) doubled.push_back(2 * x);
        CHECK(doubled == twice.d_k); // by a power of two: exactly
    });
}

TEST_CASE("a value's gradient is what its key received of the upstream") {
    // With d_out = 1 everywhere, d_v of a key is the sum of its probabilities: the statistic received.
    training<double> t({.queries = 9, .keys = 6, .heads = 2, .kv_heads = 2, .channels = 3, .values = 2}, 9);
    any_policy<double> const policy(basin::all_of(basin::window{3, 1}, basin::sink_logit{0.5}));
    t.d_out.fill(1);
    run_forward(t, policy);
    for (auto const& run : backward_runs<double, false>()) {
        auto const g = gradients_of(t, policy, run, false, [] {});
        auto const received = t.received.numbers();
        for (std::size_t i = 0; i < received.size(); ++i)
            for (std::size_t c = 0; c < 2; ++c) CHECK(g.d_v[2 * i + c] == doctest::Approx(received[i]).epsilon(1e-12));
    }
}

TEST_CASE("the same bits every time, and in any place of a batch") {
    training<double> t({.queries = 70, .keys = 90, .batch = 2, .heads = 2, .kv_heads = 1, .channels = 5, .values = 4},
                       4);
    auto const second_is_first = [](auto const& a) {
        for (index_t h = 0; h < a.view().extent(1); ++h)
            for (index_t i = 0; i < a.view().extent(2); ++i)
                for (index_t c = 0; c < a.view().extent(3); ++c) a(1, h, i, c) = a(0, h, i, c);
    };
    second_is_first(t.q), second_is_first(t.k), second_is_first(t.v), second_is_first(t.d_out);
    any_policy<double> const policy(basin::all_of(basin::window{30, 11}, basin::softcap{3}));
    run_forward(t, policy);
    for (auto const& run : backward_runs<double, false>()) {
        CAPTURE(run.backend);
        auto const one = gradients_of(t, policy, run, false, [] {});
        auto const again = gradients_of(t, policy, run, false, [] {});
        CHECK(one.d_q == again.d_q);
        CHECK(one.d_k == again.d_k);
        CHECK(one.d_v == again.d_v);
        for (auto const* const d : {&one.d_q, &one.d_k, &one.d_v})
            CHECK(std::equal(d->begin(), d->begin() + static_cast<std::ptrdiff_t>(d->size() / 2),
                             d->begin() + static_cast<std::ptrdiff_t>(d->size() / 2)));
    }
}

TEST_CASE("what a query does not see stays unread") {
    // Keys and values that nobody sees, and queries that see nothing, hold NaN; so does what comes from above for them.
    double const nan = std::nan("");
    training<double> t({.queries = 8, .keys = 8, .heads = 2, .kv_heads = 1, .channels = 3, .values = 3}, 12);
    auto const policy = any_policy<double>{basin::mask_if([](auto s) { return s.query != 2 && s.key != 5; })};
    for (index_t c = 0; c < 3; ++c) {
        t.k(0, 0, 5, c) = t.v(0, 0, 5, c) = nan;
        for (index_t h = 0; h < 2; ++h) t.q(0, h, 2, c) = t.d_out(0, h, 2, c) = nan;
    }
    run_forward(t, policy);
    for (bool const terms : {false, true})
        for (auto const& run : backward_runs<double, false>()) {
            CAPTURE(run.backend);
            auto const g = gradients_of(t, policy, run, terms, [] {});
            for (auto const* const d : {&g.d_q, &g.d_k, &g.d_v})
                for (double const x : *d) CHECK(x == x);
            for (index_t c = 0; c < 3; ++c) {
                CHECK(t.d_k(0, 0, 5, c) == 0);
                CHECK(t.d_v(0, 0, 5, c) == 0);
                CHECK(t.d_q(0, 1, 2, c) == 0);
            }
        }
}
