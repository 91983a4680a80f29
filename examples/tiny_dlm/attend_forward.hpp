// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include "attend.hpp"
#include "layers.hpp"

#include <basin/backend/simd.hpp>
#include <basin/basin.hpp>

#include <xsimd/stl/algorithms.hpp>

#include <cmath>

namespace tiny_dlm {
namespace detail {

/// The part of the caller's key_set that is about these texts.
template <class T>
basin::key_set hidden_here(attention_call<T> const& call, observer<T> const& watch, int layer, int first_text) {
    int const rows = call.texts.rows;
    if (watch.hide.empty()) return basin::key_set(1, 1, rows);
    basin::key_set const& all = watch.hide.at(static_cast<std::size_t>(layer));
    basin::key_set here(call.texts.texts, call.config.heads, rows);
    for (int t = 0; t < call.texts.texts; ++t) {
        for (int h = 0; h < call.config.heads; ++h) {
            for (int key = 0; key < rows && key < all.keys(); ++key) {
                if (all.contains(all.batch() == 1 ? 0 : first_text + t, all.heads() == 1 ? 0 : h, key))
                    here.insert(t, h, key);
            }
        }
    }
    return here;
}

} // namespace detail

template <class T>
void attention_layer<T>::forward(attention_call<T> const& call, observer<T> const& watch, int layer, int first_text) {
    detail::fit(call.lse, call.texts.texts, call.config.heads, call.texts.rows);
    auto const run = [&](auto const&... sinks) {
        auto const policy = basin::all_of(mask_of(call.config, call.texts.has_copy), sinks...);
        if (!watch.look && watch.hide.empty()) {
            auto const x = call.parts(call.qkv);
            auto const out = call.output(call.mixed);
            basin::attention(basin::simd_backend{}, x.q, x.k, x.v, out, policy, basin::lse{call.lse});
        } else {
            observed<(sizeof...(sinks) > 0)>(call, policy, watch, layer, first_text);
        }
    };
    if (call.has_sink_logit()) {
        run(basin::sink_logit(call.sink_logits()));
    } else if (call.has_sink_keys()) {
        auto const keys = call.sink_keys();
        run(basin::kv_sink{keys});
    } else {
        run();
    }
}

template <class T>
template <bool Escapes, class Policy>
void attention_layer<T>::observed(attention_call<T> const& call, Policy const& policy, observer<T> const& watch,
                                  int layer, int first_text) {
    sheet const& s = call.texts;
    detail::fit(entropy_, s.texts, call.config.heads, s.rows);
    detail::fit(escaped_, s.texts, call.config.heads, s.rows);
    detail::fit(received_by_, s.texts, call.config.heads, 2, s.rows);
    detail::fit(kinds_, s.texts, s.rows);
    for (std::size_t i = 0; i < s.token.size(); ++i) kinds_.data()[i] = s.token[i] == model_config::mask_token ? 1 : 0;
    basin::key_set const hidden = detail::hidden_here(call, watch, layer, first_text);
    auto const x = call.parts(call.qkv);
    auto const out = call.output(call.mixed);
    auto const run = [&](auto const& seen) {
        auto const all = [&](auto const&... more) {
            basin::attention(basin::simd_backend{}, x.q, x.k, x.v, out, seen, basin::lse{call.lse},
                             basin::entropy{entropy_}, basin::received{received_by_, basin::by_group(kinds_, 2)},
                             more...);
        };
        if constexpr (Escapes)
            all(basin::escaped{escaped_});
        else
            all(); // nothing but keys is in the denominator: escaped_ is 0, as it was made
    };
    if (watch.hide.empty()) { // short texts would notice even a set that hides nothing
        run(policy);
    } else {
        auto const who = watch.sees_itself ? basin::sink_masked::seen_by::itself : basin::sink_masked::seen_by::nobody;
        run(basin::all_of(policy, basin::sink_masked{hidden, who}));
    }
    if (watch.look) report(call, hidden, watch, layer, first_text);
}

template <class T>
void attention_layer<T>::report(attention_call<T> const& call, basin::key_set const& hidden, observer<T> const& watch,
                                int layer, int first_text) {
    model_config const& c = call.config;
    sheet const& s = call.texts;
    auto const x = call.parts(call.qkv);
    detail::fit(received_, s.texts, c.heads, s.rows);
    detail::fit(value_norm_, s.texts, c.key_value_heads, s.rows);
    count_seen(call, hidden, watch.sees_itself);
    for (int t = 0; t < s.texts; ++t) {
        for (int h = 0; h < c.heads; ++h) {
            T const* const decoded = &received_by_(t, h, 0, 0);
            T* const sum = &received_(t, h, 0);
            for (int key = 0; key < s.rows; ++key) sum[key] = decoded[key] + decoded[key + s.rows];
        }
        for (int h = 0; h < c.key_value_heads; ++h) {
            T const* value = &x.v(t, h, 0, 0);
            for (int key = 0; key < s.rows; ++key, value += x.v.stride(2))
                value_norm_(t, h, key) = fixed_weights<T>(value, 1, c.channels()).squaredNorm();
        }
    }
    // All roots at once: one after the other they would take longer than their sums. Eigen's roots of whole vectors are not exact.
    xsimd::transform(value_norm_.begin(), value_norm_.end(), value_norm_.begin(),
                     [](auto const& sum) { return xsimd::sqrt(sum); });
    basin::view<T const, 3> const input{call.x, {{s.texts, s.rows, c.width}}};
    watch.look({layer, first_text, x.q, x.k, x.v, call.output(call.mixed), received_, seen_, received_by_, entropy_,
                call.lse, escaped_, value_norm_, input});
}

/// How many queries see each key: the mask is the same for all texts and heads but for the keys that are hidden.
template <class T>
void attention_layer<T>::count_seen(attention_call<T> const& call, basin::key_set const& hidden, bool sees_itself) {
    sheet const& s = call.texts;
    detail::fit(seen_, s.texts, call.config.heads, s.rows);
    if (static_cast<int>(seen_by_mask_.size()) != s.rows) {
        seen_by_mask_.assign(static_cast<std::size_t>(s.rows), T(0));
        auto const mask = mask_of(call.config, s.has_copy);
        for (int query = 0; query < s.rows; ++query) {
            for (int key = 0; key < s.rows; ++key)
                seen_by_mask_[static_cast<std::size_t>(key)] += T(mask.visible(basin::site{0, 0, query, key}));
        }
    }
    for (int t = 0; t < s.texts; ++t) {
        for (int h = 0; h < call.config.heads; ++h)
            std::copy(seen_by_mask_.begin(), seen_by_mask_.end(), &seen_(t, h, 0));
    }
    if (hidden.count() == 0) return;
    for (int t = 0; t < s.texts; ++t) {
        for (int h = 0; h < call.config.heads; ++h) {
            for (int key = 0; key < s.rows; ++key) {
                if (hidden.contains(t, h, key)) seen_(t, h, key) = T(sees_itself);
            }
        }
    }
}

} // namespace tiny_dlm
