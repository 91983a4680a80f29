// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include "attend.hpp"
#include "layers.hpp"
#include "model.hpp"

namespace tiny_dlm {

/// A group of texts on its way through the model and back, on one thread. Keeps its memory for the next group.
template <class T>
class pass {
public:
    /// Logits (wanted row, vocabulary).
    matrix<T>& forward(model_config const& config, parameter_layout const& where, rotary<T> const& turns,
                       T const* parameters, sheet const& texts, observer<T> const& watch = {}, int first_text = 0) {
        config_ = &config, where_ = &where, turns_ = &turns, parameters_ = parameters, sheet_ = &texts;
        layers_.resize(static_cast<std::size_t>(config.layers) + 1);
        embed();
        for (int i = 0; i < config.layers; ++i) layer_forward(i, watch, first_text);
        matrix<T> const& last = layers_.back().x;
        top_.resize(static_cast<Eigen::Index>(texts.wanted.size()), config.width);
        for (std::size_t i = 0; i < texts.wanted.size(); ++i) top_.row(index(i)) = last.row(texts.wanted[i]);
        rms_norm(top_, vector(where.final_norm), top_normed_, top_inverse_);
        linear(top_normed_, fixed(where.head, config.vocabulary, config.width), logits_);
        return logits_;
    }

    /// The loss of the forward pass just made; with `gradients` (a flat array like the parameters) overwrites them.
    double loss(T* gradients) {
        double const total = cross_entropy(logits_, sheet_->target, sheet_->weight, gradients != nullptr);
        if (gradients == nullptr) return total;
        gradients_ = gradients;
        linear_backward(top_normed_, fixed(where_->head, config_->vocabulary, config_->width), logits_, d_normed_,
                        gradient(where_->head, config_->vocabulary, config_->width));
        d_top_.setZero(top_.rows(), top_.cols());
        rms_norm_backward(top_, vector(where_->final_norm), top_inverse_, d_normed_, d_top_,
                          gradient(where_->final_norm));
        d_x_.setZero(layers_.back().x.rows(), config_->width);
        for (std::size_t i = 0; i < sheet_->wanted.size(); ++i) d_x_.row(sheet_->wanted[i]) = d_top_.row(index(i));
        for (int i = config_->layers; i-- > 0;) layer_backward(i);
        std::fill(gradients_ + where_->embedding, gradients_ + where_->layers.front().attention_norm, T(0));
        for (std::size_t i = 0; i < sheet_->token.size(); ++i)
            embedding_gradient(sheet_->token[i]) += d_x_.row(index(i));
        return total;
    }

private:
    /// What the backward pass needs of a layer.
    struct kept {
        matrix<T> x, normed, qkv, mixed, gate, opened, middle, middle_normed, up, active;
        std::vector<T> inverse, middle_inverse;
        basin::buffer<T, 3> lse;
    };

    attention_call<T> call_of(kept& a, layer_offsets const& w) const {
        return {*config_, *sheet_, w, parameters_, a.x.data(), a.qkv.data(), a.mixed.data(), a.lse};
    }
    static Eigen::Index index(std::size_t i) { return static_cast<Eigen::Index>(i); }
    fixed_weights<T> fixed(std::ptrdiff_t offset, int rows, int columns) const {
        return {parameters_ + offset, rows, columns};
    }
    fixed_weights<T> vector(std::ptrdiff_t offset) const { return fixed(offset, 1, config_->width); }
    weights<T> gradient(std::ptrdiff_t offset, int rows, int columns) const {
        return {gradients_ + offset, rows, columns};
    }
    weights<T> gradient(std::ptrdiff_t offset) const { return gradient(offset, 1, config_->width); }
    int up_width() const { return config_->hidden * (config_->gated ? 2 : 1); }
    int qkv_width() const { return (config_->heads + 2 * config_->key_value_heads) * config_->channels(); }
    int turned_width() const { return (config_->heads + config_->key_value_heads) * config_->channels(); }

    std::ptrdiff_t token_offset(int token) const {
        int const extra = token - config_->vocabulary;
        return extra >= 0 ? where_->extra_tokens + std::ptrdiff_t{extra} * config_->width
                          : where_->embedding + std::ptrdiff_t{token} * config_->width;
    }
    auto embedding_gradient(int token) { return gradient(token_offset(token)).row(0); }
    void embed() {
        matrix<T>& x = layers_.front().x;
        x.resize(index(sheet_->token.size()), config_->width);
        for (std::size_t i = 0; i < sheet_->token.size(); ++i)
            x.row(index(i)) = vector(token_offset(sheet_->token[i])).row(0);
    }

