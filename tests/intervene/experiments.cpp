// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#include <basin/intervene/experiment.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

using namespace basin;
using doctest::Approx;

namespace {

#if defined(BASIN_TEST_REDUCED) && BASIN_TEST_REDUCED
constexpr int experiments = 200;
constexpr double slack = 2;
#else
constexpr int experiments = 2000;
constexpr double slack = 1;
#endif

std::vector<double> sample(std::uint64_t seed, int n, double shift, bool skewed) {
    counter_random const random{seed};
    std::vector<double> x;
    for (int i = 0; i < n; ++i) {
        double const y = random.normal(i);
        x.push_back(shift + (skewed ? std::exp(0.5 * y) - std::exp(0.125) : y)); // mean `shift` either way
    }
    return x;
}

double coverage_of(resampling how, int n, bool skewed) {
    int covered = 0;
    for (int e = 0; e < experiments; ++e) {
        how.seed = static_cast<std::uint64_t>(e) + 77;
        covered +=
            bootstrap_mean(sample(static_cast<std::uint64_t>(e) + 1000, n, 0.7, skewed), how).covers(0.7) ? 1 : 0;
    }
    return 100.0 * covered / experiments;
}

} // namespace

TEST_CASE("bootstrap intervals cover the truth 95 % of the time") {
    // 2,000 experiments have a standard error of 0.5 %. The first line is the default, 10,000 resamples; the others have
    // fewer for speed, which only makes the ends of the intervals a little noisier.
    double const percentile = coverage_of({}, 40, false);
    double const bca = coverage_of({.kind = interval_kind::bca, .resamples = 2000}, 40, false);
    double const skewed = coverage_of({.kind = interval_kind::bca, .resamples = 2000}, 80, true);
    MESSAGE("coverage in percent: percentile ", percentile, ", bca ", bca, ", bca of skewed differences ", skewed);
    CHECK(std::abs(percentile - 95) <= 1.5 * slack);
    CHECK(std::abs(bca - 95) <= 1.5 * slack);
    CHECK(std::abs(skewed - 95) <= 1.5 * slack);
    // not widened, they are too narrow for so few pairs: a smaller sample shows it
    CHECK(coverage_of({.resamples = 1000, .widened = false}, 8, false) < 92.5);
    CHECK(std::abs(coverage_of({.resamples = 1000}, 8, false) - 95) <= 2.5 * slack);
}

TEST_CASE("a null experiment reports an effect at most 5 % of the time") {
    int false_alarms = 0;
    int const count = experiments;
    for (int e = 0; e < count; ++e) {
        counter_random const random{static_cast<std::uint64_t>(e) + 5000};
        experiment x({"none", "sinks", "random"});
        x.contrast("sinks", "random");
        x.run(30, [&](index_t i, index_t c) {
            return random.normal(i) + 0.5 * random.normal(i, c, 7);
        }); // inputs differ more than conditions
        bool any = false;
        for (auto const& c : x.report({.resamples = 1000, .seed = static_cast<std::uint64_t>(e) + 1}))
            any = any || c.effect;
        false_alarms += any ? 1 : 0;
    }
    MESSAGE("false alarms in percent: ", 100.0 * false_alarms / count);
    CHECK(false_alarms <= 0.05 * count);
    CHECK(false_alarms > 0); // it does decide
}

TEST_CASE("a real effect is seen, and pairing is what makes it visible") {
    counter_random const random{3};
    experiment x({"none", "sinks", "random"});
    x.contrast("sinks", "random");
    // inputs differ by 10, sinks cost 0.5, the control 0.1, with noise of 0.2
    x.run(40, [&](index_t i, index_t c) {
        return 10 * random.normal(i) - (c == 1 ? 0.5 : c == 2 ? 0.1 : 0) + 0.2 * random.normal(i, c, 7);
    });
    auto const r = x.report();
    REQUIRE(r.size() == 3);
    CHECK(r[0].name == "sinks - none");
    CHECK(r[1].name == "random - none");
    CHECK(r[2].name == "(sinks - none) - (random - none)");
    CHECK(r[0].pairs == 40);
    CHECK(r[0].mean == Approx(-0.5).epsilon(0.2));
    CHECK(r[0].effect);
    CHECK(r[2].effect);
    CHECK(r[2].mean == Approx(r[0].mean - r[1].mean));
    CHECK(r[0].range.low < r[0].mean);
    CHECK(r[0].range.high > r[0].mean);
    CHECK(r[0].sentence().find("lower") != std::string::npos);
    // shuffled pairs hide it
    experiment shuffled({"none", "sinks"});
    for (std::size_t i = 0; i < 40; ++i) shuffled.add({x.rows()[i][0], x.rows()[(i + 1) % 40][1]});
    auto const s = shuffled.report();
    CHECK(!s[0].effect);
    CHECK(s[0].range.covers(0));
    CHECK(s[0].sentence().find("no effect seen") != std::string::npos);
    // the same seed, the same report
    CHECK(x.report()[0].range.low == r[0].range.low);
    CHECK(x.report({.seed = 2})[0].range.low != r[0].range.low);
}

