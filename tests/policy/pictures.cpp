// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#include <basin/basin.hpp>

#include <doctest/doctest.h>

#include <string>
#include <vector>

// Masks drawn by hand: one line per query, '#' where it sees the key. What `visible` answers must be the picture, and
// what `cover` says of every rectangle must be true of the picture.
namespace {

using picture = std::vector<std::string>;
using basin::coverage;

std::string joined(picture const& lines) {
    std::string result;
    for (std::string const& line : lines) result += line + "\n";
    return result;
}

template <class Bound>
coverage cover_of(Bound const& bound, int q0, int q1, int k0, int k1) {
    return basin::facet::cover(bound, basin::tile{0, 0, q0, q1, k0, k1});
}

template <class Policy>
void check_picture(Policy const& policy, picture const& drawn) {
    auto const queries = static_cast<int>(drawn.size()), keys = static_cast<int>(drawn[0].size());
    auto const bound = basin::bind(policy, basin::shape_facts{1, 1, 1, queries, keys, 4, 4});
    static_assert(std::is_trivially_copyable_v<decltype(bound)>);
    picture seen;
    for (int i = 0; i < queries; ++i) {
        seen.emplace_back();
        for (int j = 0; j < keys; ++j) {
            bool const visible = basin::facet::visible(bound, basin::site{0, 0, i, j});
            CHECK(basin::facet::visible(policy, basin::site{0, 0, i, j}) == visible);
            seen.back() += visible ? '#' : '.';
        }
    }
    CHECK(joined(seen) == joined(drawn));
    for (int q0 = 0; q0 < queries; ++q0)
        for (int q1 = q0 + 1; q1 <= queries; ++q1)
            for (int k0 = 0; k0 < keys; ++k0)
                for (int k1 = k0 + 1; k1 <= keys; ++k1) {
                    bool any = false, all = true;
                    for (int i = q0; i < q1; ++i)
                        for (int j = k0; j < k1; ++j) {
                            bool const on = drawn[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)] == '#';
                            any = any || on;
                            all = all && on;
                        }
                    coverage const said = cover_of(bound, q0, q1, k0, k1);
                    CAPTURE(q0);
                    CAPTURE(q1);
                    CAPTURE(k0);
                    CAPTURE(k1);
                    CHECK_FALSE((said == coverage::all && !all));
                    CHECK_FALSE((said == coverage::none && any));
                }
    for (int key = 0; key < keys; ++key) {
        bool any = false;
        for (std::string const& line : drawn) any = any || line[static_cast<std::size_t>(key)] == '#';
        CHECK_FALSE((basin::facet::hides(bound, basin::head_site{0, 0, 0}, key) && any));
    }
}

/// The same with squares of `size`, where the cover must be exact: '#' all, '.' none, '+' some.
template <class Policy>
void check_tiles(Policy const& policy, int size, picture const& drawn) {
    auto const rows = static_cast<int>(drawn.size()), columns = static_cast<int>(drawn[0].size());
    auto const bound = basin::bind(policy, basin::shape_facts{1, 1, 1, rows * size, columns * size, 4, 4});
    picture said;
    for (int i = 0; i < rows; ++i) {
        said.emplace_back();
        for (int j = 0; j < columns; ++j) {
            coverage const c = cover_of(bound, i * size, (i + 1) * size, j * size, (j + 1) * size);
            said.back() += c == coverage::all ? '#' : c == coverage::none ? '.' : '+';
        }
    }
    CHECK(joined(said) == joined(drawn));
}

} // namespace

TEST_CASE("picture of full") {
    check_picture(basin::full{}, {"###", "###"});
    check_tiles(basin::full{}, 4, {"##", "##"});
}

TEST_CASE("picture of causal") {
    check_picture(basin::causal{}, {"#.....", //
                                    "##....", //
                                    "###...", //
                                    "####..", //
                                    "#####."});
    check_tiles(basin::causal{}, 3, {"+..", "#+.", "##+"});
    check_tiles(basin::causal{}, 1, {"#..", "##.", "###"});
}

