// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#include <support/backends.hpp>
#include <support/random.hpp>

#include <basin/detect.hpp>
#include <basin/intervene.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <memory>
#include <string>
#include <vector>

using namespace basin;

namespace {

constexpr index_t n = 20, channels = 4;

/// Grouped-query attention, two texts, four query heads on two key-value heads.
struct call {
    buffer<double, 4> q{2, 4, n, channels}, k{2, 2, n, channels}, v{2, 2, n, channels}, out{2, 4, n, channels};
    explicit call(std::uint64_t seed = 1) {
        basin_test::random_numbers random{seed};
        for (auto* a : {&q, &k, &v})
            for (double& x : *a) x = random.uniform(-1, 1);
    }
};

/// Probabilities and outputs in plain loops, with a hook for each path.
template <class Score, class Weight, class Value>
double difference(call const& c, Score const& score, Weight const& weight, Value const& value) {
    double worst = 0;
    for (index_t b = 0; b < 2; ++b)
        for (index_t h = 0; h < 4; ++h)
            for (index_t i = 0; i < n; ++i) {
                std::vector<double> p(n);
                double sum = 0;
                for (index_t j = 0; j < n; ++j) {
                    double dot = 0;
                    for (index_t x = 0; x < channels; ++x) dot += c.q(b, h, i, x) * c.k(b, h / 2, j, x);
                    sum += p[static_cast<std::size_t>(j)] = std::exp(score(dot / 2, b, h, i, j));
                }
                for (index_t x = 0; x < channels; ++x) {
                    double want = 0;
                    for (index_t j = 0; j < n; ++j)
                        want += weight(p[static_cast<std::size_t>(j)] / sum, b, h, j) *
                                value(c.v(b, h / 2, j, x), b, h, j, x);
                    worst = std::max(worst, std::abs(want - c.out(b, h, i, x)));
                }
            }
    return worst;
}

auto const same_score = [](double x, auto...) { return x; };
auto const same = [](double x, auto...) { return x; };

/// A few keys in each head.
key_set some_keys() {
    key_set s(2, 4, n);
    for (index_t b = 0; b < 2; ++b)
        for (index_t h = 0; h < 4; ++h) {
            s.insert(b, h, (3 + 5 * b + 2 * h) % n);
            s.insert(b, h, (11 + b + 3 * h) % n);
        }
    return s;
}

} // namespace

