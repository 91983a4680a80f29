// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#include "check.hpp"

using namespace basin_test;

namespace {

template <class T>
void check_observe() {
    std::uint64_t seed = 800;
    for (shape const& s : statistic_shapes()) {
        problem<T> p(s, seed++);
        auto const c = expect(p, statistic_formulas(s));
        for_each_backend([&]<class Backend>() {
            statistics<T> got(s);
            p.blank();
            basin::attention(Backend{}, p.query(), p.key(), p.value(), p.out.view(), statistic_policy, p.options(),
                             basin::lse{p.lse.flat()});
            ask_all(got, [&](auto const&... asked) {
                basin::observe(Backend{}, p.query(), p.key(), p.lse.flat(), statistic_policy, p.options(), asked...);
            });
            for (std::string const& words : differences(got, c, false))
                check_none(words, name_of<Backend>, name_of<T>, s);
            CHECK(true);
        });
    }
}

} // namespace

TEST_CASE("observe with a known lse equals the oracle, float") { check_observe<float>(); }
TEST_CASE("observe with a known lse equals the oracle, double") { check_observe<double>(); }

TEST_CASE("observe of scattered queries against the oracle of the whole text") {
    // The lse of a longer text: the keys observed are only its first part, so that probabilities do not sum to 1.
    shape const whole{.queries = 20, .keys = 30, .channels = 8};
    problem<float> p(whole, 9);
    auto const c = expect(p, {});
    for_each_backend([&]<class Backend>() {
        basin::buffer<float, 1> lse(20), part(12);
        basin::attention(Backend{}, p.query(), p.key(), p.value(), p.out.view(), basin::full{}, basin::lse{lse});
        basin::view<float const, 4> const first(p.key().data(), {{1, 1, 12, 8}});
        basin::observe(Backend{}, p.query(), first, lse, basin::full{}, basin::received{part});
        for (std::size_t j = 0; j < 12; ++j)
            CHECK(near(static_cast<double>(part(static_cast<int>(j))), c.want.received[j], 1e-5, 1e-5));
    });
}

TEST_CASE("observe under a kv_sink with values, which it does not read") {
    shape const s{.queries = 9, .keys = 14, .channels = 6, .values = 4};
    problem<float> p(s, 21);
    basin::buffer<float, 2> keys(3, 6), values(3, 4);
    random_numbers r{5, 0};
    for (float& x : keys) x = static_cast<float>(r.uniform(-2, 2));
    for (float& x : values) x = static_cast<float>(r.uniform(-1, 1));
    basin::kv_sink const sink{keys, values};
    for_each_backend([&]<class Backend>() {
        basin::buffer<float, 1> lse(9), escaped(9), escaped_again(9), mass(14), mass_again(14);
        basin::attention(Backend{}, p.query(), p.key(), p.value(), p.out.view(), sink, basin::lse{lse},
                         basin::escaped{escaped}, basin::received{mass});
        basin::observe(Backend{}, p.query(), p.key(), lse, sink, basin::escaped{escaped_again},
                       basin::received{mass_again});
        for (int i = 0; i < 9; ++i) CHECK(escaped_again(i) == doctest::Approx(escaped(i)).epsilon(1e-5));
        for (int j = 0; j < 14; ++j) CHECK(mass_again(j) == doctest::Approx(mass(j)).epsilon(1e-5));
    });
}