TEST_CASE("picture of window") {
    check_picture(basin::window{.before = 2, .after = 1}, {"##.....", //
                                                           "###....", //
                                                           "####...", //
                                                           ".####..", //
                                                           "..####.", //
                                                           "...####"});
    check_tiles(basin::window{.before = 3, .after = 3}, 2, {"##+", "###", "+##"});
    check_tiles(basin::window{.before = 4, .after = 0}, 2, {"+..", "#+.", "+#+"});
    check_picture(basin::window{}, {"#..", ".#.", "..#"});
    check_picture(basin::window{.before = 0x7fffffff, .after = 0x7fffffff}, {"###", "###", "###"});
    check_tiles(basin::window{.before = 0x7fffffff, .after = 0x7fffffff}, 2, {"##", "##"});
}

TEST_CASE("picture of prefix") {
    check_picture(basin::prefix{2}, {"##...", "##...", "##..."});
    check_picture(basin::prefix{0}, {"...", "..."});
    check_tiles(basin::prefix{5}, 2, {"##+.", "##+."});
    check_tiles(basin::prefix{4}, 2, {"##.", "##."});
}

TEST_CASE("picture of blocks") {
    check_picture(basin::blocks{2}, {"##...", //
                                     "##...", //
                                     "..##.", //
                                     "..##.", //
                                     "....#"});
    check_tiles(basin::blocks{2}, 2, {"#..", ".#.", "..#"});
    check_tiles(basin::blocks{3}, 2, {"#+.", "+++", ".+#"});
}

TEST_CASE("picture of block_causal") {
    check_picture(basin::block_causal{2}, {"##...", //
                                           "##...", //
                                           "####.", //
                                           "####.", //
                                           "#####"});
    check_tiles(basin::block_causal{2}, 2, {"#..", "##.", "###"});
    check_tiles(basin::block_causal{4}, 2, {"##..", "##..", "####"});
}

TEST_CASE("picture of block_diffusion") {
    check_picture(basin::block_diffusion{.size = 2, .length = 4}, {"##......", //
                                                                   "##......", //
                                                                   "..####..", //
                                                                   "..####..", //
                                                                   "....##..", //
                                                                   "....##..", //
                                                                   "....####", //
                                                                   "....####"});
    check_picture(basin::block_diffusion{.size = 2, .length = 3}, {"##....", //
                                                                   "##....", //
                                                                   "..###.", //
                                                                   "...##.", //
                                                                   "...##.", //
                                                                   "...###"});
    check_tiles(basin::block_diffusion{.size = 2, .length = 4}, 2, {"#...", ".##.", "..#.", "..##"});
}

TEST_CASE("picture of key_bits") {
    picture const drawn = {"#.#.#", "..###", "#####", "....."};
    basin::key_bits bits({1, 1, 4, 5});
    for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 5; ++j)
            if (drawn[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)] == '#') bits.show(0, 0, i, j);
    check_picture(bits, drawn);
    // Across a border of words.
    auto const wide = basin::key_bits::of({1, 1, 4, 132}, [](basin::site s) { return s.key >= 63 && s.key < 129; });
    picture drawn_wide;
    for (int i = 0; i < 2; ++i) drawn_wide.push_back(std::string(63, '.') + std::string(66, '#') + "...");
    check_picture(wide, drawn_wide);
    check_tiles(wide, 1, {drawn_wide[0]});
    check_tiles(wide, 3, {std::string(21, '.') + std::string(22, '#') + "."});
}

TEST_CASE("picture of sink_masked") {
    check_picture(basin::sink_masked{{5, {0, 3}}}, {".##.#", ".##.#", ".##.#"});
    check_picture(basin::sink_masked{{5, {0, 3}}, basin::sink_masked::except_itself}, {"###.#", //
                                                                                       ".##.#", //
                                                                                       ".##.#", //
                                                                                       ".####"});
    check_tiles(basin::sink_masked{{6, {2, 3, 4}}}, 2, {"#.+", "#.+"});
    check_tiles(basin::sink_masked{{6, {2, 3, 4}}, basin::sink_masked::except_itself}, 2, {"#.+", "#++"});
    basin::sink_masked const masked{{6, {2, 3, 4}}};
    auto const bound = masked.bind({1, 1, 1, 6, 6, 4, 4});
    CHECK(bound.hides({0, 0, 0}, 2));
    CHECK_FALSE(bound.hides({0, 0, 0}, 5));
}