TEST_CASE("sign test by hand") {
    // 9 up, 1 down, 2 equal: 2 (C(10,0) + C(10,1)) / 2^10 = 22 / 1024
    std::vector<double> x(9, 1.0);
    x.insert(x.end(), {-1, 0, 0});
    CHECK(sign_test(x) == Approx(22.0 / 1024));
    CHECK(sign_test({1, -1}) == 1);
    CHECK(sign_test({0, 0, 0}) == 1);
    CHECK(sign_test(std::vector<double>(5, 2.0)) == Approx(2.0 / 32));
    CHECK(sign_test(std::vector<double>(2000, 2.0)) < 1e-300);
}

TEST_CASE("sign-flip test agrees with trying all signs") {
    std::vector<double> const x{0.9, 1.4, -0.2, 0.6, 1.1, 0.3, -0.5, 0.8};
    double observed = 0;
    for (double const y : x) observed += y;
    int reached = 0;
    for (unsigned bits = 0; bits < 256; ++bits) {
        double sum = 0;
        for (unsigned i = 0; i < 8; ++i) sum += (bits >> i & 1U) != 0U ? x[i] : -x[i];
        reached += std::abs(sum) >= std::abs(observed) - 1e-9 ? 1 : 0;
    }
    CHECK(sign_flip_test(x, {.resamples = 200000}) == Approx(reached / 256.0).epsilon(0.05));
    CHECK(sign_flip_test({0, 0, 0, 0, 0}) == 1);
}

TEST_CASE("Holm by hand") {
    // sorted 0.01 0.02 0.03 0.04 times 4 3 2 1: 0.04 0.06 0.06 0.04 -> the last may not be below the one before: 0.06
    CHECK(holm({0.04, 0.01, 0.03, 0.02})[0] == Approx(0.06));
    CHECK(holm({0.04, 0.01, 0.03, 0.02})[1] == Approx(0.04));
    CHECK(holm({0.04, 0.01, 0.03, 0.02})[2] == Approx(0.06));
    CHECK(holm({0.04, 0.01, 0.03, 0.02})[3] == Approx(0.06));
    CHECK(holm({0.9, 0.8}) == std::vector<double>{1, 1});
    CHECK(holm({}).empty());
    CHECK_THROWS_AS(holm({1.5}), argument_error);
}

TEST_CASE("intervals: quantiles of the normal, of Student, and of constant differences") {
    CHECK(detail::normal_quantile(0.975) == Approx(1.959963984540054).epsilon(1e-12));
    CHECK(detail::normal_quantile(0.001) == Approx(-3.090232306167813).epsilon(1e-12));
    CHECK(detail::normal_quantile(0.5) == Approx(0));
    CHECK(detail::student_quantile(0.975, 4) == Approx(2.776445).epsilon(1e-3));
    CHECK(detail::student_quantile(0.975, 39) == Approx(2.022691).epsilon(1e-5));
    for (auto const kind : {interval_kind::percentile, interval_kind::bca}) {
        auto const r = bootstrap_mean(std::vector<double>(10, 0.25), {.kind = kind});
        CHECK(r.low == 0.25);
        CHECK(r.high == 0.25);
    }
    // of many pairs, the interval is that of the normal: 1.96 / sqrt(400)
    auto const r = bootstrap_mean(sample(1, 400, 0, false));
    CHECK(r.high - r.low == Approx(2 * 1.96 / 20).epsilon(0.1));
    auto const wide = bootstrap_mean(sample(1, 400, 0, false), {.confidence = 0.99});
    CHECK(wide.high - wide.low == Approx(2 * 2.576 / 20).epsilon(0.1));
    // few pairs: the widened interval is wider, about as Student's t says
    auto const eight = sample(2, 8, 0, false);
    auto const bare = bootstrap_mean(eight, {.widened = false}), full = bootstrap_mean(eight);
    CHECK((full.high - full.low) / (bare.high - bare.low) > 1.1);
    // BCa moves the interval towards the long tail
    auto const skew = sample(4, 30, 0, true);
    auto const plain = bootstrap_mean(skew), corrected = bootstrap_mean(skew, {.kind = interval_kind::bca});
    CHECK(corrected.low > plain.low);
    CHECK(corrected.high > plain.high);
    // so narrow that only the correction of the bias is left: the median of the resampled means is below their mean
    auto const middle = bootstrap_mean(skew, {.confidence = 0.01}),
               moved = bootstrap_mean(skew, {.kind = interval_kind::bca, .confidence = 0.01});
    CHECK(moved.low > middle.low);
}

TEST_CASE("experiments refuse what has no meaning") {
    CHECK_THROWS_AS(experiment({"alone"}), argument_error);
    experiment x({"none", "sinks"});
    CHECK_THROWS_AS(x.add({1}), shape_error);
    CHECK_THROWS_AS(x.add({1, std::nan("")}), argument_error);
    CHECK_THROWS_AS(x.contrast("sinks", "unknown"), argument_error);
    CHECK_THROWS_AS(x.contrast("sinks", "none"), argument_error); // the baseline is in every difference
    CHECK_THROWS_AS(x.report(), argument_error);
    for (int i = 0; i < 4; ++i) x.add({1, 2});
    CHECK_THROWS_AS(x.report(), argument_error);
    x.add({1, 2});
    CHECK(x.report()[0].range.low == 1);
    CHECK_THROWS_AS(x.report({.resamples = 999}), argument_error);
    CHECK_THROWS_AS(x.report({.confidence = 1}), argument_error);
    CHECK_THROWS_AS(bootstrap_mean({1, 2, 3, 4, INFINITY}), argument_error);
}
