// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include "attend.hpp"

#include <basin/attention_backward.hpp>
#include <basin/backend/simd.hpp>
#include <basin/basin.hpp>

namespace tiny_dlm {

template <class T>
void attention_layer<T>::backward(attention_call<T> const& call, T const* d_mixed, T* d_qkv, T* gradients) {
    auto const x = call.parts(static_cast<T const*>(call.qkv));
    auto const d = call.parts(d_qkv);
    auto const out = call.output(static_cast<T const*>(call.mixed));
    auto const d_out = call.output(d_mixed);
    auto const run = [&](auto const&... sinks) {
        basin::attention_backward(basin::simd_backend{}, basin::saved{x.q, x.k, x.v, out, call.lse},
                                  basin::upstream{d_out}, basin::gradients{d.q, d.k, d.v},
                                  basin::all_of(mask_of(call.config, call.texts.has_copy), sinks...));
    };
    if (call.has_sink_logit()) {
        unused_.assign(static_cast<std::size_t>(call.config.heads), T(0)); // the logit of off by one stays where it is
        T* const target = call.where.sink_logit >= 0 ? gradients + call.where.sink_logit : unused_.data();
        basin::view<T, 1> const d_logits{target, {{call.config.heads}}};
        run(basin::learned{basin::sink_logit(call.sink_logits()), d_logits});
    } else if (call.has_sink_keys()) {
        auto const keys = call.sink_keys();
        basin::view<T, 3> const d_keys{gradients + call.where.sink_key, keys.extents()};
        run(basin::learned{basin::kv_sink{keys}, d_keys});
    } else {
        run();
    }
}

} // namespace tiny_dlm
