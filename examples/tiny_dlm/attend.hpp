// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include "model.hpp"
#include "reach.hpp"
#include "sheet.hpp"

#include <basin/core/view.hpp>

namespace tiny_dlm {
namespace detail {

/// Memory of this shape, kept if it has it already.
template <class U, std::size_t Rank, class... N>
void fit(basin::buffer<U, Rank>& array, N... extents) {
    basin::tuple_of<basin::index_t, Rank> const wanted{{extents...}};
    if (!(array.extents() == wanted)) array = basin::buffer<U, Rank>(wanted);
}

} // namespace detail

/// What the attention of one layer reads and writes: matrices with one row per token, and the layer's parameters.
template <class T>
struct attention_call {
    model_config const& config;
    sheet const& texts;
    layer_offsets const& where;
    T const* parameters;
    T const* x; ///< the layer's input
    T* qkv;     ///< [q, k, v] of a token in a row
    T* mixed;   ///< what attention gives
    basin::buffer<T, 3>& lse;

    /// (text, head, row, channel) of some heads inside a matrix with `stride` columns.
    template <class U>
    basin::view<U, 4> heads_of(U* first, int heads, int stride) const {
        return {first,
                {{texts.texts, heads, texts.rows, config.channels()}},
                {{std::ptrdiff_t{texts.rows} * stride, config.channels(), stride, 1}}};
    }
    template <class U>
    basin::view<U, 4> output(U* matrix) const {
        return heads_of(matrix, config.heads, config.width);
    }
    /// q, k and v inside the matrix that one product made.
    template <class U>
    struct three {
        basin::view<U, 4> q, k, v;
    };
    template <class U>
    three<U> parts(U* matrix) const {
        int const key_value_width = config.key_value_heads * config.channels();
        int const stride = config.width + 2 * key_value_width;
        return {heads_of(matrix, config.heads, stride), heads_of(matrix + config.width, config.key_value_heads, stride),
                heads_of(matrix + config.width + key_value_width, config.key_value_heads, stride)};
    }
    basin::view<T const, 3> sink_keys() const {
        return {parameters + where.sink_key, {{config.key_value_heads, config.sinks.count, config.channels()}}};
    }
    std::vector<T> sink_logits() const {
        std::vector<T> logits(static_cast<std::size_t>(config.heads), T(0)); // off by one: a column with logit 0
        if (where.sink_logit >= 0)
            logits.assign(parameters + where.sink_logit, parameters + where.sink_logit + config.heads);
        return logits;
    }
    bool has_sink_logit() const {
        return config.sinks.kind == sink_kind::logit || config.sinks.kind == sink_kind::off_by_one;
    }
    bool has_sink_keys() const { return config.sinks.kind == sink_kind::zero_value; }
};

/// The attention of a layer: basin's, with the model's policy. Keeps its memory from layer to layer. Its members are in
/// attend_forward.hpp and attend_backward.hpp, and compiled for float in the .cpp files of these names.
template <class T>
class attention_layer {
public:
    /// From qkv to mixed and lse; with an observer statistics are made in the same pass.
    void forward(attention_call<T> const& call, observer<T> const& watch, int layer, int first_text);
    /// From d_mixed to d_qkv; what the sinks learn is written to `gradients`.
    void backward(attention_call<T> const& call, T const* d_mixed, T* d_qkv, T* gradients);

private:
    /// Escapes: the policy has sinks in the denominator.
    template <bool Escapes, class Policy>
    void observed(attention_call<T> const& call, Policy const& policy, observer<T> const& watch, int layer,
                  int first_text);
    void report(attention_call<T> const& call, basin::key_set const& hidden, observer<T> const& watch, int layer,
                int first_text);
    void count_seen(attention_call<T> const& call, basin::key_set const& hidden, bool sees_itself);

    basin::buffer<T, 3> received_, seen_, entropy_, escaped_, value_norm_;
    basin::buffer<T, 4> received_by_;
    basin::buffer<basin::index_t, 2> kinds_;
    std::vector<T> seen_by_mask_, unused_;
};

} // namespace tiny_dlm
