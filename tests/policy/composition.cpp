// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#include "shapes.hpp"

using namespace basin_test;

TEST_CASE("any_of against the oracle") {
    check_against_oracle([](shape const&, auto, int) {
        return made{basin::any_of(basin::window{.before = 3, .after = 1}, basin::prefix{4}, basin::blocks{8}),
                    {.sees = [](place x) {
                        return (x.key >= x.query - 3 && x.key <= x.query + 1) || x.key < 4 || x.key / 8 == x.query / 8;
                    }}};
    });
}

TEST_CASE("all_of against the oracle, scores from left to right") {
    check_against_oracle([](shape const&, auto, int) {
        return made{basin::all_of(basin::causal{}, basin::softcap{2.0}, basin::window{9, 0}, basin::temperature{0.5}),
                    {.sees = [](place x) { return x.key <= x.query && x.key >= x.query - 9; },
                     .score = [](double x, place) { return 2 * std::tanh(x / 2) / 0.5; }}};
    });
}

TEST_CASE("none_of against the oracle") {
    check_against_oracle([](shape const& s, auto, int) {
        basin::key_set set(1, 1, s.limit());
        for (int j = 1; j < s.limit(); j += 4) set.insert(0, 0, j);
        return made{basin::none_of(basin::causal{}, basin::sink_masked(set)),
                    {.sees = [](place x) { return x.key > x.query && x.key % 4 == 1; }}};
    });
}

TEST_CASE("where against the oracle") {
    check_against_oracle([](shape const&, auto, int) {
        auto const odd = basin::mask_if([](basin::site s) { return s.key % 2 == 1; });
        return made{basin::all_of(basin::where(odd, basin::temperature{0.5}),
                                  basin::where(basin::causal{}, basin::softcap{1.0})),
                    {.score = [](double x, place at) {
                        if (at.key % 2 == 1) x = x / 0.5;
                        return at.key <= at.query ? std::tanh(x) : x;
                    }}};
    });
}

TEST_CASE("the operators mean the same as the functions") {
    using basin::operator&, basin::operator|, basin::operator~;
    static_assert(std::is_same_v<decltype(basin::causal{} & basin::softcap{}),
                                 decltype(basin::all_of(basin::causal{}, basin::softcap{}))>);
    static_assert(std::is_same_v<decltype(basin::causal{} | basin::prefix{}),
                                 decltype(basin::any_of(basin::causal{}, basin::prefix{}))>);
    static_assert(std::is_same_v<decltype(~basin::causal{}), decltype(basin::none_of(basin::causal{}))>);
    auto const mixed = (basin::window{1, 1} | basin::prefix{2}) & ~basin::causal{};
    for (int i = 0; i < 6; ++i)
        for (int j = 0; j < 6; ++j)
            CHECK(basin::facet::visible(mixed, basin::site{0, 0, i, j}) == ((std::abs(i - j) <= 1 || j < 2) && j > i));
}

TEST_CASE("deep compositions against the oracle") {
    check_against_oracle([](shape const& s, auto, int) {
        std::vector<std::vector<double>> const logits(static_cast<std::size_t>(s.heads), {1.0});
        auto const band = basin::all_of(basin::block_causal{4}, basin::any_of(basin::window{6, 2}, basin::prefix{1}));
        return made{basin::all_of(basin::any_of(band, basin::none_of(basin::prefix{12})), basin::sink_logit{1.0},
                                  basin::softcap{5.0}),
                    {.sees =
                         [](place x) {
                             bool const near = x.key >= x.query - 6 && x.key <= x.query + 2;
                             return (x.key / 4 <= x.query / 4 && (near || x.key < 1)) || x.key >= 12;
                         },
                     .score = [](double x, place) { return 5 * std::tanh(x / 5); },
                     .logits = logits}};
    });
}
