// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#include <basin/tape.hpp>
#include <support/backends.hpp>
#include <support/random.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <vector>

// What the entry promises: errors in words before anything is written, gradients overwritten or added to.

using namespace basin;

namespace {

struct call {
    buffer<float, 4> q{2, 4, 5, 3}, k{2, 2, 6, 3}, v{2, 2, 6, 4}, out{2, 4, 5, 4}, d_out{2, 4, 5, 4};
    buffer<float, 4> d_q{2, 4, 5, 3}, d_k{2, 2, 6, 3}, d_v{2, 2, 6, 4};
    buffer<float, 3> rows{2, 4, 5}, d_rows{2, 4, 5}, d_mass{2, 4, 6};
    std::vector<float> logits{0.5F, -1, 0, 2}, d_logits = std::vector<float>(4);

    call() {
        basin_test::random_numbers random{3};
        for (auto* const x : {&q, &k, &v, &d_out})
            for (float& y : *x) y = static_cast<float>(random.uniform(-1, 1));
        for (auto* const x : {&d_rows, &d_mass})
            for (float& y : *x) y = static_cast<float>(random.uniform(-1, 1));
        for (auto* const x : {&d_q, &d_k, &d_v}) x->fill(7);
    }
    auto policy() { return all_of(causal{}, learned{sink_logit{logits}, d_logits}); }
};

template <class F>
std::string words_of(F const& f) {
    try {
        f();
    } catch (error const& e) {
        return e.what();
    }
    return "no error";
}

template <class Array>
std::vector<float> numbers(Array const& x) {
    return {x.begin(), x.end()};
}

} // namespace

TEST_CASE("extents that do not fit are refused in words and nothing is written") {
    call c;
    attention(reference_backend{}, c.q, c.k, c.v, c.out, c.policy(), lse{c.rows});
    auto const with = [&](auto const& from, auto const& up, auto const& into) {
        return words_of([&] { attention_backward(reference_backend{}, from, up, into, c.policy()); });
    };
    saved const good{c.q, c.k, c.v, c.out, c.rows};
    gradients const into{c.d_q, c.d_k, c.d_v};
    upstream const up{c.d_out};
    buffer<float, 3> short_rows(2, 4, 4), mass(2, 4, 5);
    buffer<float, 4> small(2, 4, 5, 3);
    CHECK(with(saved{c.q, c.k, c.v, c.out, short_rows}, up, into) == "lse: token extent is 4, but q has 5");
    CHECK(with(saved{c.q, c.k, c.v, c.q, c.rows}, up, into) == "out: channel extent is 3, but v has 4");
    CHECK(with(good, upstream{small}, into) == "d_out: channel extent is 3, but out has 4");
    CHECK(with(good, up, gradients{c.d_q, c.d_q, c.d_v}) == "d_k: head extent is 4, but k has 2");
    CHECK(with(good, up, gradients{c.d_q, c.d_k, c.d_k}) == "d_v: channel extent is 3, but v has 4");
    CHECK(with(good, up, gradients{c.d_v, c.d_k, c.d_v}) == "d_q: head extent is 2, but q has 4");
    CHECK(with(good, upstream{c.d_out, through_lse{short_rows}}, into) ==
          "through_lse: token extent is 4, but lse has 5");
    CHECK(with(good, upstream{c.d_out, through_entropy{short_rows}}, into) ==
          "through_entropy: token extent is 4, but lse has 5");
    CHECK(with(good, upstream{c.d_out, through_received{mass}}, into) ==
          "through_received: token extent is 5, but the call has 6");
    std::vector<index_t> const ids{0, 1, 2, 0, 0};
    buffer<float, 4> grouped(2, 4, 2, 6);
    CHECK(with(good, upstream{c.d_out, through_received{grouped, by_group(ids, 2)}}, into) ==
          "by_group: query 2 is in group 2, outside of 0 ... 1");
    CHECK(with(good, upstream{c.d_out, through_received{grouped, by_group(ids, 3)}}, into) ==
          "through_received: group extent is 2, but the call has 3");
    CHECK(with(good, upstream{view<float, 4>{nullptr, {{2, 4, 5, 4}}}}, into).find("d_out: the data pointer is null") ==
          0);
    for (auto const* const x : {&c.d_q, &c.d_k, &c.d_v})
        for (float const y : *x) CHECK(y == 7);
}