    void layer_forward(int i, observer<T> const& watch, int first_text) {
        kept& a = layers_[static_cast<std::size_t>(i)];
        layer_offsets const& w = where_->layers[static_cast<std::size_t>(i)];
        int const width = config_->width;
        rms_norm(a.x, vector(w.attention_norm), a.normed, a.inverse);
        linear(a.normed, fixed(w.query, qkv_width(), width), a.qkv);
        turns_->turn(a.qkv, turned_width(), sheet_->position, false);
        a.mixed.resize(a.x.rows(), width);
        attention_.forward(call_of(a, w), watch, i, first_text);
        if (w.output_gate >= 0) {
            linear(a.normed, fixed(w.output_gate, width, width), a.gate);
            a.gate = (T(1) / (T(1) + (-a.gate.array()).exp())).matrix();
            a.opened = a.mixed.cwiseProduct(a.gate);
        }
        a.middle = a.x;
        a.middle.noalias() += opened(a, w) * fixed(w.output, width, width).transpose();

        rms_norm(a.middle, vector(w.mlp_norm), a.middle_normed, a.middle_inverse);
        linear(a.middle_normed, fixed(w.up, up_width(), width), a.up);
        if (config_->gated)
            gated(a.up, a.active);
        else
            squared_relu(a.up, a.active);
        matrix<T>& next = layers_[static_cast<std::size_t>(i) + 1].x;
        next = a.middle;
        next.noalias() += a.active * fixed(w.down, width, config_->hidden).transpose();
    }
    matrix<T> const& opened(kept const& a, layer_offsets const& w) const {
        return w.output_gate >= 0 ? a.opened : a.mixed;
    }

    /// d_x_ is the gradient by the layer's output before, by its input after.
    void layer_backward(int i) {
        kept& a = layers_[static_cast<std::size_t>(i)];
        layer_offsets const& w = where_->layers[static_cast<std::size_t>(i)];
        int const width = config_->width;
        linear_backward(a.active, fixed(w.down, width, config_->hidden), d_x_, d_active_,
                        gradient(w.down, width, config_->hidden));
        if (config_->gated)
            gated_backward(a.up, d_active_, d_up_);
        else
            squared_relu_backward(a.up, d_active_, d_up_);
        linear_backward(a.middle_normed, fixed(w.up, up_width(), width), d_up_, d_normed_,
                        gradient(w.up, up_width(), width));
        rms_norm_backward(a.middle, vector(w.mlp_norm), a.middle_inverse, d_normed_, d_x_, gradient(w.mlp_norm));

        linear_backward(opened(a, w), fixed(w.output, width, width), d_x_, d_mixed_, gradient(w.output, width, width));
        if (w.output_gate >= 0) {
            d_gate_ = (d_mixed_.array() * a.opened.array() * (T(1) - a.gate.array())).matrix();
            d_mixed_ = d_mixed_.cwiseProduct(a.gate);
        }
        d_qkv_.resize(a.qkv.rows(), a.qkv.cols());
        attention_.backward(call_of(a, w), d_mixed_.data(), d_qkv_.data(), gradients_);
        turns_->turn(d_qkv_, turned_width(), sheet_->position, true);
        linear_backward(a.normed, fixed(w.query, qkv_width(), width), d_qkv_, d_normed_,
                        gradient(w.query, qkv_width(), width));
        if (w.output_gate >= 0) {
            gradient(w.output_gate, width, width).noalias() = d_gate_.transpose() * a.normed;
            d_normed_.noalias() += d_gate_ * fixed(w.output_gate, width, width);
        }
        rms_norm_backward(a.x, vector(w.attention_norm), a.inverse, d_normed_, d_x_, gradient(w.attention_norm));
    }

    model_config const* config_ = nullptr;
    parameter_layout const* where_ = nullptr;
    rotary<T> const* turns_ = nullptr;
    T const* parameters_ = nullptr;
    T* gradients_ = nullptr;
    sheet const* sheet_ = nullptr;
    std::vector<kept> layers_; // one more than there are: the last one's x is the output
    attention_layer<T> attention_;
    matrix<T> top_, top_normed_, logits_;
    std::vector<T> top_inverse_;
    matrix<T> d_top_, d_x_, d_normed_, d_active_, d_up_, d_mixed_, d_gate_, d_qkv_;
};

} // namespace tiny_dlm
