// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
// docs/pictures/: one SVG per policy, made by render. BASIN_UPDATE_PICTURES=1 in the environment writes them anew.
#include <basin/basin.hpp>
#include <basin/testing/render.hpp>

#include <doctest/doctest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

namespace {

using namespace basin;
using testing::render_options;

template <class P>
void picture(char const* name, P const& p, render_options o = {}) {
    std::string const here = __FILE__;
    std::string const path = here.substr(0, here.rfind("tests/testing/")) + "docs/pictures/" + name + ".svg";
    o.pixels = 12;
    std::string const now = testing::render_svg(p, o);
    if (std::getenv("BASIN_UPDATE_PICTURES") != nullptr) REQUIRE(testing::save_svg(path.c_str(), p, o));
    std::ifstream file(path, std::ios::binary);
    std::stringstream stored;
    stored << file.rdbuf();
    CHECK_MESSAGE(stored.str() == now,
                  path << " is not what render makes now; look at it, then set BASIN_UPDATE_PICTURES=1");
}

/// Scores that rise from the first to the last key, so that what a policy does to scores can be seen.
double ramp(site const& s) { return 0.5 * s.key; }

TEST_CASE("pictures of the docs are what render makes") {
    picture("full", full{});
    picture("causal", causal{});
    picture("window", window{.before = 3, .after = 2});
    picture("prefix", prefix{4});
    picture("blocks", blocks{4});
    picture("block_causal", block_causal{4});
    picture("block_diffusion", block_diffusion{3, 6});
    picture("key_bits", key_bits::of({{1, 1, 12, 12}}, [](site s) { return (s.query * 5 + s.key * 3) % 7 < 3; }));
    buffer<float, 2> table(12, 12);
    for (index_t i = 0; i < 12; ++i)
        for (index_t j = 0; j < 12; ++j) table(i, j) = -0.5F * static_cast<float>((i + 2 * j) % 5);
    picture("bias", bias{table});
    picture("alibi", alibi{0.5});
    picture("softcap", softcap{2}, {.score = ramp});
    picture("temperature", temperature{3}, {.score = ramp});
    picture("mask_if", mask_if([](auto s) { return (s.query ^ s.key) % 2 == 0; }));
    picture("score_with", score_with([](auto x, auto s) { return s.key % 3 == 0 ? x : x - 1; }));
    picture("any_mask", any_mask(any_of(window{1, 1}, prefix{2})));
    picture("sink_masked", sink_masked{key_set(12, {3, 8})}, {.sinks = {3, 8}});
    picture("sink_masked_except_itself", sink_masked{key_set(12, {3, 8}), sink_masked::except_itself},
            {.sinks = {3, 8}});
    picture("sink_token", sink_token{0}, {.sinks = {0}});
    picture("sink_token_window", sink_token{{0, 7}, window{2, 2}}, {.sinks = {0, 7}});
    picture("sink_logit", sink_logit{0});
    buffer<float, 2> key(1, 1), value(1, 1);
    picture("kv_sink", kv_sink{key, value});
    picture("window_or_prefix", any_of(window{2, 2}, prefix{2}), {.sinks = {0, 1}});
}

} // namespace
