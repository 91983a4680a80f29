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

double treated_model::maps() const {
    return static_cast<double>(texts_) * heads_ * static_cast<double>(layers_.size()) * std::max<index_t>(1, step_ - 1);
}
double treated_model::killed() const { return killed_ / maps(); }
double treated_model::killed_mass() const { return mass_ / maps(); }

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
                if (!reads_last_row()) continue;
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
    mass_ += mass_chosen_;
    mass_chosen_ = 0;
    hide_.clear();
    for (index_t i = 0; i < static_cast<index_t>(layers_.size()); ++i) {
        layer_record& layer = layers_[static_cast<std::size_t>(i)];
        layer.found = basin::detect(
            basin::reference_backend{},
            basin::evidence{layer.received}.seen(layer.seen).norms(layer.value_norm).queries(rows).at(step_, i),
            rule{});
        if (what_ == treatment::nothing) continue;
        hide_.push_back(choose(i));
        for (index_t t = 0; t < texts_; ++t)
            for (index_t h = 0; h < heads_; ++h) {
                double all = 0, chosen = 0;
                for (index_t key = 0; key < rows; ++key) {
                    double const got = static_cast<double>(layer.received(t, h, key));
                    all += got;
                    chosen += hide_.back().contains(t, h, key) ? got : 0;
                }
                mass_chosen_ += all > 0 ? chosen / all : 0;
            }
    }
    ++step_;
    return logits;
}

basin::key_set treated_model::strongest_of_last_row(layer_record const& seen) const {
    basin::key_set keys(texts_, heads_, rows_);
    for (index_t t = 0; t < texts_; ++t)
        for (index_t h = 0; h < heads_; ++h) {
            std::vector<index_t> order;
            index_t free = 0; // visible keys that are no sinks
            for (index_t key = 0; key < rows_; ++key) {
                if (!(seen.seen(t, h, key) > 0)) continue;
                order.push_back(key);
                free += seen.found.keys().contains(t, h, key) ? 0 : 1;
            }
            std::sort(order.begin(), order.end(), [&](index_t a, index_t b) {
                float const x = seen.last_row(t, h, a), y = seen.last_row(t, h, b);
                return x != y ? x > y : a < b;
            });
            for (std::size_t i = 0; i < order.size() && static_cast<index_t>(i) < count_; ++i) {
                // A control hides as many others; at the beginning of a text there may be fewer.
                bool const sink = seen.found.keys().contains(t, h, order[i]);
                if (what_ != treatment::last_row && free < static_cast<index_t>(i) + (sink ? 1 : 2)) break;
                free -= sink ? 0 : 1;
                keys.insert(t, h, order[i]);
            }
        }
    return keys;
}

basin::key_set treated_model::choose(index_t layer) {
    layer_record const& seen = layers_[static_cast<std::size_t>(layer)];
    basin::detection const& found = seen.found;
    basin::key_set keys = reads_last_row() ? strongest_of_last_row(seen) : basin::strongest(found, count_);
    if (what_ == treatment::sticky) {
        tracker_.update(found);
        keys = basin::key_set(sticky_.draw(found, keys, tracker_));
    }
    if (what_ == treatment::random || what_ == treatment::row_random)
        keys = basin::key_set(basin::random_keys(found, keys, seed_));
    if (what_ == treatment::matched || what_ == treatment::row_matched)
        keys = basin::key_set(basin::mass_matched(found, keys, seen.received));
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
