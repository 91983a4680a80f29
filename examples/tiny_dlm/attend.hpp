// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include "layers.hpp"
#include "model.hpp"
#include "reach.hpp"
#include "sheet.hpp"

#include <basin/attention_backward.hpp>
#include <basin/backend/simd.hpp>
#include <basin/basin.hpp>

namespace tiny_dlm {

/// The attention of a layer: basin's, with the model's policy. Keeps its memory from layer to layer.
template <class T>
class attention_layer {
public:
    /// From a.qkv (row, [q, k, v]) to a.mixed and a.lse; with an observer statistics are made in the same pass.
    template <class Kept>
    void forward(model_config const& c, sheet const& s, layer_offsets const& w, T const* parameters, Kept& a,
                 observer<T> const& watch, int layer, int first_text) {
        views<T> const x(c, s, a.qkv.data());
        auto const out = heads_of(c, s, a.mixed.data(), c.heads, c.width);
        fit(a.lse, s.texts, c.heads, s.rows);
        with_sinks(c, w, parameters, [&](auto const&... sinks) {
            auto const policy = basin::all_of(mask_of(c, s.has_copy), sinks...);
            if (!watch.look && watch.hide.empty()) {
                basin::attention(backend_, x.q, x.k, x.v, out, policy, basin::lse{a.lse});
            } else {
                observed(c, s, x, out, policy, a, watch, layer, first_text);
            }
        });
    }

    /// From d_mixed to d_qkv; what the sinks learn is added to `gradients`.
    template <class Kept>
    void backward(model_config const& c, sheet const& s, layer_offsets const& w, T const* parameters, Kept const& a,
                  matrix<T> const& d_mixed, matrix<T>& d_qkv, T* gradients) {
        views<T const> const x(c, s, a.qkv.data());
        views<T> const d(c, s, d_qkv.data());
        auto const out = heads_of(c, s, a.mixed.data(), c.heads, c.width);
        auto const d_out = heads_of(c, s, d_mixed.data(), c.heads, c.width);
        with_learned_sinks(c, w, parameters, gradients, [&](auto const&... sinks) {
            basin::attention_backward(backend_, basin::saved{x.q, x.k, x.v, out, a.lse}, basin::upstream{d_out},
                                      basin::gradients{d.q, d.k, d.v}, basin::all_of(mask_of(c, s.has_copy), sinks...));
        });
    }

private:
    /// (text, head, row, channel) of some heads inside a matrix with `stride` columns.
    template <class U>
    static basin::view<U, 4> heads_of(model_config const& c, sheet const& s, U* first, int heads, int stride) {
        return {first,
                {{s.texts, heads, s.rows, c.channels()}},
                {{std::ptrdiff_t{s.rows} * stride, c.channels(), stride, 1}}};
    }
    /// q, k and v inside the matrix that one product made.
    template <class U>
    struct views {
        basin::view<U, 4> q, k, v;
        views(model_config const& c, sheet const& s, U* qkv) {
            int const stride = (c.heads + 2 * c.key_value_heads) * c.channels();
            q = heads_of(c, s, qkv, c.heads, stride);
            k = heads_of(c, s, qkv + c.width, c.key_value_heads, stride);
            v = heads_of(c, s, qkv + c.width + c.key_value_heads * c.channels(), c.key_value_heads, stride);
        }
    };
    static auto sink_keys(model_config const& c, T const* first) {
        return basin::view<T const, 3>{first, {{c.key_value_heads, c.sinks.count, c.channels()}}};
    }
    std::vector<T> sink_logits(model_config const& c, layer_offsets const& w, T const* parameters) const {
        std::vector<T> logits(static_cast<std::size_t>(c.heads), T(0)); // off by one: a column with logit 0
        if (w.sink_logit >= 0) logits.assign(parameters + w.sink_logit, parameters + w.sink_logit + c.heads);
        return logits;
    }

    /// Calls f with the model's sinks in the denominator, or with nothing.
    template <class F>
    void with_sinks(model_config const& c, layer_offsets const& w, T const* parameters, F const& f) const {
        if (c.sinks.kind == sink_kind::logit || c.sinks.kind == sink_kind::off_by_one) {
            f(basin::sink_logit(sink_logits(c, w, parameters)));
        } else if (c.sinks.kind == sink_kind::zero_value) {
            auto const keys = sink_keys(c, parameters + w.sink_key);
            f(basin::kv_sink{keys});
        } else {
            f();
        }
    }
    /// The same with the place that their gradients go to.
    template <class F>
    void with_learned_sinks(model_config const& c, layer_offsets const& w, T const* parameters, T* gradients,
                            F const& f) {
        if (c.sinks.kind == sink_kind::logit || c.sinks.kind == sink_kind::off_by_one) {
            unused_.assign(static_cast<std::size_t>(c.heads), T(0)); // the logit of off by one stays where it is
            basin::view<T, 1> const d_logits{w.sink_logit >= 0 ? gradients + w.sink_logit : unused_.data(),
                                             {{c.heads}}};
            f(basin::learned{basin::sink_logit(sink_logits(c, w, parameters)), d_logits});
        } else if (c.sinks.kind == sink_kind::zero_value) {
            auto const keys = sink_keys(c, parameters + w.sink_key);
            basin::view<T, 3> const d_keys{gradients + w.sink_key, keys.extents()};
            f(basin::learned{basin::kv_sink{keys}, d_keys});
        } else {
            f();
        }
    }

