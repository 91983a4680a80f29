// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#include "config.hpp"

#include <charconv>
#include <cstdio>
#include <stdexcept>

namespace tiny_dlm {
namespace {

constexpr char const* kinds[] = {"masked_diffusion", "block_diffusion", "autoregressive"};
constexpr char const* sinks[] = {"none", "token", "zero_value", "logit", "off_by_one", "registers", "gate"};
constexpr char const* places[] = {"front", "middle", "end"};

using text_map = std::map<std::string, std::string>;

std::string const& entry(text_map const& text, char const* key) {
    auto const found = text.find(key);
    if (found == text.end()) throw std::runtime_error(std::string("the model's configuration has no \"") + key + "\"");
    return found->second;
}

[[noreturn]] void bad_entry(char const* key, std::string const& value) {
    throw std::runtime_error(std::string("the model's configuration says \"") + key + "\": \"" + value +
                             "\", which is not understood");
}

template <class Number>
Number number(text_map const& text, char const* key) {
    std::string const& value = entry(text, key);
    Number result{};
    auto const [end, failure] = std::from_chars(value.data(), value.data() + value.size(), result);
    if (failure != std::errc{} || end != value.data() + value.size()) bad_entry(key, value);
    return result;
}

template <class Enum, std::size_t N>
Enum choice(text_map const& text, char const* key, char const* const (&names)[N]) {
    std::string const& value = entry(text, key);
    for (std::size_t i = 0; i < N; ++i) {
        if (value == names[i]) return static_cast<Enum>(i);
    }
    bad_entry(key, value);
}

} // namespace

char const* name_of(model_kind kind) { return kinds[static_cast<int>(kind)]; }
char const* name_of(sink_kind kind) { return sinks[static_cast<int>(kind)]; }
char const* name_of(sink_place place) { return places[static_cast<int>(place)]; }

std::map<std::string, std::string> to_text(model_config const& c) {
    char base[32];
    std::snprintf(base, sizeof base, "%.17g", c.rope_base);
    return {{"kind", name_of(c.kind)},
            {"layers", std::to_string(c.layers)},
            {"width", std::to_string(c.width)},
            {"heads", std::to_string(c.heads)},
            {"key_value_heads", std::to_string(c.key_value_heads)},
            {"hidden", std::to_string(c.hidden)},
            {"gated", c.gated ? "1" : "0"},
            {"vocabulary", std::to_string(c.vocabulary)},
            {"length", std::to_string(c.length)},
            {"mask_token", std::to_string(model_config::mask_token)},
            {"rope_base", base},
            {"block", std::to_string(c.block)},
            {"sinks", name_of(c.sinks.kind)},
            {"sink_count", std::to_string(c.sinks.count)},
            {"sink_place", name_of(c.sinks.place)}};
}

model_config config_from_text(std::map<std::string, std::string> const& text) {
    model_config c;
    c.kind = choice<model_kind>(text, "kind", kinds);
    c.layers = number<int>(text, "layers");
    c.width = number<int>(text, "width");
    c.heads = number<int>(text, "heads");
    c.key_value_heads = number<int>(text, "key_value_heads");
    c.hidden = number<int>(text, "hidden");
    c.gated = number<int>(text, "gated") != 0;
    c.vocabulary = number<int>(text, "vocabulary");
    c.length = number<int>(text, "length");
    if (int const mask = number<int>(text, "mask_token"); mask != model_config::mask_token)
        throw std::runtime_error("the model's configuration says \"mask_token\": \"" + std::to_string(mask) +
                                 "\", but [MASK] is token " + std::to_string(model_config::mask_token));
    c.rope_base = number<double>(text, "rope_base");
    c.block = number<int>(text, "block");
    c.sinks.kind = choice<sink_kind>(text, "sinks", sinks);
    c.sinks.count = number<int>(text, "sink_count");
    c.sinks.place = choice<sink_place>(text, "sink_place", places);
    check(c);
    return c;
}

void check(model_config const& c) {
    auto const need = [](bool holds, std::string const& sentence) {
        if (!holds) throw std::runtime_error("no such model: " + sentence);
    };
    auto const within = [&](char const* name, int value, int low, int high) {
        need(value >= low && value <= high, std::string(name) + " is " + std::to_string(value) + ", outside of " +
                                                std::to_string(low) + " ... " + std::to_string(high));
    };
    within("layers", c.layers, 1, 64);
    within("width", c.width, 2, 4096);
    within("heads", c.heads, 1, 256);
    within("key_value_heads", c.key_value_heads, 1, c.heads);
    within("hidden", c.hidden, 1, 65536);
    within("vocabulary", c.vocabulary, 2, 1 << 20);
    within("length", c.length, 2, 4096); // a file may say anything, and this has tables that no tensor of it pays for
    within("block", c.block, 1, 4096);
    within("sink_count", c.sinks.count, 1, 16);
    need(c.width % c.heads == 0, "the width is not a multiple of the heads");
    need(c.heads % c.key_value_heads == 0, "the heads are not a multiple of the key-value heads");
    need(c.channels() % 2 == 0, "a head has an odd number of channels, which rotary positions cannot turn");
    need(c.rope_base > 1, "rope_base must be above 1");
    need(c.kind != model_kind::block_diffusion || c.extra_tokens() == 0,
         "block diffusion learns on two copies of the text, which leaves no place for sink tokens or registers");
}

} // namespace tiny_dlm
