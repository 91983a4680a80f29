// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#include "recording.hpp"

#include "budget.hpp"

#include <algorithm>

namespace sink_atlas {

recorder::recorder(tiny_dlm::model_config const& config, int length, int prompt, sink_rule const& rule,
                   double queries_at_least)
    : config_(config), rule_(rule), queries_at_least_(queries_at_least), length_(length) {
    record_.layers = config.layers;
    record_.heads = config.heads;
    record_.keys = length + config.extra_tokens();
    record_.prompt = prompt;
    auto const size = static_cast<std::size_t>(config.layers) * static_cast<std::size_t>(config.heads) *
                      static_cast<std::size_t>(record_.keys);
    for (auto* now : {&now_received_, &now_seen_, &now_norms_}) now->resize(size);
}

tiny_dlm::observer<float> recorder::watch() {
    for (auto* now : {&now_received_, &now_seen_, &now_norms_}) std::fill(now->begin(), now->end(), 0.0F);
    tiny_dlm::observer<float> result;
    result.look = [this](tiny_dlm::layer_report<float> const& report) {
        int const group = config_.heads / config_.key_value_heads;
        for (int h = 0; h < config_.heads; ++h)
            for (int key = 0; key < report.received.extent(2); ++key) {
                auto const at = place_of(report.layer, config_.heads, h, record_.keys, key);
                now_received_[at] = report.received(0, h, key);
                now_seen_[at] = report.seen(0, h, key);
                now_norms_[at] = report.value_norm(0, h / group, key);
            }
    };
    return result;
}

void recorder::note_tokens(std::span<token_id const> tokens) {
    std::vector<token_id> row(static_cast<std::size_t>(record_.keys), tiny_dlm::tokenizer::sink);
    std::vector<basin::token_kind> kinds(row.size(), basin::token_kind::special);
    for (int i = 0; i < length_; ++i) {
        auto const at = static_cast<std::size_t>(config_.row_of(i));
        token_id const token =
            i < static_cast<int>(tokens.size()) ? tokens[static_cast<std::size_t>(i)] : tiny_dlm::tokenizer::mask;
        row[at] = token;
        kinds[at] = i < record_.prompt                   ? basin::token_kind::prompt
                    : token == tiny_dlm::tokenizer::mask ? basin::token_kind::masked
                    : token == tiny_dlm::tokenizer::eos  ? basin::token_kind::special
                                                         : basin::token_kind::decoded;
    }
    record_.tokens.insert(record_.tokens.end(), row.begin(), row.end());
    record_.kinds.insert(record_.kinds.end(), kinds.begin(), kinds.end());
}

void recorder::step(std::span<token_id const> tokens) {
    note_tokens(tokens);
    int const rows = static_cast<int>(tokens.size()) + config_.extra_tokens();
    std::ptrdiff_t const head = record_.keys, layer = head * record_.heads;
    std::vector<basin::token_kind> const kinds(record_.kinds.end() - record_.keys,
                                               record_.kinds.end() - record_.keys + rows);
    for (int l = 0; l < record_.layers; ++l) {
        auto const part = [&](std::vector<float> const& all) {
            return basin::view<float const, 3>{all.data() + l * layer, {{1, record_.heads, rows}}, {{layer, head, 1}}};
        };
        auto const mass = part(now_received_), seen = part(now_seen_), norms = part(now_norms_);
        auto const facts =
            basin::evidence<float>{mass}.seen(seen).norms(norms).kinds(kinds).queries(rows).at(record_.steps, l);
        auto found = rule_.find(facts, queries_at_least_);
        auto const& events = record_.tracks.update(record_.steps, l, found);
        record_.events.insert(record_.events.end(), events.begin(), events.end());
        record_.found.push_back(std::move(found));
    }
    received_.insert(received_.end(), now_received_.begin(), now_received_.end());
    seen_.insert(seen_.end(), now_seen_.begin(), now_seen_.end());
    norms_.insert(norms_.end(), now_norms_.begin(), now_norms_.end());
    ++record_.steps;
}

std::vector<basin::key_set> recorder::chosen(masking_plan const& plan) {
    std::vector<basin::key_set> result;
    if (plan.strongest == 0) return result;
    if (!partners_) partners_ = std::make_unique<basin::sticky_keys>(plan.seed);
    for (int l = 0; l < record_.layers; ++l) {
        auto const& found = record_.at(record_.steps - 1, l);
        auto const budget = plan.control == control_kind::none ? basin::strongest(found, plan.strongest).keys
                                                               : strongest_with_control(found, plan.strongest);
        std::ptrdiff_t const head = record_.keys, layer = head * record_.heads;
        basin::view<float const, 3> const mass{
            now_received_.data() + l * layer, {{1, record_.heads, found.keys().keys()}}, {{layer, head, 1}}};
        switch (plan.control) {
        case control_kind::none:
            result.push_back(budget);
            break;
        case control_kind::random:
            result.push_back(basin::random_keys(found, budget, plan.seed).keys);
            break;
        case control_kind::sticky:
            result.push_back(partners_->draw(found, budget, record_.tracks).keys);
            break;
        case control_kind::position:
            result.push_back(basin::position_matched(found, budget, plan.seed).keys);
            break;
        case control_kind::mass:
            result.push_back(basin::mass_matched(found, budget, mass).keys);
            break;
        }
    }
    return result;
}

std::vector<double> recorder::strongest_by_position() const {
    std::vector<double> result(static_cast<std::size_t>(length_));
    for (int l = 0; l < record_.layers; ++l)
        for (basin::sink const& s : record_.at(record_.steps - 1, l).list())
            for (int i = 0; i < length_; ++i)
                if (config_.row_of(i) == s.key)
                    result[static_cast<std::size_t>(i)] = std::max(result[static_cast<std::size_t>(i)], s.received);
    return result;
}

recording recorder::finish(std::span<token_id const> tokens) {
    note_tokens(tokens);
    auto const shaped = [&](std::vector<float> const& flat) {
        auto result =
            array::from_shape({static_cast<std::size_t>(record_.steps), static_cast<std::size_t>(record_.layers),
                               static_cast<std::size_t>(record_.heads), static_cast<std::size_t>(record_.keys)});
        std::copy(flat.begin(), flat.end(), result.begin());
        return result;
    };
    record_.received = shaped(received_);
    record_.seen = shaped(seen_);
    record_.norms = shaped(norms_);
    return std::move(record_);
}

} // namespace sink_atlas
