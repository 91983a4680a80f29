// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include "tiny_dlm/model.hpp"

#include <limits>
#include <string>
#include <vector>

namespace tiny_dlm_test {

using tiny_dlm::model_config;
using tiny_dlm::model_kind;
using tiny_dlm::sink_kind;
using tiny_dlm::sink_place;

/// The larger of two distances; NaN, which std::max would leave out, is the largest.
inline double farther(double far, double x) {
    if (x <= far) return far;
    return x == x ? x : std::numeric_limits<double>::infinity();
}

/// A model small enough to look at every parameter.
inline model_config small_model() {
    model_config c;
    c.layers = 2;
    c.width = 8;
    c.heads = c.key_value_heads = 2;
    c.hidden = 12;
    c.vocabulary = 11;
    c.length = 8;
    c.block = 4;
    return c;
}

struct variant {
    std::string name;
    model_config config;
};

inline std::vector<variant> variants() {
    std::vector<variant> list;
    auto const add = [&](char const* name, auto const& change) {
        model_config c = small_model();
        change(c);
        list.push_back({name, c});
    };
    auto const sinks = [&](char const* name, sink_kind kind, int count = 1, sink_place place = sink_place::front) {
        add(name, [&](model_config& c) { c.sinks = {kind, count, place}; });
    };
    add("masked diffusion", [](model_config&) {});
    add("block diffusion", [](model_config& c) { c.kind = model_kind::block_diffusion; });
    add("autoregressive", [](model_config& c) { c.kind = model_kind::autoregressive; });
    add("autoregressive with a sink token", [](model_config& c) {
        c.kind = model_kind::autoregressive;
        c.sinks.kind = sink_kind::token;
    });
    add("block diffusion with a sink logit", [](model_config& c) {
        c.kind = model_kind::block_diffusion;
        c.sinks.kind = sink_kind::logit;
    });
    sinks("sink token", sink_kind::token);
    sinks("two sink tokens in the middle", sink_kind::token, 2, sink_place::middle);
    sinks("four sink tokens at the end", sink_kind::token, 4, sink_place::end);
    sinks("zero-value sinks", sink_kind::zero_value, 2);
    sinks("sink logit", sink_kind::logit);
    sinks("off by one", sink_kind::off_by_one);
    sinks("registers", sink_kind::registers, 2, sink_place::end);
    sinks("gate", sink_kind::gate);
    add("gated MLP, grouped heads", [](model_config& c) {
        c.gated = true;
        c.key_value_heads = 1;
    });
    add("zero-value sinks, grouped heads", [](model_config& c) {
        c.key_value_heads = 1;
        c.sinks.kind = sink_kind::zero_value;
    });
    return list;
}

/// Texts to learn from, with weights of different size and some rows that are not learned.
inline tiny_dlm::batch some_texts(model_config const& c, int texts) {
    tiny_dlm::batch b;
    b.texts = texts;
    b.length = c.length;
    for (int i = 0; i < texts * c.length; ++i) {
        b.target.push_back(1 + i * 7 % (c.vocabulary - 1));
        bool const hidden = i % 3 != 0;
        b.input.push_back(hidden && c.kind != model_kind::autoregressive ? model_config::mask_token : b.target.back());
        b.weight.push_back(hidden ? 0.1F + 0.02F * static_cast<float>(i % 5) : 0.0F);
    }
    return b;
}

} // namespace tiny_dlm_test
