// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#include "shapes.hpp"

using namespace basin_test;

TEST_CASE("mask_if against the oracle") {
    check_against_oracle([](shape const&, auto, int) {
        return made{basin::mask_if([](basin::site s) { return (s.query * 7 + s.key * 3 + s.head + s.batch) % 5 < 2; }),
                    {.sees = [](place x) { return (x.query * 7 + x.key * 3 + x.head + x.batch) % 5 < 2; }}};
    });
}

TEST_CASE("mask_if in lanes against the oracle") {
    check_against_oracle([](shape const&, auto, int) {
        return made{basin::mask_if([](auto const& s) { return (s.query ^ s.key) % 2 == 0 || s.key / 4 == s.query / 4; },
                                   basin::supported{}),
                    {.sees = [](place x) { return (x.query + x.key) % 2 == 0 || x.key / 4 == x.query / 4; }}};
    });
}

TEST_CASE("lambdas that capture by reference see what lives outside of them") {
    std::vector<int> document(1000); // which document a token is in
    for (std::size_t i = 0; i < document.size(); ++i) document[i] = static_cast<int>(i / 5);
    int const step = 3;
    auto const of = [&](int token) { return document[static_cast<std::size_t>(token)]; };
    check_against_oracle([&](shape const&, auto, int) {
        return made{basin::mask_if([&](basin::site s) { return of(s.query) == of(s.key) || s.key % step == 0; }),
                    {.sees = [](place x) { return x.query / 5 == x.key / 5 || x.key % 3 == 0; }}};
    });
}

TEST_CASE("any_mask against the oracle") {
    check_against_oracle(
        [](shape const& s, auto, int variant) {
            formulas says;
            basin::any_mask chosen;
            switch (variant) {
            case 0:
                break;
            case 1:
                chosen = basin::any_mask(basin::causal{});
                says.sees = [](place x) { return x.key <= x.query; };
                break;
            case 2:
                chosen = basin::any_mask(basin::any_of(basin::window{2, 3}, basin::prefix{2}));
                says.sees = [](place x) { return (x.query - 2 <= x.key && x.key <= x.query + 3) || x.key < 2; };
                break;
            case 3: {
                basin::key_set set(1, 1, s.limit());
                for (int j = 0; j < s.limit(); j += 3) set.insert(0, 0, j);
                chosen = basin::any_mask(basin::sink_masked(set)); // owns its bits: `set` may go
                says.sees = [](place x) { return x.key % 3 != 0; };
                break;
            }
            default:
                chosen = basin::any_mask(basin::none_of(basin::full{}));
                says.sees = [](place) { return false; };
            }
            basin::any_mask const copy = chosen; // copies own what they hold
            return made{copy, says};
        },
        5);
}

namespace {
/// What a user writes: one definition, scalar.
struct same_parity {
    constexpr bool visible(basin::site s) const { return (s.query ^ s.key) % 2 == 0; }
};
/// Weights and values change too.
struct damped {
    using lanes = basin::supported;
    template <class X, class Lane>
    X weight(X p, basin::basic_site<Lane> const& s) const {
        return basin::math::select(s.key == s.query, p * X(0.25), p);
    }
    template <class X>
    X value(X x, basin::value_site const& s) const {
        return s.channel % 2 == 0 ? x : x * static_cast<X>(2 + s.head);
    }
};
} // namespace

TEST_CASE("a user's own mask against the oracle") {
    check_against_oracle([](shape const&, auto, int) {
        return made{basin::all_of(same_parity{}, basin::causal{}),
                    {.sees = [](place x) { return (x.query + x.key) % 2 == 0 && x.key <= x.query; }}};
    });
}

TEST_CASE("a user's own weights and values against the oracle") {
    std::uint64_t seed = 70;
    for_each_type(list<float, double>{}, [&]<class T>() {
        for (shape const& s : policy_shapes()) {
            problem<T> p(s, seed++);
            auto const policy = basin::all_of(damped{}, basin::causal{}, basin::sink_logit{0.5});
            formulas says{
                .sees = [](place x) { return x.key <= x.query; },
                .weight = [](double x, place at) { return at.key == at.query ? x / 4 : x; },
                .value = [](double x, int head, int, int channel) { return channel % 2 == 0 ? x : x * (2 + head); },
                .logits = std::vector<std::vector<double>>(static_cast<std::size_t>(s.heads), {0.5})};
            run_once<T>(p, says, solvers_of<T>(policy));
        }
    });
}