TEST_CASE("picture of sink_token") {
    check_picture(basin::sink_token{0}, {"#....", //
                                         "#####", //
                                         "#####"});
    check_picture(basin::sink_token{2}, {"####", //
                                         "####", //
                                         "..#.", //
                                         "####"});
    check_picture(basin::sink_token{{0, 3}, basin::window{.before = 1, .after = 0}}, {"#....", //
                                                                                      "##.#.", //
                                                                                      "####.", //
                                                                                      "...#.", //
                                                                                      "#..##"});
    check_picture(basin::sink_token{{0, 3}, basin::window{.before = 1, .after = 0}, true}, {"#..#.", //
                                                                                            "##.#.", //
                                                                                            "####.", //
                                                                                            "#..#.", //
                                                                                            "#..##"});
    check_tiles(basin::sink_token{{0, 1, 2, 3}}, 2,
                {"++.", "++.", "###"}); // two tokens per tile: each sees itself only
    check_tiles(basin::sink_token{{0, 1, 2, 3}, basin::full{}, true}, 2, {"##.", "##.", "###"});
    check_tiles(basin::sink_token{{1, 4}, basin::causal{}}, 1, {"##..#", ".#..+", "###.#", "#####", ".+..#"});
}

namespace {
/// Which keys a policy says that no query sees: '.' for those.
template <class Policy>
std::string hidden_keys(Policy const& policy, int keys) {
    auto const bound = basin::bind(policy, basin::shape_facts{1, 1, 1, keys, keys, 4, 4});
    std::string result;
    for (int key = 0; key < keys; ++key)
        result += basin::facet::hides(bound, basin::head_site{0, 0, 0}, key) ? '.' : '#';
    return result;
}
} // namespace

TEST_CASE("keys that nobody sees are known, alone and composed") {
    basin::sink_masked const masked{{5, {0, 3}}};
    check_picture(basin::all_of(basin::causal{}, masked, basin::prefix{4}), {".....", ".#...", ".##..", ".##.."});
    CHECK(hidden_keys(basin::all_of(basin::causal{}, masked, basin::prefix{4}), 5) == ".##..");
    check_picture(basin::any_of(basin::prefix{1}, masked), {"###.#", "###.#"});
    CHECK(hidden_keys(basin::any_of(basin::prefix{1}, masked), 5) == "###.#");
    CHECK(hidden_keys(basin::any_of(basin::causal{}, masked), 5) == "#####");
    check_picture(basin::sink_token{{3}, masked}, {".####", ".####", ".####", "...#."});
    CHECK(hidden_keys(basin::sink_token{{3}, masked}, 5) == ".####");
    CHECK(hidden_keys(basin::any_mask(masked), 5) == ".##.#");
    CHECK(hidden_keys(basin::sink_masked{{5, {0, 3}}, basin::sink_masked::except_itself}, 5) == "#####");
    CHECK(hidden_keys(basin::none_of(basin::prefix{2}), 5) == "#####"); // says nothing
}

TEST_CASE("pictures of compositions") {
    check_picture(basin::any_of(basin::window{1, 0}, basin::prefix{1}), {"#...", "##..", "###.", "#.##"});
    check_picture(basin::all_of(basin::causal{}, basin::blocks{2}), {"#...", "##..", "..#.", "..##"});
    check_picture(basin::none_of(basin::causal{}), {".##", "..#", "..."});
    check_picture(basin::none_of(basin::causal{}, basin::prefix{2}), {"..#", "..#", "..."});
    check_picture(basin::all_of(basin::causal{}, basin::softcap{2.0}, basin::sink_logit{1.0}), {"#..", "##.", "###"});
    check_picture(basin::where(basin::causal{}, basin::softcap{2.0}), {"###", "###"}); // hides nothing
    check_tiles(basin::any_of(basin::causal{}, basin::prefix{2}), 2, {"#..", "#+.", "##+"});
    check_tiles(basin::all_of(basin::causal{}, basin::none_of(basin::prefix{2})), 2, {"...", ".+.", ".#+"});
    check_picture(basin::any_mask(basin::window{1, 0}), {"#..", "##.", ".##"});
    check_tiles(basin::any_mask(basin::causal{}), 2, {"+.", "#+"});
}
