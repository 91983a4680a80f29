// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#include "same.hpp"

#include <limits>
#include <set>
#include <tuple>
#include <vector>

using namespace basin_test;

TEST_CASE("key_set: insert, erase, contains and count against a set of tuples") {
    for (int const keys : {1, 63, 64, 65, 200}) {
        basin::key_set set(2, 3, keys);
        std::set<std::tuple<int, int, int>> want;
        random_numbers r{static_cast<std::uint64_t>(keys), 0};
        for (int i = 0; i < 300; ++i) {
            int const b = r.below(2), h = r.below(3), key = r.below(keys);
            if (r.chance(0.7)) {
                set.insert(b, h, key);
                want.insert({b, h, key});
            } else {
                set.erase(b, h, key);
                want.erase({b, h, key});
            }
        }
        CHECK(set.count() == static_cast<int>(want.size()));
        for (int b = 0; b < 2; ++b)
            for (int h = 0; h < 3; ++h) {
                int row = 0;
                for (int key = 0; key < keys; ++key) {
                    bool const in = want.count({b, h, key}) == 1;
                    CHECK(set.contains(b, h, key) == in);
                    CHECK(set.bits().contains(b, h, key) == in);
                    row += in ? 1 : 0;
                }
                CHECK(set.count(b, h) == row);
                for (int begin = 0; begin < keys; begin += 7)
                    for (int end = begin + 1; end <= keys; end += 13) {
                        int within = 0;
                        for (int key = begin; key < end; ++key) within += want.count({b, h, key}) == 1 ? 1 : 0;
                        CHECK(set.bits().count(b, h, begin, end) == within);
                    }
            }
    }
}

TEST_CASE("key_set: one head of a set") {
    basin::key_set set(2, 3, 70);
    set.insert(1, 2, 69);
    set.insert(1, 2, 0);
    set.insert(1, 1, 5);
    CHECK(set.of_head(1, 2) == basin::key_set(70, {0, 69}));
    CHECK(set.of_head(0, 0) == basin::key_set(70, {}));
}

TEST_CASE("key_set: the same keys for all, equality, copies") {
    basin::key_set const a(70, {3, 69});
    CHECK(a.batch() == 1);
    CHECK(a.heads() == 1);
    CHECK(a.keys() == 70);
    CHECK(a.count() == 2);
    CHECK(a.bits().contains(5, 7, 69)); // an extent of 1 is shared
    basin::key_set b = a;
    CHECK(b == a);
    b.erase(0, 0, 3);
    CHECK_FALSE(b == a);
    CHECK(a.contains(0, 0, 3));
    CHECK_FALSE(basin::key_set(70, {}) == basin::key_set(71, {}));
    CHECK(basin::key_set().count() == 0);
}

TEST_CASE("key_set: several keys at once are as if inserted one by one, and one outside leaves the set as it was") {
    basin::key_set one(2, 3, 200), many(2, 3, 200);
    std::vector<basin::index_t> const keys{0, 5, 63, 64, 65, 199, 128, 5, 1};
    for (basin::index_t const key : keys) one.insert(1, 2, key);
    many.insert(1, 2, keys.data(), static_cast<basin::index_t>(keys.size()));
    CHECK(one == many);
    CHECK(many.count() == 8);
    many.insert(0, 0, nullptr, 0);
    std::vector<basin::index_t> const wrong{7, 200};
    CHECK_THROWS_AS(many.insert(1, 2, wrong.data(), 2), basin::argument_error);
    CHECK_THROWS_AS(many.insert(2, 0, keys.data(), 1), basin::argument_error);
    CHECK(one == many);
}

TEST_CASE("key_set: neighbours at once are as if inserted one by one") {
    for (basin::index_t const begin : {0, 1, 62, 63, 64, 65, 127}) {
        for (basin::index_t const end : {begin + 1, begin + 2, begin + 64, begin + 65, basin::index_t{200}}) {
            basin::key_set one(1, 2, 200), many(1, 2, 200);
            std::vector<basin::index_t> keys;
            for (basin::index_t key = begin; key < end; ++key) {
                keys.push_back(key);
                one.insert(0, 1, key);
            }
            many.insert(0, 1, keys.data(), static_cast<basin::index_t>(keys.size()));
            CHECK(one == many);
        }
    }
    basin::key_set set(1, 1, 10);
    std::vector<basin::index_t> const beyond{8, 9, 10};
    CHECK(words([&] { set.insert(0, 0, beyond.data(), 3); }) ==
          "key_set: (0, 0, 10) is outside of its extents (1, 1, 10)");
    std::vector<basin::index_t> const far{-2, std::numeric_limits<basin::index_t>::max()};
    CHECK_THROWS_AS(set.insert(0, 0, far.data(), 2), basin::argument_error);
    CHECK(set.count() == 0);
}

TEST_CASE("key_set: a set without keys has none to count") {
    CHECK(basin::key_set(1, 1, 0).count() == 0);
    CHECK(basin::key_set(1, 1, 0).count(0, 0) == 0);
}

TEST_CASE("key_set: what is outside is refused in words") {
    basin::key_set set(2, 3, 10);
    CHECK(words([&] { set.insert(2, 0, 0); }) == "key_set: (2, 0, 0) is outside of its extents (2, 3, 10)");
    CHECK(words([&] { set.erase(0, -1, 0); }) == "key_set: (0, -1, 0) is outside of its extents (2, 3, 10)");
    CHECK(words([&] { (void)set.contains(0, 0, 10); }) == "key_set: (0, 0, 10) is outside of its extents (2, 3, 10)");
    CHECK(words([&] { (void)set.count(0, 3); }) == "key_set: (0, 3, 0) is outside of its extents (2, 3, 10)");
    CHECK(words([] { basin::key_set(5, {5}); }) == "key_set: (0, 0, 5) is outside of its extents (1, 1, 5)");
    basin::key_bits bits({1, 1, 2, 3});
    CHECK(words([&] { bits.show(0, 0, 2, 0); }) == "key_bits: (0, 0, 2, 0) is outside of its extents");
}
