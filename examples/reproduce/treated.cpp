// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#include "treated.hpp"

#include <algorithm>
#include <cmath>

namespace reproduce {

treated_model::treated_model(tiny_dlm::model<float> const& net, index_t texts, treatment what, index_t count,
                             std::uint64_t seed)
    : net_(net), texts_(texts), rows_(net.config().rows()), heads_(net.config().heads), what_(what), count_(count),
      seed_(seed), sticky_(seed) {
    for (int i = 0; i < net.config().layers; ++i) {
        auto const fresh = [&] { return basin::buffer<float, 3>(texts, heads_, rows_); };
        layers_.push_back({fresh(), fresh(), fresh(), fresh(), 0, {}});
    }
}

double treated_model::killed() const {
    double const maps = static_cast<double>(texts_) * heads_ * static_cast<double>(layers_.size()) * (step_ - 1);
    return step_ < 2 ? 0 : killed_ / maps;
}

basin::buffer<float, 3> treated_model::step(std::vector<token_id> const& tokens, index_t length) {
    tiny_dlm::observer<float> watch;
    watch.hide = hide_;
    index_t const rows = length + net_.config().extra_tokens();
    index_t const sharing = heads_ / net_.config().key_value_heads; // heads of one key-value head
    float const scale = 1 / std::sqrt(static_cast<float>(net_.config().channels()));
    for (layer_record& layer : layers_) {
        layer.received.fill(0);
        layer.seen.fill(0);
        layer.escaped = 0;
    }
    watch.look = [&](tiny_dlm::layer_report<float> const& r) {
        layer_record& to = layers_[static_cast<std::size_t>(r.layer)];
        for (index_t t = 0; t < r.received.extent(0); ++t)
            for (index_t h = 0; h < heads_; ++h) {
                for (index_t key = 0; key < rows; ++key) {
                    to.received(r.first_text + t, h, key) = r.received(t, h, key);
                    to.seen(r.first_text + t, h, key) = r.seen(t, h, key);
                    to.value_norm(r.first_text + t, h, key) = r.value_norm(t, h / sharing, key);
                    to.escaped += static_cast<double>(r.escaped(t, h, key)) / (texts_ * heads_ * rows);
                }
                if (what_ != treatment::last_row) continue;
                for (index_t key = 0; key < rows; ++key) {
                    float dot = 0;
                    for (index_t c = 0; c < r.q.extent(3); ++c)
                        dot += r.q(t, h, rows - 1, c) * r.k(t, h / sharing, key, c);
                    to.last_row(r.first_text + t, h, key) = std::exp(scale * dot - r.lse(t, h, rows - 1));
                }
            }
    };
    auto logits = net_.logits(tokens, length, watch);
    for (basin::key_set const& set : hide_) killed_ += set.count();
    hide_.clear();
    for (index_t i = 0; i < static_cast<index_t>(layers_.size()); ++i) {
        layer_record& layer = layers_[static_cast<std::size_t>(i)];
        layer.found = basin::detect(
            basin::reference_backend{},
            basin::evidence{layer.received}.seen(layer.seen).norms(layer.value_norm).queries(rows).at(step_, i),
            rule{});
        if (what_ != treatment::nothing) hide_.push_back(choose(i));
    }
    ++step_;
    return logits;
}

basin::key_set treated_model::choose(index_t layer) {
    layer_record const& seen = layers_[static_cast<std::size_t>(layer)];
    basin::detection const& found = seen.found;
    basin::key_set keys(texts_, heads_, rows_);
    if (what_ == treatment::last_row) {
        for (index_t t = 0; t < texts_; ++t)
            for (index_t h = 0; h < heads_; ++h) {
                std::vector<index_t> order;
                for (index_t key = 0; key < rows_; ++key) {
                    if (seen.seen(t, h, key) > 0) order.push_back(key);
                }
                std::sort(order.begin(), order.end(), [&](index_t a, index_t b) {
                    float const x = seen.last_row(t, h, a), y = seen.last_row(t, h, b);
                    return x != y ? x > y : a < b;
                });
                for (std::size_t i = 0; i < order.size() && static_cast<index_t>(i) < count_; ++i)
                    keys.insert(t, h, order[i]);
            }
        return keys;
    }
    keys = basin::strongest(found, count_);
    if (what_ == treatment::sticky) tracker_.update(found);
    if (what_ == treatment::random) keys = basin::key_set(basin::random_keys(found, keys, seed_));
    if (what_ == treatment::sticky) keys = basin::key_set(sticky_.draw(found, keys, tracker_));
    if (what_ == treatment::matched) keys = basin::key_set(basin::mass_matched(found, keys, seen.received));
    if (only_) {
        for (index_t t = 0; t < texts_; ++t)
            for (index_t h = 0; h < heads_; ++h)
                for (index_t key = 0; key < rows_; ++key) {
                    if (layer != only_->first || h != only_->second) keys.erase(t, h, key);
                }
    }
    return keys;
}

} // namespace reproduce
