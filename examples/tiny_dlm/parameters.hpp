// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include "config.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace tiny_dlm {

/// One tensor of the model inside the flat array of all parameters, row-major, as safetensors stores it.
struct tensor_info {
    std::string name;
    std::vector<int> shape;
    std::ptrdiff_t offset, size;
    bool decays; ///< matrices have weight decay, norms and embeddings of single things have not
};

/// Where the tensors of one layer begin in the flat array; -1: this model has none of that name.
struct layer_offsets {
    std::ptrdiff_t attention_norm, query, key, value, output, mlp_norm, up, down;
    std::ptrdiff_t mlp_gate = -1, output_gate = -1, sink_logit = -1, sink_key = -1;
};

/// All tensors of a model. Matrices are (outputs, inputs), as in PyTorch. query, key and value of a layer are neighbours,
/// and so are up and mlp_gate: each group is one matrix product.
struct parameter_layout {
    std::vector<tensor_info> tensors;
    std::vector<layer_offsets> layers;
    std::ptrdiff_t embedding, extra_tokens = -1, final_norm, head, total = 0;

    explicit parameter_layout(model_config const& c) {
        int const key_value_width = c.key_value_heads * c.channels();
        embedding = add("embedding", {c.vocabulary, c.width}, true);
        if (c.extra_tokens() > 0) extra_tokens = add("extra_tokens", {c.sinks.count, c.width}, false);
        for (int i = 0; i < c.layers; ++i) {
            std::string const p = "layers." + std::to_string(i) + ".";
            layer_offsets l{};
            l.attention_norm = add(p + "attention_norm", {c.width}, false);
            l.query = add(p + "query", {c.width, c.width}, true);
            l.key = add(p + "key", {key_value_width, c.width}, true);
            l.value = add(p + "value", {key_value_width, c.width}, true);
            l.output = add(p + "output", {c.width, c.width}, true);
            l.mlp_norm = add(p + "mlp_norm", {c.width}, false);
            l.up = add(p + "up", {c.hidden, c.width}, true);
            l.mlp_gate = c.gated ? add(p + "mlp_gate", {c.hidden, c.width}, true) : -1;
            l.down = add(p + "down", {c.width, c.hidden}, true);
            sink_kind const kind = c.sinks.kind;
            l.output_gate = kind == sink_kind::gate ? add(p + "output_gate", {c.width, c.width}, true) : -1;
            l.sink_logit = kind == sink_kind::logit ? add(p + "sink_logit", {c.heads}, false) : -1;
            l.sink_key = kind == sink_kind::zero_value
                             ? add(p + "sink_key", {c.key_value_heads, c.sinks.count, c.channels()}, false)
                             : -1;
            layers.push_back(l);
        }
        final_norm = add("final_norm", {c.width}, false);
        head = add("head", {c.vocabulary, c.width}, true);
    }

private:
    std::ptrdiff_t add(std::string name, std::vector<int> shape, bool decays) {
        std::ptrdiff_t size = 1;
        for (int const n : shape) size *= n;
        std::ptrdiff_t const offset = total;
        tensors.push_back({std::move(name), std::move(shape), offset, size, decays});
        total += size;
        return offset;
    }
};

} // namespace tiny_dlm