TEST_CASE("a gradient in the place of another array is refused") {
    call c;
    auto const with = [&](auto const& up, auto const& into, auto const& policy) {
        return words_of(
            [&] { attention_backward(reference_backend{}, saved{c.q, c.k, c.v, c.out, c.rows}, up, into, policy); });
    };
    upstream const up{c.d_out};
    CHECK(with(up, gradients{c.q, c.d_k, c.d_v}, full{}) ==
          "d_q: has the data pointer of q; a gradient needs an array of its own");
    CHECK(with(up, gradients{c.d_q, c.k, c.d_v}, full{}).find("d_k: has the data pointer of k;") == 0);
    CHECK(with(up, gradients{c.d_q, c.d_k, c.v}, full{}).find("d_v: has the data pointer of v;") == 0);
    call square;
    buffer<float, 4> d(2, 2, 6, 4), other(2, 2, 6, 4);
    buffer<float, 3> r(2, 2, 6);
    auto const aliased = [&](auto const& from, auto const& into) {
        return words_of([&] { attention_backward(reference_backend{}, from, upstream{d}, into, full{}); });
    };
    CHECK(aliased(saved{square.v, square.v, square.v, other, r}, gradients{d, other, d})
              .find("d_q: has the data pointer of d_out") == 0);
    buffer<float, 4> a(2, 2, 6, 4), b(2, 2, 6, 4);
    CHECK(aliased(saved{square.v, square.v, square.v, other, r}, gradients{a, b, a})
              .find("d_v: has the data pointer of d_q") == 0);
    std::vector<float> shared(4);
    CHECK(with(up, gradients{c.d_q, c.d_k, c.d_v},
               all_of(learned{sink_logit{c.logits}, shared}, learned{alibi{c.logits}, shared}))
              .find("a learned gradient: has the data pointer of a learned gradient") == 0);
    view<float, 1> const inside{c.d_q.data(), {{4}}};
    CHECK(with(up, gradients{c.d_q, c.d_k, c.d_v}, learned{sink_logit{c.logits}, inside})
              .find("a learned gradient: has the data pointer of d_q") == 0);
    buffer<float, 2> table(5, 6), sink(3, 3);
    CHECK(with(up, gradients{c.d_q, c.d_k, c.d_v}, learned{bias{table}, table})
              .find("learned: the gradient has the data pointer of the parameters") == 0);
    CHECK(with(up, gradients{c.d_q, c.d_k, c.d_v}, learned{kv_sink{sink}, sink})
              .find("learned: the gradient has the data pointer of the parameters") == 0);
    view<float, 4> const one_row{c.d_q.data(), {{2, 4, 5, 3}}, {{60, 15, 0, 1}}};
    CHECK(with(up, gradients{one_row, c.d_k, c.d_v}, full{}).find("d_q: axis 2 has stride 0") == 0);
}

TEST_CASE("a learned gradient has the shape of its parameters") {
    call c;
    auto const with = [&](auto const& policy) {
        return words_of([&] {
            attention_backward(reference_backend{}, saved{c.q, c.k, c.v, c.out, c.rows}, upstream{c.d_out},
                               gradients{c.d_q, c.d_k, c.d_v}, policy);
        });
    };
    std::vector<float> one(1), three(3);
    CHECK(with(learned{sink_logit{c.logits}, three}) ==
          "learned sink_logit: the gradient's extents are (1, 1, 1, 3), but "
          "the parameters' are (1, 1, 1, 4)");
    CHECK(with(learned{sink_logit{c.logits}, one}).find("learned sink_logit") == 0);
    CHECK(with(learned{sink_logit{0.5}, three}).find("learned sink_logit") == 0);
    CHECK(with(learned{alibi{c.logits}, three}).find("learned: the gradient's extents are (1, 1, 1, 3)") == 0);
    CHECK(with(learned{temperature{2}, three}).find("learned: the gradient's extents") == 0);
    buffer<float, 2> table(5, 6), wrong(5, 5), rows(5, 1);
    CHECK(with(learned{bias{table}, wrong}).find("learned bias: the gradient's extents are (1, 1, 5, 5)") == 0);
    CHECK(with(learned{bias{table}, rows}).find("learned bias") == 0);
    buffer<float, 3> keys(2, 1, 3), values(2, 1, 4), d_keys(2, 1, 3), d_values(2, 1, 4);
    CHECK(with(learned{kv_sink{keys, values}, d_keys}) ==
          "learned: this kv_sink has values: give their gradient as well");
    CHECK(with(learned{kv_sink{keys}, d_keys, d_values}) ==
          "learned: this kv_sink has no values, but a gradient for them is given");
    CHECK(with(learned{kv_sink{keys, values}, d_values, d_values}).find("learned kv_sink keys") == 0);
    CHECK(with(learned{kv_sink{keys, values}, d_keys, d_keys}).find("learned kv_sink values") == 0);
    CHECK(with(learned{kv_sink{keys, values}, d_keys, d_values}) == "no error");
}

