// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#include "check.hpp"

using namespace basin_test;

namespace {

template <class T>
void check_all() {
    std::uint64_t seed = 300;
    for (shape const& s : statistic_shapes()) {
        problem<T> p(s, seed++);
        auto const c = expect(p, statistic_formulas(s));
        for_each_backend([&]<class Backend>() {
            statistics<T> got(s);
            p.blank();
            ask_all(got, [&](auto const&... asked) {
                basin::attention(Backend{}, p.query(), p.key(), p.value(), p.out.view(), statistic_policy, p.options(),
                                 asked..., basin::received_value{got.received_value.flat()});
            });
            check_none(c.out(p.out.numbers()), name_of<Backend>, name_of<T>, s);
            for (std::string const& words : differences(got, c)) check_none(words, name_of<Backend>, name_of<T>, s);
            CHECK(true);
        });
    }
}

} // namespace

TEST_CASE("all statistics at once against the oracle, float") { check_all<float>(); }
TEST_CASE("all statistics at once against the oracle, double") { check_all<double>(); }
TEST_CASE("all statistics at once against the oracle, half") { check_all<basin::half>(); }
TEST_CASE("all statistics at once against the oracle, bfloat16") { check_all<basin::bfloat16>(); }

namespace {
double add_logarithms(double a, double b) {
    double const high = std::max(a, b);
    return high == -infinity ? high : high + std::log(std::exp(a - high) + std::exp(b - high));
}
} // namespace

TEST_CASE("accumulate combines with what the arrays hold, overwriting does not") {
    for (shape const& s :
         {shape{.queries = 19, .keys = 35, .batch = 2, .heads = 2},
          shape{.queries = 9, .keys = 9, .batch = 2, .query_lengths = {4, 9}, .key_lengths = {9, 2}}}) {
        problem<float> first(s, 11), second(s, 12);
        auto const a = expect(first, statistic_formulas(s)), b = expect(second, statistic_formulas(s));
        checker<float> both = a;
        for (std::size_t i = 0; i < a.want.lse.size(); ++i) {
            both.want.lse[i] = add_logarithms(a.want.lse[i], b.want.lse[i]);
            both.want.entropy[i] += b.want.entropy[i];
            both.want.escaped[i] += b.want.escaped[i];
            if (b.want.favourite_p[i] > a.want.favourite_p[i]) {
                both.want.favourite_p[i] = b.want.favourite_p[i];
                both.want.rivals[i] = b.want.rivals[i];
                both.want.favourite[i] = b.want.favourite[i];
            }
        }
        for (std::size_t i = 0; i < a.want.received.size(); ++i) {
            both.want.received[i] += b.want.received[i];
            both.want.peak[i] = std::max(a.want.peak[i], b.want.peak[i]);
            both.want.received_value[i] += b.want.received_value[i];
            both.want.seen[i] += b.want.seen[i];
            both.want.votes[i] += b.want.votes[i];
            both.want.votes_most[i] += b.want.votes_most[i];
        }
        for_each_backend([&]<class Backend>() {
            statistics<float> got(s); // full of NaN: the first call must overwrite it
            auto const run = [&](problem<float>& p, auto const& mode) {
                ask_all(got, [&](auto const&... asked) {
                    basin::attention(Backend{}, p.query(), p.key(), p.value(), p.out.view(), statistic_policy,
                                     p.options(), mode(asked)...,
                                     mode(basin::received_value{got.received_value.flat()}));
                });
            };
            auto const overwrite = [](auto x) { return x; };
            auto const add = [](auto x) { return basin::accumulate(x); };
            run(second, overwrite);
            run(first, overwrite);
            for (std::string const& words : differences(got, a)) check_none(words, name_of<Backend>, "overwritten", s);
            run(second, add);
            auto words = differences(got, both);
            // The favourites of two calls are voted for twice, so that votes have no single total.
            std::erase_if(words, [](std::string const& w) { return w.find("were cast by") != std::string::npos; });
            for (std::string const& w : words) check_none(w, name_of<Backend>, "accumulated", s);
            CHECK(true);
        });
    }
}
