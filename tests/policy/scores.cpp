// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#include "shapes.hpp"

using namespace basin_test;

TEST_CASE("bias against the oracle") {
    // Tables live here: a bias borrows. One per variant of broadcasting: nothing, batch, batch and head, query, key.
    static array<float>* table = nullptr;
    check_against_oracle(
        [](shape const& s, auto, int variant) {
            int const n = s.limit();
            delete table;
            table = new array<float>(variant > 0 ? 1 : s.texts(), variant > 1 ? 1 : s.heads, variant == 3 ? 1 : n,
                                     variant == 4 ? 1 : n, variant == 2 ? memory::transposed : memory::gaps);
            table->fill_random({99, 0}, -3, 3);
            if (n > 2 && variant == 0) (*table)(0, 0, 1, 2) = -std::numeric_limits<float>::infinity();
            basin::view<float, 4> const t = table->view();
            return made{basin::bias{t}, {.score = [t](double x, place at) {
                            return x + static_cast<double>(
                                           t(t.extent(0) == 1 ? 0 : at.batch, t.extent(1) == 1 ? 0 : at.head,
                                             t.extent(2) == 1 ? 0 : at.query, t.extent(3) == 1 ? 0 : at.key));
                        }}};
        },
        5);
    delete table;
    table = nullptr;
}

TEST_CASE("alibi against the oracle") {
    check_against_oracle(
        [](shape const& s, auto, int variant) {
            if (variant == 0)
                return made{basin::alibi::geometric(s.heads), {.score = [n = s.heads](double x, place at) {
                                return x - std::pow(2.0, -8.0 * (at.head + 1) / n) * std::abs(at.query - at.key);
                            }}};
            std::vector<double> const slopes = {0.25, 0, 0.0625, 0.125};
            basin::alibi const listed = s.heads == 4   ? basin::alibi{0.25, 0.0, 0.0625, 0.125}
                                        : s.heads == 2 ? basin::alibi{0.25, 0.0}
                                                       : basin::alibi{0.25};
            return made{listed, {.score = [slopes](double x, place at) {
                            return x - slopes[static_cast<std::size_t>(at.head)] * std::abs(at.query - at.key);
                        }}};
        },
        2);
}

TEST_CASE("parameters per head come from a vector, a buffer or a view alike") {
    basin::buffer<float, 1> numbers(3);
    std::vector<float> listed(3);
    for (int h = 0; h < 3; ++h) listed[static_cast<std::size_t>(h)] = numbers(h) = 0.5F * static_cast<float>(h + 1);
    basin::view<float const, 1> const seen = numbers;
    basin::shape_facts const facts{
        .batch = 1, .heads = 3, .key_value_heads = 3, .queries = 4, .keys = 4, .channels = 2, .value_channels = 2};
    basin::site const far{0, 2, 0, 3};
    for (auto const& slopes : {basin::alibi{listed}, basin::alibi{numbers}, basin::alibi{seen}})
        CHECK(slopes.bind(facts).score(1.0, far) == 1.0 - 1.5 * 3);
    numbers[1] = 7;
    CHECK(seen[1] == 7);
    CHECK(basin::sink_logit{numbers}.bind(facts).sink_logit(basin::head_site{0, 1, 1}) == 7);
}

TEST_CASE("softcap against the oracle") {
    check_against_oracle(
        [](shape const&, auto, int variant) {
            double const cap = variant == 0 ? 1.5 : 30.0;
            return made{basin::softcap{cap}, {.score = [=](double x, place) { return cap * std::tanh(x / cap); }}};
        },
        2);
}

TEST_CASE("temperature against the oracle") {
    check_against_oracle(
        [](shape const&, auto, int variant) {
            double const value = variant == 0 ? 0.7 : 3.0;
            return made{basin::temperature{value}, {.score = [=](double x, place) { return x / value; }}};
        },
        2);
}

TEST_CASE("score_with against the oracle") {
    check_against_oracle([](shape const&, auto, int) {
        auto const change = [](auto x, basin::site s) {
            return s.key == 3 ? -basin::math::infinity<decltype(x)> : x * static_cast<decltype(x)>(1 + s.head) / 2;
        };
        return made{basin::score_with(change),
                    {.score = [](double x, place at) { return at.key == 3 ? -infinity : x * (1 + at.head) / 2; }}};
    });
}

TEST_CASE("score_with in lanes against the oracle") {
    check_against_oracle([](shape const&, auto, int) {
        auto const change = [](auto x, auto const& s) {
            using X = decltype(x);
            auto const distance = basin::math::convert<X>(basin::math::abs(s.query - s.key));
            return basin::math::select(s.key % 3 == 1, x * X(0.5), x - basin::math::min(distance, X(4)));
        };
        return made{basin::score_with(change, basin::supported{}), {.score = [](double x, place at) {
                        return at.key % 3 == 1 ? x * 0.5 : x - std::min(std::abs(at.query - at.key), 4);
                    }}};
    });
}
