// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#include <basin/basin.hpp>
#include <basin/testing/render.hpp>

#include <doctest/doctest.h>

#include <cstdio>
#include <fstream>
#include <string>

namespace {

using namespace basin;
using testing::render_options;
using testing::render_text;

TEST_CASE("a policy as text") {
    CHECK(render_text(causal{}, {.queries = 3, .keys = 4}) == "#...\n##..\n###.\n");
    CHECK(render_text(sink_token{1, window{0, 0}}, {.queries = 3, .keys = 3, .sinks = {1}}) == "#@.\n.@.\n.@#\n");
    CHECK(render_text(sink_logit{0}, {.queries = 1, .keys = 2}) == "$ ##\n");
    CHECK(render_text(alibi{1.0}, {.queries = 1, .keys = 4}) == "#+--\n");
    CHECK(render_text(all_of(causal{}, alibi{1.0}), {.queries = 2, .keys = 3}) == "#..\n+#.\n");
    CHECK(render_text(softcap{1}, {.queries = 1, .keys = 3, .score = [](site const& s) { return 2.0 * s.key; }}) ==
          "+##\n");
    CHECK(render_text(prefix{0}, {.queries = 2, .keys = 2}) == "..\n..\n");
    CHECK(render_text(full{}, {.queries = 1, .keys = 1, .legend = true}) ==
          "#\nrows: queries 0 to 0, columns: keys 0 to 0; # sees, . does not\n");
    auto const per_head = mask_if([](auto s) { return s.key == s.head + s.batch; });
    CHECK(render_text(per_head, {.queries = 1, .keys = 4, .batch = 1, .head = 2, .batches = 2, .heads = 3}) ==
          "...#\n");
    auto const legend =
        render_text(all_of(sink_logit{0}, alibi{1.0}), {.queries = 1, .keys = 2, .sinks = {0}, .legend = true});
    CHECK(legend.find("@ sees a sink, $ a sink that is no key; - + * # by weight") != std::string::npos);
}

TEST_CASE("a policy as SVG") {
    std::string const svg = testing::render_svg(causal{}, {.queries = 2, .keys = 2, .pixels = 10});
    CHECK(svg.rfind("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"21\" height=\"21\"", 0) == 0);
    CHECK(svg.find("<path fill=\"#2f5d8a\" d=\"M1 1h9v9H1zM1 11h9v9H1zM11 11h9v9H11z\"/>") !=
          std::string::npos);                                                             // seen
    CHECK(svg.find("<path fill=\"#eef0f3\" d=\"M11 1h9v9H11z\"/>") != std::string::npos); // hidden
    CHECK(svg.find("</svg>\n") == svg.size() - 7);
}

std::uint32_t number_at(testing::bytes const& file, std::size_t at) {
    return (std::uint32_t{file[at]} << 24U) | (std::uint32_t{file[at + 1]} << 16U) |
           (std::uint32_t{file[at + 2]} << 8U) | file[at + 3];
}

TEST_CASE("a policy as PNG: chunks, checksums and pixels") {
    CHECK(testing::inner::crc32(reinterpret_cast<std::uint8_t const*>("123456789"), 9) ==
          0xcbf43926U); // the standard's check value
    auto const file = testing::render_png(
        sink_token{0}, {.queries = 40, .keys = 50, .sinks = {0}, .pixels = 8}); // over one stored block
    CHECK(std::string(file.begin() + 1, file.begin() + 4) == "PNG");
    std::size_t at = 8;
    std::string order;
    testing::bytes stream;
    while (at < file.size()) {
        std::size_t const n = number_at(file, at);
        REQUIRE(at + 12 + n <= file.size());
        std::string const type(file.begin() + static_cast<std::ptrdiff_t>(at) + 4,
                               file.begin() + static_cast<std::ptrdiff_t>(at) + 8);
        CHECK(testing::inner::crc32(file.data() + at + 4, n + 4) == number_at(file, at + 8 + n));
        if (type == "IHDR") {
            CHECK(number_at(file, at + 8) == 401);
            CHECK(number_at(file, at + 12) == 321);
        }
        if (type == "IDAT")
            stream.assign(file.begin() + static_cast<std::ptrdiff_t>(at) + 8,
                          file.begin() + static_cast<std::ptrdiff_t>(at + 8 + n));
        order += type;
        at += 12 + n;
    }
    CHECK(order == "IHDRIDATIEND");

    CHECK((stream[0] * 256 + stream[1]) % 31 == 0); // a zlib header
    testing::bytes raw;
    bool last = false;
    for (at = 2; !last;) {
        last = stream[at] == 1;
        std::size_t const n = stream[at + 1] + std::size_t{256} * stream[at + 2];
        CHECK((n ^ 0xffffU) == stream[at + 3] + std::size_t{256} * stream[at + 4]);
        raw.insert(raw.end(), stream.begin() + static_cast<std::ptrdiff_t>(at) + 5,
                   stream.begin() + static_cast<std::ptrdiff_t>(at + 5 + n));
        at += 5 + n;
    }
    CHECK(raw.size() == 321 * (1 + 3 * 401));
    std::uint32_t a = 1, b = 0;
    for (std::uint8_t const x : raw) {
        a = (a + x) % 65521U;
        b = (b + a) % 65521U;
    }
    CHECK(number_at(stream, at) == ((b << 16U) | a));
    auto const red = [&](std::size_t x, std::size_t y) { return int{raw[y * (1 + 3 * 401) + 1 + 3 * x]}; };
    CHECK(red(0, 0) == 255);  // the grid
    CHECK(red(4, 4) == 217);  // the sink sees itself
    CHECK(red(12, 4) == 238); // and nobody else
    CHECK(red(12, 12) == 47); // others see each other
    CHECK(red(4, 12) == 217); // and the sink
    CHECK_FALSE(testing::save_png("/nonexistent-folder/x.png", full{}));
}

} // namespace