TEST_CASE("every intervention is a policy that does what its formula says, on every backend") {
    auto const set = some_keys();
    auto const in = [&](index_t b, index_t h, index_t j) { return set.contains(b, h, j); };
    basin_test::for_each_backend([&]<class Backend>() {
        CAPTURE(basin_test::name_of<Backend>);
        call c;
        auto const run = [&](auto const& p) { attention(Backend{}, c.q, c.k, c.v, c.out, p); };
        run(probability_scaled{set, 0.25});
        CHECK(difference(
                  c, same_score, [&](double p, index_t b, index_t h, index_t j) { return in(b, h, j) ? p / 4 : p; },
                  same) < 1e-12);
        run(logit_added{set, -1.5});
        CHECK(difference(
                  c, [&](double x, index_t b, index_t h, index_t, index_t j) { return in(b, h, j) ? x - 1.5 : x; },
                  same, same) < 1e-12);
        run(logit_added{set, -INFINITY});
        CHECK(difference(
                  c, [&](double x, index_t b, index_t h, index_t, index_t j) { return in(b, h, j) ? -INFINITY : x; },
                  same, same) < 1e-12);
        run(sink_masked{set, sink_masked::except_itself});
        CHECK(difference(
                  c,
                  [&](double x, index_t b, index_t h, index_t i, index_t j) {
                      return in(b, h, j) && i != j ? -INFINITY : x;
                  },
                  same, same) < 1e-12);
        run(value_replaced{set});
        CHECK(difference(c, same_score, same, [&](double x, index_t b, index_t h, index_t j, index_t) {
                  return in(b, h, j) ? 0 : x;
              }) < 1e-12);
        auto const mean = mean_values(c.v, set);
        CHECK(mean.extent(1) == 4);
        run(value_replaced{set, mean});
        CHECK(difference(c, same_score, same, [&](double x, index_t b, index_t h, index_t j, index_t k) {
                  return in(b, h, j) ? mean(b, h, k) : x;
              }) < 1e-12);
        auto const all = mean_values(c.v); // of key-value heads
        CHECK(all.extent(1) == 2);
        run(value_replaced{set, all, 0.3});
        CHECK(difference(c, same_score, same, [&](double x, index_t b, index_t h, index_t j, index_t k) {
                  return in(b, h, j) ? 0.7 * x + 0.3 * all(b, h / 2, k) : x;
              }) < 1e-12);
        run(value_noised{set, 2, 9});
        counter_random const random{9};
        CHECK(difference(c, same_score, same, [&](double x, index_t b, index_t h, index_t j, index_t k) {
                  return in(b, h, j) ? x + 2 * random.normal(b, h, j, k) : x;
              }) < 1e-12);
        // they compose: noise instead of the value, half the probability, a shifted logit
        run(all_of(value_replaced{set}, value_noised{set, 1, 4}, probability_scaled{set, 0.5}, logit_added{set, 1}));
        counter_random const other{4};
        CHECK(difference(
                  c, [&](double x, index_t b, index_t h, index_t, index_t j) { return in(b, h, j) ? x + 1 : x; },
                  [&](double p, index_t b, index_t h, index_t j) { return in(b, h, j) ? p / 2 : p; },
                  [&](double x, index_t b, index_t h, index_t j, index_t k) {
                      return in(b, h, j) ? other.normal(b, h, j, k) : x;
                  }) < 1e-12);
        buffer<double, 3> factors(2, 4, n);
        basin_test::random_numbers numbers{2};
        for (double& f : factors) f = numbers.uniform(0, 1);
        run(probability_faded{factors});
        CHECK(difference(
                  c, same_score, [&](double p, index_t b, index_t h, index_t j) { return p * factors(b, h, j); },
                  same) < 1e-12);
    });
}

namespace {
/// A carrier as devices have it: every array gets another place.
struct mover {
    std::vector<std::vector<std::byte>> places;
    template <class T>
    T const* operator()(T const* p, std::ptrdiff_t count) {
        auto const* const bytes = reinterpret_cast<std::byte const*>(p);
        places.emplace_back(bytes, bytes + static_cast<std::size_t>(count) * sizeof(T));
        return reinterpret_cast<T const*>(places.back().data());
    }
    template <class T, std::size_t R>
    view<T const, R> operator()(view<T const, R> const& x) {
        return {(*this)(x.data(), x.size()), x.extents()};
    }
};
} // namespace

TEST_CASE("interventions move to a device with all that they hold") {
    shape_facts const facts{2, 4, 2, n, n, channels, channels};
    key_set const set = some_keys();
    buffer<double, 3> target(2, 4, channels), factors(2, 4, n);
    auto const check = [&](auto const& make, std::size_t arrays, auto const& ask) {
        mover move;
        auto policy = std::make_unique<decltype(make())>(make());
        auto const here = basin::bind(*policy, facts);
        auto const there = facet::carried(here, move);
        CHECK(move.places.size() == arrays);
        double const before = ask(here);
        policy.reset(); // what was behind `here` is gone
        CHECK(ask(there) == before);
    };
    auto const weigh = [](auto const& p) { return facet::weight(p, 0.5, site{1, 2, 3, (3 + 5 + 4) % n}); };
    auto const read = [](auto const& p) { return facet::value(p, 0.5, value_site{1, 2, (3 + 5 + 4) % n, 1}); };
    auto const score = [](auto const& p) { return facet::score(p, 0.5, site{1, 2, 3, (3 + 5 + 4) % n}); };
    target.fill(3);
    factors.fill(0.75);
    check([&] { return probability_scaled{set, 0.25}; }, 1, weigh);
    check([&] { return probability_faded{factors}; }, 1, weigh);
    check([&] { return logit_added{set, 2}; }, 1, score);
    check([&] { return value_replaced{set}; }, 1, read);
    check([&] { return value_replaced{set, target}; }, 2, read);
    check([&] { return value_noised{set, 2, 9}; }, 1, read);
}

