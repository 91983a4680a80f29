// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#include <basin/basin.hpp>

#include <doctest/doctest.h>

#include <string>
#include <vector>

// Where texts lie and where their tokens stand; coverage; errors.
TEST_CASE("layout: a plain batch") {
    auto const l = basin::detail::make_layout({}, 3, 5, 7);
    CHECK(l.texts() == 3);
    basin::text const t = l.at(2);
    CHECK(t.entry == 2);
    CHECK(t.number == 2);
    CHECK(t.query_begin == 0);
    CHECK(t.query_end == 5);
    CHECK(t.key_end == 7);
    CHECK(l.query_at(t, 4) == 4);
    CHECK(basin::detail::position_limit(l, true) == 5);
    CHECK(basin::detail::position_limit(l, false) == 7);
}

TEST_CASE("layout: lengths cut, and the limit of positions is that of live tokens") {
    std::vector<basin::index_t> const queries = {2, 0}, keys = {6, 7};
    basin::options o;
    o.query_lengths = queries;
    o.key_lengths = keys;
    auto const l = basin::detail::make_layout(o, 2, 5, 7);
    CHECK(l.at(0).query_end == 2);
    CHECK(l.at(0).key_end == 6);
    CHECK(l.at(1).query_end == 0);
    CHECK(basin::detail::position_limit(l, true) == 2);
    CHECK(basin::detail::position_limit(l, false) == 7);
}

TEST_CASE("layout: packed texts restart their positions and count as batch entries") {
    std::vector<basin::index_t> const offsets = {0, 3, 3, 8};
    basin::options o;
    o.offsets = offsets;
    o.query_position = 10;
    auto const l = basin::detail::make_layout(o, 1, 9, 9);
    CHECK(l.texts() == 3);
    basin::text const t = l.at(2);
    CHECK(t.entry == 0);
    CHECK(t.number == 2);
    CHECK(t.query_begin == 3);
    CHECK(t.key_end == 8);
    CHECK(l.query_at(t, 3) == 10);
    CHECK(l.query_at(t, 7) == 14);
    CHECK(l.key_at(t, 3) == 0);
    CHECK(basin::detail::position_limit(l, true) == 15);
    CHECK(basin::detail::position_limit(l, false) == 5);
}

TEST_CASE("layout: lists of positions, shared or per entry") {
    std::vector<basin::index_t> const shared = {4, 9, 1};
    basin::buffer<basin::index_t, 2> each(2, 4);
    each(1, 2) = 77;
    basin::options o;
    o.query_position = shared;
    o.key_position = each;
    auto const l = basin::detail::make_layout(o, 2, 3, 4);
    CHECK(l.query_at(l.at(1), 1) == 9);
    CHECK(l.key_at(l.at(0), 2) == 0);
    CHECK(l.key_at(l.at(1), 2) == 77);
    CHECK(basin::detail::position_limit(l, true) == 10);
    CHECK(basin::detail::position_limit(l, false) == 78);
}

TEST_CASE("coverage: meet, join and complement, all nine pairs") {
    using basin::coverage;
    coverage const none = coverage::none, some = coverage::some, all = coverage::all;
    coverage const both[3][3] = {{none, none, none}, {none, some, some}, {none, some, all}};
    coverage const either[3][3] = {{none, some, all}, {some, some, all}, {all, all, all}};
    coverage const each[3] = {none, some, all};
    for (std::size_t a = 0; a < 3; ++a)
        for (std::size_t b = 0; b < 3; ++b) {
            CHECK(meet(each[a], each[b]) == both[a][b]);
            CHECK(join(each[a], each[b]) == either[a][b]);
        }
    CHECK(complement(none) == all);
    CHECK(complement(some) == some);
    CHECK(complement(all) == none);
}

TEST_CASE("errors: one family, their text is cut, never overrun") {
    static_assert(std::is_base_of_v<std::exception, basin::error> &&
                  std::is_base_of_v<basin::error, basin::argument_error> &&
                  std::is_base_of_v<basin::argument_error, basin::shape_error>);
    std::string const long_words(2000, 'x');
    try {
        basin::detail::fail<basin::shape_error>("a ", 12, " ", 3000000000LL, " ", 0.5, " ", long_words.c_str());
    } catch (basin::error const& e) {
        std::string const text = e.what();
        CHECK(text.size() == 511);
        CHECK(text.substr(0, 22) == "a 12 3000000000 0.5 xx");
    }
}
