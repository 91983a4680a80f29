// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#include "plan.hpp"

#include <filesystem>

namespace reproduce {
namespace {

using namespace tiny_dlm;

/// What is trained: a corpus, a shape and how it learns. The larger ones are those of the committed checkpoints;
/// characters have the shape of words.
struct cell {
    char const *corpus, *size;
    int layers, width, heads, hidden, length, steps,
        batch; ///< steps: 1 or 2 times those that are asked for, or so many
    double rate, rope_base;
};
constexpr cell cells[] = {
    {"tasks", "small", 2, 48, 3, 144, 64, 1, 32, 5e-3, 100},
    {"tasks", "large", 4, 64, 4, 192, 64, 800, 32, 5e-3, 100},
    {"words", "small", 3, 64, 4, 192, 64, 2, 16, 3e-3, 10000},
    {"words", "large", 5, 96, 4, 288, 128, 1500, 8, 3e-3, 10000},
    {"characters", "small", 3, 64, 4, 192, 64, 2, 16, 3e-3, 10000},
    {"characters", "large", 5, 96, 4, 288, 128, 1500, 8, 3e-3, 10000},
};
constexpr int word_count = 1000;

cell const& find_cell(std::string const& corpus, std::string const& size) {
    for (cell const& c : cells) {
        if (c.corpus == corpus && c.size == size) return c;
    }
    throw std::logic_error("nothing is planned for " + corpus + ", " + size);
}

run make(settings const& s, char const* corpus, char const* size, std::string const& variant, int seed) {
    cell const& how = find_cell(corpus, size);
    run r{corpus, size, variant, static_cast<std::uint64_t>(seed), {}, {}};
    model_config& m = r.how.model;
    m.layers = how.layers;
    m.width = how.width;
    m.heads = m.key_value_heads = how.heads;
    m.hidden = how.hidden;
    m.length = how.length;
    m.rope_base = how.rope_base;
    m.vocabulary = texts_of(corpus, how.length, s).words().size();
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
    r.how.plan.steps = how.steps <= 2 ? how.steps * s.steps : how.steps;
    r.how.plan.rate = how.rate;
    r.how.batch = how.batch;
    r.how.seed = static_cast<std::uint64_t>(seed);
    return r;
}

} // namespace

corpus const& texts_of(std::string const& name, index_t length, settings const& s) {
    static std::map<std::pair<std::string, index_t>, corpus> known;
    std::pair const key{name, length};
    if (auto const found = known.find(key); found != known.end()) return found->second;
    if (name == "tasks") return known.emplace(key, corpus::synthetic(length)).first->second;
    std::string const text = read_text(s.text);
    auto const words =
        tokenizer::from_text(text, name == "words" ? tokenizer::unit::words : tokenizer::unit::characters, word_count);
    return known.emplace(key, corpus::from_text(text, words, length)).first->second;
}

std::vector<variant_name> const& sink_variants() {
    static std::vector<variant_name> const list = {
        {"token", "one token in front", "sink_token"},
        {"token_middle", "one token in the middle", "sink_token_middle"},
        {"token_end", "one token at the end", "sink_token_end"},
        {"token_2", "two tokens in front", "sink_token_2"},
        {"token_4", "four tokens in front", "sink_token_4"},
        {"zero_value", "key without a value", "zero_value"},
        {"logit", "logit per head", "sink_logit"},
        {"off_by_one", "softmax-off-by-one", "off_by_one"},
        {"registers", "register", "registers"},
        {"gate", "gated attention", "gate"},
    };
    return list;
}

std::vector<run> plan(settings const& s) {
    std::vector<run> list;
    bool const english = !s.text.empty();
    static constexpr variant_name bases[] = {{"dlm", "masked diffusion", "masked_diffusion"},
                                             {"arm", "autoregressive", "autoregressive"},
                                             {"token", "one token in front", "sink_token"},
                                             {"block", "block diffusion", "block_diffusion"}};
    for (int seed = 1; seed <= s.seeds; ++seed)
        for (variant_name const& v : bases) {
            list.push_back(make(s, "tasks", "small", v.name, seed));
            if (english) list.push_back(make(s, "words", "small", v.name, seed));
        }
    auto const add_variants = [&](char const* corpus) {
        for (int seed = 1; seed <= s.variant_seeds; ++seed)
            for (variant_name const& v : sink_variants()) {
                if (std::string_view(v.name) != "token" || seed > s.seeds)
                    list.push_back(make(s, corpus, "small", v.name, seed));
            }
    };
    auto const add_more = [&](char const* corpus, char const* size, std::string const& committed) {
        for (int seed = 1; seed <= s.more_seeds; ++seed)
            for (variant_name const& v : bases) {
                list.push_back(make(s, corpus, size, v.name, seed));
                std::string const path = s.weights + "/" + committed + v.checkpoint + ".safetensors";
                if (seed == 1 && !committed.empty() && std::filesystem::exists(path)) list.back().checkpoint = path;
            }
    };
    add_variants("tasks");
    add_more("tasks", "large", "tasks_");
    if (!english) return list;
    add_more("characters", "small", "");
    add_variants("words");
    add_more("words", "large", "english_");
    add_more("characters", "large", "");
    return list;
}

} // namespace reproduce
