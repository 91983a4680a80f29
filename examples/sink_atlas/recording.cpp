// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#include "recording.hpp"

#include "budget.hpp"

#include <tiny_dlm/reach.hpp>

#include <basin/attention.hpp>

#include <algorithm>

namespace sink_atlas {
namespace {

/// What a key receives, each query counted with a weight of its own.
struct weighed : basin::key_statistic<float> {
    weighed(basin::view<float, 3> to, std::vector<float> const& weights)
        : key_statistic<float>(to), by_query(weights.data()) {}
    float const* by_query;
    static constexpr float identity() { return 0; }
    float map(basin::cell<float> const& c, basin::site const& s) const { return c.p * by_query[s.query]; }
    float combine(float a, float b) const { return a + b; }
};

} // namespace

recorder::recorder(tiny_dlm::model_config const& config, int length, int prompt, sink_rule const& rule,
                   double queries_at_least)
    : config_(config), rule_(rule), queries_at_least_(queries_at_least), length_(length) {
    record_.layers = config.layers;
    record_.heads = config.heads;
    record_.keys = length + config.extra_tokens();
    record_.prompt = prompt;
    auto const size = static_cast<std::size_t>(config.layers) * static_cast<std::size_t>(config.heads) *
                      static_cast<std::size_t>(record_.keys);
    now_.each([&](std::vector<float>& x) { x.resize(size); });
}

tiny_dlm::observer<float> recorder::watch() {
    now_.each([](std::vector<float>& x) { std::fill(x.begin(), x.end(), 0.0F); });
    tiny_dlm::observer<float> result;
    result.look = [this](tiny_dlm::layer_report<float> const& report) {
        look_around(report.received.extent(2));
        int const group = config_.heads / config_.key_value_heads;
        for (int h = 0; h < config_.heads; ++h)
            for (int key = 0; key < sight_.rows; ++key) {
                auto const at = place_of(report.layer, config_.heads, h, record_.keys, key);
                now_.received[at] = now_.of_text[at] = now_.relative[at] = report.received(0, h, key);
                now_.seen[at] = sight_.seen[static_cast<std::size_t>(key)];
                now_.norms[at] = report.value_norm(0, h / group, key);
            }
        if (!sight_.full) weigh(report); // of a full map, what a key receives is all there is to know
    };
    return result;
}

tiny_dlm::model_config recorder::of_rows(int rows) const {
    auto config = config_;
    config.length = rows - config.extra_tokens();
    return config;
}

void recorder::look_around(int rows) {
    if (sight_.rows == rows) return;
    auto const config = of_rows(rows);
    auto const mask = tiny_dlm::mask_of(config, false);
    auto const size = static_cast<std::size_t>(rows);
    sight_ = {rows, config.extra_tokens() == 0, {}, {}, {}, {}};
    for (auto* x : {&sight_.reach, &sight_.one, &sight_.seen, &sight_.even}) x->assign(size, 0.0F);
    for (int i = 0; i < config.length; ++i) {
        int const query = config.row_of(i);
        std::vector<std::size_t> sees;
        for (int key = 0; key < rows; ++key)
            if (mask.visible(basin::site{0, 0, query, key})) sees.push_back(static_cast<std::size_t>(key));
        auto const row = static_cast<std::size_t>(query);
        sight_.one[row] = 1;
        sight_.reach[row] = static_cast<float>(sees.size());
        sight_.full = sight_.full && sees.size() == size;
        for (std::size_t const key : sees) {
            sight_.seen[key] += 1;
            sight_.even[key] += 1 / sight_.reach[row];
        }
    }
}

void recorder::weigh(tiny_dlm::layer_report<float> const& report) {
    std::ptrdiff_t const head = record_.keys, first = report.layer * head * record_.heads;
    auto const part = [&](std::vector<float>& x) {
        return basin::view<float, 3>{x.data() + first, {{1, record_.heads, sight_.rows}}, {{first, head, 1}}};
    };
    auto const of_text = part(now_.of_text), relative = part(now_.relative);
    basin::observe(basin::simd_backend{}, report.q, report.k, report.lse,
                   tiny_dlm::mask_of(of_rows(sight_.rows), false), weighed(of_text, sight_.one),
                   weighed(relative, sight_.reach));
    for (int h = 0; h < record_.heads; ++h)
        for (int key = 0; key < sight_.rows; ++key)
            relative(0, h, key) /= std::max(1.0F, sight_.seen[static_cast<std::size_t>(key)]);
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
    // Rules divide by the queries that see a key; what they shall judge is `relative`, so that is multiplied by them.
    std::vector<float> judged = now_.relative;
    for (std::size_t i = 0; i < judged.size() && !sight_.full; ++i)
        judged[i] *= now_.seen[i] / static_cast<float>(rows);
    for (int l = 0; l < record_.layers; ++l) {
        auto const part = [&](std::vector<float> const& all) {
            return basin::view<float const, 3>{all.data() + l * layer, {{1, record_.heads, rows}}, {{layer, head, 1}}};
        };
        auto const mass = part(judged), seen = part(now_.seen), norms = part(now_.norms);
        auto const facts =
            basin::evidence<float>{mass}.seen(seen).norms(norms).kinds(kinds).queries(rows).at(record_.steps, l);
        auto found = rule_.find(facts, queries_at_least_);
        auto const& events = record_.tracks.update(record_.steps, l, found);
        record_.events.insert(record_.events.end(), events.begin(), events.end());
        record_.found.push_back(std::move(found));
    }
    auto const keep = [](std::vector<float>& all, std::vector<float> const& now) {
        all.insert(all.end(), now.begin(), now.end());
    };
    keep(all_.received, now_.received);
    keep(all_.of_text, now_.of_text);
    keep(all_.relative, now_.relative);
    keep(all_.seen, now_.seen);
    keep(all_.norms, now_.norms);
    keep(even_, sight_.even);
    even_.resize(static_cast<std::size_t>(record_.steps + 1) * static_cast<std::size_t>(record_.keys));
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
            now_.relative.data() + l * layer, {{1, record_.heads, found.keys().keys()}}, {{layer, head, 1}}};
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
    std::ptrdiff_t const head = record_.keys, layer = head * record_.heads;
    for (int l = 0; l < record_.layers; ++l)
        for (basin::sink const& s : record_.at(record_.steps - 1, l).list()) {
            double const mass =
                static_cast<double>(now_.relative[static_cast<std::size_t>(l * layer + s.head * head + s.key)]);
            for (int i = 0; i < length_; ++i)
                if (config_.row_of(i) == s.key)
                    result[static_cast<std::size_t>(i)] = std::max(result[static_cast<std::size_t>(i)], mass);
        }
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
    record_.received = shaped(all_.received);
    record_.of_text = shaped(all_.of_text);
    record_.relative = shaped(all_.relative);
    record_.seen = shaped(all_.seen);
    record_.norms = shaped(all_.norms);
    record_.even = xt::xtensor<float, 2>::from_shape(
        {static_cast<std::size_t>(record_.steps), static_cast<std::size_t>(record_.keys)});
    std::copy(even_.begin(), even_.end(), record_.even.begin());
    return std::move(record_);
}

} // namespace sink_atlas