TEST_CASE("gradients are overwritten or added to as the caller says") {
    basin_test::for_each_backend([]<class Backend>() {
        CAPTURE(basin_test::name_of<Backend>);
        call c;
        auto const policy = c.policy();
        attention(reference_backend{}, c.q, c.k, c.v, c.out, policy, lse{c.rows});
        saved const from{c.q, c.k, c.v, c.out, c.rows};
        upstream const up{c.d_out};
        gradients const into{c.d_q, c.d_k, c.d_v};
        c.d_logits.assign(4, 7);
        attention_backward(Backend{}, from, up, into, policy);
        auto const q = numbers(c.d_q), k = numbers(c.d_k), v = numbers(c.d_v), logits = c.d_logits;
        attention_backward(Backend{}, from, up, into, policy);
        CHECK(q == numbers(c.d_q));
        CHECK(logits == c.d_logits);
        attention_backward(Backend{}, from, up, accumulate(into), policy);
        auto const twice = [](std::vector<float> const& got, std::vector<float> const& once) {
            for (std::size_t i = 0; i < got.size(); ++i) CHECK(got[i] == doctest::Approx(2 * once[i]).epsilon(1e-5));
        };
        twice(numbers(c.d_q), q);
        twice(numbers(c.d_k), k);
        twice(numbers(c.d_v), v);
        twice(c.d_logits, logits);
        // Only what is learned adds: a parameter that two layers share.
        attention_backward(Backend{}, from, up, into,
                           all_of(causal{}, accumulate(learned{sink_logit{c.logits}, c.d_logits})));
        CHECK(q == numbers(c.d_q));
        for (std::size_t i = 0; i < 4; ++i) CHECK(c.d_logits[i] == doctest::Approx(3 * logits[i]).epsilon(1e-5));
    });
}

TEST_CASE("each upstream term alone, and a sum of them") {
    basin_test::for_each_backend([]<class Backend>() {
        CAPTURE(basin_test::name_of<Backend>);
        call c;
        attention(reference_backend{}, c.q, c.k, c.v, c.out, c.policy(), lse{c.rows});
        saved const from{c.q, c.k, c.v, c.out, c.rows};
        buffer<float, 4> const nothing(2, 4, 5, 4);
        auto const run = [&](auto const& up) {
            attention_backward(Backend{}, from, up, gradients{c.d_q, c.d_k, c.d_v}, c.policy());
            auto all = numbers(c.d_q);
            auto const k = numbers(c.d_k);
            all.insert(all.end(), k.begin(), k.end());
            all.insert(all.end(), c.d_logits.begin(), c.d_logits.end());
            return all;
        };
        auto const of_out = run(upstream{c.d_out});
        auto const of_lse = run(upstream{nothing, through_lse{c.d_rows}});
        auto const of_received = run(upstream{nothing, through_received{c.d_mass}});
        auto const of_entropy = run(upstream{nothing, through_entropy{c.d_rows}});
        auto const of_all =
            run(upstream{c.d_out, through_entropy{c.d_rows}, through_lse{c.d_rows}, through_received{c.d_mass}});
        auto const largest = [](std::vector<float> const& x) {
            float most = 0;
            for (float const y : x) most = std::max(most, std::abs(y));
            return most;
        };
        for (auto const* const x : {&of_out, &of_lse, &of_received, &of_entropy}) CHECK(largest(*x) > 0.01F);
        for (std::size_t i = 0; i < of_all.size(); ++i) {
            float const sum = of_out[i] + of_lse[i] + of_received[i] + of_entropy[i];
            CHECK(std::abs(of_all[i] - sum) < 3e-6F * (1 + largest(of_all)));
        }
    });
}

TEST_CASE("calls without queries, keys or batch have zero gradients") {
    basin_test::for_each_backend([]<class Backend>() {
        CAPTURE(basin_test::name_of<Backend>);
        for (auto const& [batch, queries, keys] : {std::tuple{0, 3, 3}, {1, 0, 3}, {1, 3, 0}}) {
            buffer<float, 4> q(batch, 2, queries, 3), k(batch, 2, keys, 3), v(batch, 2, keys, 3);
            buffer<float, 4> out(batch, 2, queries, 3), d_q(batch, 2, queries, 3), d_k(batch, 2, keys, 3),
                d_v(batch, 2, keys, 3);
            for (auto* const x : {&d_q, &d_k, &d_v}) x->fill(7);
            std::vector<float> logits{1, 2}, d_logits{7, 7};
            buffer<float, 3> const rows(batch, 2, queries);
            buffer<float, 4> const d_out(batch, 2, queries, 3);
            attention_backward(Backend{}, saved{q, k, v, out, rows}, upstream{d_out}, gradients{d_q, d_k, d_v},
                               all_of(causal{}, learned{sink_logit{logits}, d_logits}));
            for (auto const* const x : {&d_q, &d_k, &d_v})
                for (float const y : *x) CHECK(y == 0);
            CHECK(d_logits[0] == 0);
        }
    });
}

