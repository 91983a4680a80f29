// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#include "call.hpp"

using namespace basin_test;

TEST_CASE("contract: zero batch, heads or queries return and touch nothing") {
    for_each_backend([]<class Backend>() {
        INFO(std::string(name_of<Backend>));
        for (auto const& [b, h, n] : {std::array{0, 2, 3}, std::array{2, 0, 3}, std::array{2, 2, 0}}) {
            array<float> q(b, h, n, 4), k(b, h, 5, 4), v(b, h, 5, 4), out(b, h, n, 4), lse(b, h, 1, n),
                mass(b, h, 1, 5);
            k.fill(1);
            v.fill(1);
            basin::attention(Backend{}, q.view(), k.view(), v.view(), out.view(), basin::causal{},
                             basin::lse{lse.flat()}, basin::received{mass.flat()});
            CHECK(out.untouched());
            CHECK(lse.untouched());
            CHECK(mass.untouched());
            basin::observe(Backend{}, q.view(), k.view(), lse.flat(), basin::causal{}, basin::received{mass.flat()});
            CHECK(mass.untouched());
        }
    });
}

TEST_CASE("contract: zero keys give output 0 and lse -inf") {
    for_each_backend([]<class Backend>() {
        INFO(std::string(name_of<Backend>));
        for (int const n : {1, 3, 70}) {
            array<float> q(2, 2, n, 4), k(2, 1, 0, 4), v(2, 1, 0, 5), out(2, 2, n, 5), lse(2, 2, 1, n),
                mass(2, 2, 1, 0), spread(2, 2, 1, n);
            q.fill(1);
            basin::attention(Backend{}, q.view(), k.view(), v.view(), out.view(), basin::causal{},
                             basin::lse{lse.flat()}, basin::received{mass.flat()}, basin::entropy{spread.flat()});
            out.for_each([](float x) { CHECK(x == 0); });
            lse.for_each([](float x) { CHECK(x == -inf); });
            spread.for_each([](float x) { CHECK(x == 0); });
            CHECK(out.intact());
            CHECK(mass.untouched());
        }
    });
}

TEST_CASE("contract: accumulation is float for 16- and 32-bit storage, double for double") {
    static_assert(std::is_same_v<basin::accumulation_t<float>, float>);
    static_assert(std::is_same_v<basin::accumulation_t<basin::half>, float>);
    static_assert(std::is_same_v<basin::accumulation_t<basin::bfloat16>, float>);
    static_assert(std::is_same_v<basin::accumulation_t<double>, double>);
    // 3000 equal values of 1: a sum in half would stop at 2048.
    for_each_backend([]<class Backend>() {
        INFO(std::string(name_of<Backend>));
        array<basin::half> q(1, 1, 1, 1), k(1, 1, 3000, 1), v(1, 1, 3000, 1), out(1, 1, 1, 1);
        array<float> lse(1, 1, 1, 1);
        q.fill(0);
        k.fill(0);
        v.fill(1);
        basin::attention(Backend{}, q.view(), k.view(), v.view(), out.view(), basin::full{}, basin::lse{lse.flat()});
        CHECK(static_cast<float>(out(0, 0, 0, 0)) == 1.F);
        CHECK(lse(0, 0, 0, 0) == doctest::Approx(std::log(3000.0)));
    });
}
