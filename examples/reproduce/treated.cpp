// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#include "treated.hpp"

#include <Eigen/Core>

#include <algorithm>
#include <cmath>

namespace reproduce {

index_t sight(tiny_dlm::model_config const& c, index_t query, index_t rows) {
    if (c.kind == tiny_dlm::model_kind::masked_diffusion) return rows;
    if (c.extra_tokens() > 0) throw std::logic_error("only masked diffusion is measured with added tokens");
    if (c.kind == tiny_dlm::model_kind::autoregressive) return query + 1;
    return std::min<index_t>(rows, (query / c.block + 1) * c.block);
}

void dose::add(layer_record const& chosen_on, basin::key_set const& keys_of_all) {
    for (index_t t = 0; t < keys_of_all.batch(); ++t)
        for (index_t h = 0; h < keys_of_all.heads(); ++h) {
            double all = 0, hidden = 0;
            for (index_t key = 0; key < keys_of_all.keys(); ++key) {
                double const got = static_cast<double>(chosen_on.received(t, h, key));
                all += got;
                if (!keys_of_all.contains(t, h, key)) continue;
                hidden += got;
                row_mass += static_cast<double>(chosen_on.last_row(t, h, key));
            }
            mass += all > 0 ? hidden / all : 0;
            ++maps;
        }
    keys += keys_of_all.count();
}

watched_model::watched_model(tiny_dlm::model<float> const& net, index_t texts)
    : net_(net), texts_(texts), heads_(net.config().heads) {
    for (int i = 0; i < net.config().layers; ++i) {
        auto const fresh = [&] { return basin::buffer<float, 3>(texts, heads_, net.config().rows()); };
        layers_.push_back({fresh(), fresh(), fresh(), fresh(), fresh(), fresh(), 0, 0, {}});
    }
}

basin::buffer<float, 3> watched_model::step(std::vector<token_id> const& tokens, index_t length,
                                            std::vector<basin::key_set> const& hide) {
    tiny_dlm::model_config const& c = net_.config();
    tiny_dlm::observer<float> watch;
    watch.hide = hide;
    index_t const rows = length + c.extra_tokens();
    index_t const alone = c.sinks.kind == tiny_dlm::sink_kind::token ? c.sinks.count : 0; // rows that see themselves
    index_t const sharing = heads_ / c.key_value_heads;                                   // heads of one key-value head
    for (layer_record& layer : layers_) {
        for (auto* const x : {&layer.received, &layer.seen, &layer.judged, &layer.relative, &layer.last_row})
            x->fill(0);
        layer.escaped = 0;
        layer.queries = rows - alone;
    }
    std::vector<double> escaped(layers_.size() * static_cast<std::size_t>(texts_)); // texts may be on several threads
    watch.look = [&](tiny_dlm::layer_report<float> const& r) {
        layer_record& to = layers_[static_cast<std::size_t>(r.layer)];
        for (index_t t = 0; t < r.received.extent(0); ++t)
            for (index_t h = 0; h < heads_; ++h)
                for (index_t key = 0; key < rows; ++key) {
                    bool const own = key >= c.extra_begin() && key < c.extra_begin() + alone && r.seen(t, h, key) > 0;
                    float const lone = own ? 1.0F : 0.0F; // what such a row pays to itself
                    to.received(r.first_text + t, h, key) = std::max(0.0F, r.received(t, h, key) - lone);
                    float const queries = r.seen(t, h, key) - lone;
                    to.seen(r.first_text + t, h, key) = queries;
                    to.judged(r.first_text + t, h, key) = queries >= seen_at_least ? queries : 0.0F;
                    to.value_norm(r.first_text + t, h, key) = r.value_norm(t, h / sharing, key);
                    escaped[static_cast<std::size_t>(r.layer) * static_cast<std::size_t>(texts_) +
                            static_cast<std::size_t>(r.first_text + t)] +=
                        static_cast<double>(r.escaped(t, h, key)) / (texts_ * heads_ * rows);
                }
        relate(r, to, hide);
    };
    auto logits = net_.logits(tokens, length, watch);
    for (index_t i = 0; i < static_cast<index_t>(layers_.size()); ++i) {
        layer_record& layer = layers_[static_cast<std::size_t>(i)];
        for (index_t t = 0; t < texts_; ++t)
            layer.escaped +=
                escaped[static_cast<std::size_t>(i) * static_cast<std::size_t>(texts_) + static_cast<std::size_t>(t)];
        layer.found = basin::detect(basin::reference_backend{}, layer.facts(step_, i), rule{});
    }
    ++step_;
    return logits;
}

/// `relative` and `last_row`. Where everybody sees everybody, sums need no division.
void watched_model::relate(tiny_dlm::layer_report<float> const& r, layer_record& to,
                           std::vector<basin::key_set> const& hide) const {
    using rows_of = Eigen::Map<Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> const, 0,
                               Eigen::OuterStride<>>;
    tiny_dlm::model_config const& c = net_.config();
    bool const alike = c.kind == tiny_dlm::model_kind::masked_diffusion;
    index_t const rows = r.received.extent(2), channels = r.q.extent(3);
    index_t const sharing = heads_ / c.key_value_heads;
    float const scale = 1 / std::sqrt(static_cast<float>(channels));
    Eigen::ArrayXf weights(rows), shown(rows), sums(rows);
    for (index_t t = 0; t < r.received.extent(0); ++t)
        for (index_t h = 0; h < heads_; ++h) {
            index_t const text = r.first_text + t;
            for (index_t key = 0; alike && key < rows; ++key) to.relative(text, h, key) = to.received(text, h, key);
            if (alike) continue; // nor is the last row asked for
            rows_of const q(&r.q(t, h, 0, 0), rows, channels, Eigen::OuterStride<>(r.q.stride(2)));
            rows_of const k(&r.k(t, h / sharing, 0, 0), rows, channels, Eigen::OuterStride<>(r.k.stride(2)));
            for (index_t key = 0; key < rows; ++key) {
                bool const hidden = !hide.empty() && hide[static_cast<std::size_t>(r.layer)].contains(text, h, key);
                shown(key) = hidden ? 0.0F : 1.0F;
            }
            sums.setZero();
            for (index_t query = 0; query < rows; ++query) {
                index_t const end = sight(c, query, rows);
                float const sees = shown.head(end).sum();
                if (sees == 0) continue;
                weights.head(end) =
                    shown.head(end) * (scale * (k.topRows(end) * q.row(query).transpose()).array() - r.lse(t, h, query))
                                          .min(0.0F)
                                          .exp(); // a hidden key's could be anything
                sums.head(end) += sees * weights.head(end);
            }
            for (index_t key = 0; key < rows; ++key) {
                to.relative(text, h, key) = sums(key) / static_cast<float>(rows);
                if (c.kind == tiny_dlm::model_kind::autoregressive) to.last_row(text, h, key) = weights(key);
            }
        }
}

namespace {

/// Of every visible key. Not more than there are others for a control, which hides as many: at the beginning of a text there may be few.
basin::key_set strongest_of_last_row(layer_record const& seen, index_t count) {
    index_t const texts = seen.last_row.extent(0), heads = seen.last_row.extent(1), rows = seen.last_row.extent(2);
    basin::key_set keys(texts, heads, rows);
    for (index_t t = 0; t < texts; ++t)
        for (index_t h = 0; h < heads; ++h) {
            std::vector<index_t> order;
            auto const is_free = [&](index_t key) { // for a control
                return seen.seen(t, h, key) > 0 && !seen.found.keys().contains(t, h, key);
            };
            index_t free = 0;
            for (index_t key = 0; key < rows; ++key) {
                if (!(seen.seen(t, h, key) > 0)) continue;
                order.push_back(key);
                free += is_free(key) ? 1 : 0;
            }
            std::sort(order.begin(), order.end(), [&](index_t a, index_t b) {
                float const x = seen.last_row(t, h, a), y = seen.last_row(t, h, b);
                return x != y ? x > y : a < b;
            });
            for (std::size_t i = 0; i < order.size() && static_cast<index_t>(i) < count; ++i) {
                index_t const left = free - (is_free(order[i]) ? 1 : 0);
                if (left < static_cast<index_t>(i) + 1) break;
                free = left;
                keys.insert(t, h, order[i]);
            }
        }
    return keys;
}

} // namespace

basin::key_set choose_keys(layer_record const& seen, treatment what, index_t count, std::uint64_t seed) {
    if (what >= treatment::last_row) {
        auto keys = strongest_of_last_row(seen, count);
        if (what == treatment::last_row) return keys;
        auto visible = seen.found; // the last row pays to late keys too, which are not judged as sinks
        for (index_t t = 0; t < keys.batch(); ++t)
            for (index_t h = 0; h < keys.heads(); ++h)
                for (index_t key = 0; key < keys.keys(); ++key) {
                    if (seen.seen(t, h, key) > 0) visible.observe(t, h, key);
                }
        if (what == treatment::row_random) return basin::key_set(basin::random_keys(visible, keys, seed));
        return basin::key_set(basin::mass_matched(visible, keys, seen.last_row));
    }
    basin::key_set keys = basin::strongest(seen.found, count);
    if (what == treatment::random) return basin::key_set(basin::random_keys(seen.found, keys, seed));
    if (what == treatment::matched) return basin::key_set(basin::mass_matched(seen.found, keys, seen.relative));
    return keys;
}

basin::key_set treated_model::choose(layer_record const& seen) {
    if (what_ != treatment::sticky) return choose_keys(seen, what_, count_, seed_);
    tracker_.update(seen.found);
    return basin::key_set(sticky_.draw(seen.found, basin::strongest(seen.found, count_), tracker_));
}

basin::buffer<float, 3> treated_model::step(std::vector<token_id> const& tokens, index_t length) {
    auto logits = watched_.step(tokens, length, hide_);
    hide_.clear();
    if (what_ == treatment::nothing) return logits;
    hidden_ = next_;
    for (layer_record const& layer : watched_.layers()) {
        hide_.push_back(choose(layer));
        next_.add(layer, hide_.back());
    }
    return logits;
}

} // namespace reproduce