    template <class Policy, class Kept, class Out>
    void observed(model_config const& c, sheet const& s, views<T> const& x, Out const& out, Policy const& policy,
                  Kept& a, observer<T> const& watch, int layer, int first_text) {
        fit(received_, s.texts, c.heads, s.rows);
        fit(seen_, s.texts, c.heads, s.rows);
        fit(entropy_, s.texts, c.heads, s.rows);
        fit(escaped_, s.texts, c.heads, s.rows);
        fit(value_norm_, s.texts, c.key_value_heads, s.rows);
        fit(kinds_, s.texts, s.rows);
        fit(received_by_, s.texts, c.heads, 2, s.rows);
        for (std::size_t i = 0; i < s.token.size(); ++i) kinds_.data()[i] = s.token[i] == c.mask_token ? 1 : 0;
        basin::key_set const hidden = hidden_here(c, s, watch, layer, first_text);
        auto const who = watch.sees_itself ? basin::sink_masked::seen_by::itself : basin::sink_masked::seen_by::nobody;
        basin::attention(backend_, x.q, x.k, x.v, out, basin::all_of(policy, basin::sink_masked{hidden, who}),
                         basin::lse{a.lse}, basin::entropy{entropy_}, basin::escaped{escaped_},
                         basin::received{received_by_, basin::by_group(kinds_, 2)});
        if (!watch.look) return;
        count_seen(c, s, hidden, watch.sees_itself);
        for (int t = 0; t < s.texts; ++t) {
            for (int h = 0; h < c.heads; ++h) {
                for (int key = 0; key < s.rows; ++key)
                    received_(t, h, key) = received_by_(t, h, 0, key) + received_by_(t, h, 1, key);
            }
            for (int h = 0; h < c.key_value_heads; ++h) {
                for (int key = 0; key < s.rows; ++key) {
                    Eigen::Map<row_vector<T> const> const value(&x.v(t, h, key, 0), c.channels());
                    value_norm_(t, h, key) = value.norm();
                }
            }
        }
        basin::view<T const, 3> const hidden_states{a.x.data(), {{s.texts, s.rows, c.width}}};
        watch.look({layer, first_text, x.q, x.k, x.v, out, received_, seen_, received_by_, entropy_, a.lse, escaped_,
                    value_norm_, hidden_states});
    }

    /// The part of the caller's key_set that is about these texts.
    static basin::key_set hidden_here(model_config const& c, sheet const& s, observer<T> const& watch, int layer,
                                      int first_text) {
        if (watch.hide.empty()) return basin::key_set(1, 1, s.rows);
        basin::key_set const& all = watch.hide.at(static_cast<std::size_t>(layer));
        basin::key_set here(s.texts, c.heads, s.rows);
        for (int t = 0; t < s.texts; ++t) {
            for (int h = 0; h < c.heads; ++h) {
                for (int key = 0; key < s.rows && key < all.keys(); ++key) {
                    if (all.contains(all.batch() == 1 ? 0 : first_text + t, all.heads() == 1 ? 0 : h, key))
                        here.insert(t, h, key);
                }
            }
        }
        return here;
    }
    /// How many queries see each key: the mask is the same for all texts and heads but for the keys that are hidden.
    void count_seen(model_config const& c, sheet const& s, basin::key_set const& hidden, bool sees_itself) {
        if (static_cast<int>(seen_by_mask_.size()) != s.rows) {
            seen_by_mask_.assign(static_cast<std::size_t>(s.rows), T(0));
            auto const mask = mask_of(c, s.has_copy);
            for (int query = 0; query < s.rows; ++query) {
                for (int key = 0; key < s.rows; ++key)
                    seen_by_mask_[static_cast<std::size_t>(key)] += T(mask.visible(basin::site{0, 0, query, key}));
            }
        }
        bool const any = hidden.count() != 0;
        for (int t = 0; t < s.texts; ++t) {
            for (int h = 0; h < c.heads; ++h) {
                for (int key = 0; key < s.rows; ++key) {
                    bool const gone = any && hidden.contains(t, h, key);
                    seen_(t, h, key) = gone ? T(sees_itself) : seen_by_mask_[static_cast<std::size_t>(key)];
                }
            }
        }
    }

    template <class U, std::size_t Rank, class... N>
    static void fit(basin::buffer<U, Rank>& array, N... extents) {
        basin::tuple_of<basin::index_t, Rank> const wanted{{extents...}};
        if (!(array.extents() == wanted)) array = basin::buffer<U, Rank>(wanted);
    }

    basin::simd_backend backend_{};
    basin::buffer<T, 3> received_, seen_, entropy_, escaped_, value_norm_;
    basin::buffer<T, 4> received_by_;
    basin::buffer<basin::index_t, 2> kinds_;
    std::vector<T> seen_by_mask_, unused_;
};

} // namespace tiny_dlm
