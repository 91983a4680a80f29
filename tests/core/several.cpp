// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#include <basin/core/several.hpp>

#include <doctest/doctest.h>

#include <string>

TEST_CASE("several: values of different types, in the order in which they were given") {
    struct own { // neither empty nor made without arguments
        int number;
        explicit own(int n) : number(n) {}
    };
    basin::several<own, double, own> const some{{own(3)}, {0.5}, {own(4)}};
    static_assert(basin::several<own, double, own>::count == 3 && basin::several<>::count == 0);
    static_assert(std::is_trivially_copyable_v<basin::several<own, double>>);
    CHECK(some.apply([](own a, double b, own c) { return a.number * 100 + c.number + b; }) == 304.5);

    std::string seen;
    some.each([&](auto number, auto const& x) {
        seen += std::to_string(number);
        if constexpr (std::is_same_v<std::remove_cvref_t<decltype(x)>, own>) seen += ":" + std::to_string(x.number);
        seen += ' ';
    });
    CHECK(seen == "0:3 1 2:4 ");

    auto const sizes = some.map([](auto const& x) { return sizeof(x); });
    CHECK(sizes.apply([](std::size_t a, std::size_t b, std::size_t c) { return a + b + c; }) == 2 * sizeof(own) + 8);
    basin::several<own> const one{{own(7)}};
    CHECK(one.apply([](own x) { return x.number; }) == 7);
    basin::several<>{}.each([](auto, auto) { FAIL("there is none"); });
}
