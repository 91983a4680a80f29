// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#include "plan.hpp"

#include <filesystem>

namespace reproduce {
namespace {

using namespace tiny_dlm;

struct shape {
    char const* name;
    int layers, width, heads, hidden;
};
constexpr shape small_shape{"small", 2, 48, 3, 144}, large_shape{"large", 4, 64, 4, 192};

run make(settings const& s, shape const& how, std::string const& variant, std::uint64_t seed) {
    run r{"tasks", how.name, variant, seed, {}, {}};
    model_config& m = r.how.model;
    m.layers = how.layers;
    m.width = how.width;
    m.heads = m.key_value_heads = how.heads;
    m.hidden = how.hidden;
    m.vocabulary = corpus::synthetic(m.length).words().size();
    m.kind = variant == "arm"     ? model_kind::autoregressive
             : variant == "block" ? model_kind::block_diffusion
                                  : model_kind::masked_diffusion;
    static std::map<std::string, sink_config> const sinks = {
        {"token", {sink_kind::token, 1, sink_place::front}},
        {"token_middle", {sink_kind::token, 1, sink_place::middle}},
        {"token_end", {sink_kind::token, 1, sink_place::end}},
        {"token_2", {sink_kind::token, 2, sink_place::front}},
        {"token_4", {sink_kind::token, 4, sink_place::front}},
        {"zero_value", {sink_kind::zero_value, 1, {}}},
        {"logit", {sink_kind::logit, 1, {}}},
        {"off_by_one", {sink_kind::off_by_one, 1, {}}},
        {"registers", {sink_kind::registers, 1, {}}},
        {"gate", {sink_kind::gate, 1, {}}},
    };
    if (auto const found = sinks.find(variant); found != sinks.end()) m.sinks = found->second;
    r.how.plan.steps = s.steps;
    r.how.seed = seed;
    return r;
}

} // namespace

std::vector<variant_name> const& sink_variants() {
    static std::vector<variant_name> const list = {
        {"token", "one token in front"},
        {"token_middle", "one token in the middle"},
        {"token_end", "one token at the end"},
        {"token_2", "two tokens in front"},
        {"token_4", "four tokens in front"},
        {"zero_value", "key without a value"},
        {"logit", "logit per head"},
        {"off_by_one", "softmax-off-by-one"},
        {"registers", "register"},
        {"gate", "gated attention"},
    };
    return list;
}

std::vector<run> plan(settings const& s) {
    std::vector<run> list;
    auto const add = [&](shape const& how, char const* variant, int seed) {
        list.push_back(make(s, how, variant, static_cast<std::uint64_t>(seed)));
    };
    for (int seed = 1; seed <= s.seeds; ++seed)
        for (char const* const variant : {"dlm", "arm", "token", "block"}) add(small_shape, variant, seed);
    for (int seed = 1; seed <= s.variant_seeds; ++seed)
        for (variant_name const& v : sink_variants()) {
            if (std::string_view(v.name) != "token" || seed > s.seeds) add(small_shape, v.name, seed);
        }
    for (int seed = 1; seed <= s.large_seeds; ++seed)
        for (char const* const variant : {"dlm", "arm", "token"}) add(large_shape, variant, seed);
    if (s.text.empty()) return list;
    static constexpr variant_name files[] = {
        {"dlm", "english_masked_diffusion"}, {"arm", "english_autoregressive"}, {"token", "english_sink_token"}};
    for (variant_name const& f : files) {
        std::string const path = s.weights + "/" + f.words + ".safetensors";
        if (std::filesystem::exists(path)) list.push_back({"words", "committed", f.name, 1, {}, path});
    }
    return list;
}

} // namespace reproduce