TEST_CASE("a value that is replaced leaves no trace, not even NaN") {
    call c;
    auto const set = key_set(n, {4});
    for (index_t h = 0; h < 2; ++h) c.v(0, h, 4, 1) = c.v(1, h, 4, 0) = std::nan("");
    attention(reference_backend{}, c.q, c.k, c.v, c.out, value_replaced{set});
    bool finite = true;
    for (double const x : c.out) finite = finite && std::isfinite(x);
    CHECK(finite);
}

TEST_CASE("noise is standard normal, belongs to its place, and has a seed") {
    counter_random const random{1};
    double sum = 0, squares = 0;
    int within = 0;
    for (int i = 0; i < 20000; ++i) {
        double const x = random.normal(i, 3);
        sum += x;
        squares += x * x;
        within += std::abs(x) < 1 ? 1 : 0;
    }
    CHECK(std::abs(sum / 20000) < 0.03);
    CHECK(std::abs(squares / 20000 - 1) < 0.04);
    CHECK(std::abs(within / 20000.0 - 0.6827) < 0.015);
    CHECK(random(1, 2) == counter_random{1}(1, 2));
    CHECK(random(1, 2) != random(2, 1));
    CHECK(random(1, 2) != counter_random{2}(1, 2));
}

TEST_CASE("interventions refuse what does not fit") {
    call c;
    auto const message = [&](auto const& p) -> std::string {
        try {
            attention(reference_backend{}, c.q, c.k, c.v, c.out, p);
        } catch (argument_error const& e) {
            return e.what();
        }
        return "";
    };
    CHECK(message(probability_scaled{key_set(n - 1, {1}), 0.5})
              .find("probability_scaled: the key_set has extents (1, 1, 19)") == 0);
    CHECK(message(logit_added{key_set(1, 3, n), 1}) != "");
    CHECK(message(value_replaced{key_set(n, {1}), buffer<double, 3>(1, 3, channels)}) != "");
    CHECK(message(value_replaced{key_set(n, {1}), buffer<double, 3>(1, 1, channels + 1)}) != "");
    CHECK(message(value_replaced{key_set(n, {1}), buffer<double, 3>(1, 1, channels)}) == "");
    CHECK(message(value_noised{key_set(3, 1, n), 1, 1}) == ""); // more entries than needed, as sink_masked
    CHECK(message(probability_faded{buffer<double, 3>(1, 1, n - 1)}) != "");
    CHECK_THROWS_AS((probability_scaled{key_set(n, {1}), -1}), argument_error);
    CHECK_THROWS_AS((probability_scaled{key_set(n, {1}), std::nan("")}), argument_error);
    CHECK_THROWS_AS((logit_added{key_set(n, {1}), INFINITY}), argument_error);
    CHECK_THROWS_AS((value_replaced{key_set(n, {1}), buffer<double, 3>(1, 1, channels), 1.5}), argument_error);
    CHECK_THROWS_AS((value_noised{key_set(n, {1}), -1, 1}), argument_error);
    CHECK_THROWS_AS((probability_faded{[] {
                        buffer<double, 3> f(1, 1, 2);
                        f(0, 0, 0) = -1;
                        return f;
                    }()}),
                    argument_error);
    key_set everything(1, 1, n);
    for (index_t j = 0; j < n; ++j) everything.insert(0, 0, j);
    CHECK_THROWS_AS(mean_values(c.v, everything), argument_error);
}