TEST_CASE("a tape gives statistics too, and takes options") {
    call c;
    std::vector<index_t> const lengths{5, 2};
    options const o{.scale = 0.2, .query_lengths = lengths};
    buffer<float, 3> mass(2, 4, 6);
    auto const tape = attend(reference_backend{}, c.q, c.k, c.v, c.out, c.policy(), o, received{mass});
    tape.backward(upstream{c.d_out, through_received{c.d_mass}}, gradients{c.d_q, c.d_k, c.d_v});
    auto const by_tape = numbers(c.d_k);
    buffer<float, 3> again(2, 4, 6);
    attention(reference_backend{}, c.q, c.k, c.v, c.out, c.policy(), o, lse{c.rows}, received{again});
    CHECK(numbers(mass) == numbers(again));
    CHECK(numbers(tape.lse()) == numbers(c.rows));
    attention_backward(reference_backend{}, saved{c.q, c.k, c.v, c.out, c.rows},
                       upstream{c.d_out, through_received{c.d_mass}}, gradients{c.d_q, c.d_k, c.d_v}, c.policy(), o);
    CHECK(by_tape == numbers(c.d_k));
    for (index_t c0 = 0; c0 < 3; ++c0) CHECK(c.d_q(1, 0, 2, c0) == 0); // padding
}

TEST_CASE("tables that heads or texts share are known to be shared") {
    buffer<double, 4> by_pair(2, 4, 5, 6), by_head(1, 4, 5, 6), by_text(2, 1, 5, 6), by_key(1, 1, 1, 6);
    auto const shared = [](buffer<double, 4>& table) {
        shape_facts const facts{2, 4, 2, 5, 6, 3, 3};
        buffer<double, 4> d_table(table.extents());
        return learned{bias{table}, d_table}.bind(facts).shared(facts);
    };
    CHECK(!shared(by_pair));
    CHECK(shared(by_head)); // by the texts
    CHECK(shared(by_text)); // by the heads
    CHECK(!shared(by_key)); // summed for each head, then added
}

namespace {
/// A score of one's own that holds a lambda, which cannot be assigned where it captures.
template <class F>
struct bent {
    explicit bent(F f) : by(f) {} // clang 13 deduces no aggregates
    F by;
    double score(double x, site const& s) const { return by(x, s); }
    template <class Add>
    void score_parameters(double x, site const&, Add const& add) const {
        add(0, x);
    }
};
struct nowhere_else {
    template <class X>
    X operator()(X const& x) const {
        return x;
    }
};
} // namespace

TEST_CASE("what is learned moves to a device with a lambda that captures, and keeps its place among the sums") {
    double const factor = 3;
    std::vector<double> d(2);
    bent const policy{[factor](double x, site const&) { return factor * x; }};
    auto bound = learned{policy, d}.bind(shape_facts{1, 1, 1, 4, 4, 2, 2});
    bound.first_sum = 5;
    nowhere_else carrier;
    auto const there = facet::carried(bound, carrier);
    CHECK(there.score(2.0, site{}) == 6);
    CHECK(there.first_sum == 5);
    CHECK(there.sums == 2);
    CHECK(there.gradient.data() == d.data());
}

#if defined(BASIN_TEST_EIGEN_BACKEND)
TEST_CASE("threads of the Eigen backend do not change a bit of a gradient") {
    call c;
    buffer<float, 2> table(5, 6), d_table(5, 6);
    auto const policy = all_of(c.policy(), learned{bias{table}, d_table}); // shared by heads: they take turns
    attention(reference_backend{}, c.q, c.k, c.v, c.out, policy, lse{c.rows});
    auto const run = [&](index_t threads) {
        attention_backward(eigen_backend{.threads = threads}, saved{c.q, c.k, c.v, c.out, c.rows}, upstream{c.d_out},
                           gradients{c.d_q, c.d_k, c.d_v}, policy);
        auto all = numbers(c.d_k);
        auto const t = numbers(d_table);
        all.insert(all.end(), t.begin(), t.end());
        all.insert(all.end(), c.d_logits.begin(), c.d_logits.end());
        return all;
    };
    auto const one = run(1);
    CHECK(one == run(2));
    CHECK(one == run(5));
    CHECK(words_of([&] { run(0); }) == "eigen_backend: threads is 0; it must be at least 1");
}
#endif
