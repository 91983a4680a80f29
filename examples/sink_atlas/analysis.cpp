// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#include "analysis.hpp"

#include <basin/measure/motion.hpp>
#include <basin/measure/sweep.hpp>

#if __has_include(<xtensor/core/xmath.hpp>) // xtensor 0.26 moved its headers
#include <xtensor/core/xmath.hpp>
#include <xtensor/misc/xsort.hpp>
#include <xtensor/views/xview.hpp>
#else
#include <xtensor/xmath.hpp>
#include <xtensor/xsort.hpp>
#include <xtensor/xview.hpp>
#endif

namespace sink_atlas {
namespace {

/// A (head, key) array as the one text of a batch.
basin::view<float const, 3> one_text(xt::xtensor<float, 2> const& x) {
    return {x.data(), {{1, static_cast<basin::index_t>(x.shape(0)), static_cast<basin::index_t>(x.shape(1))}}};
}

} // namespace

xt::xtensor<float, 4> sinks_of(recording const& r) {
    xt::xtensor<float, 4> result = xt::zeros_like(r.received);
    for (auto const& found : r.found)
        for (basin::sink const& s : found.list()) result(s.step, s.layer, s.head, s.key) = 1;
    return result;
}

std::vector<head_summary> summarise(recording const& r) {
    auto const is_sink = sinks_of(r);
    xt::xtensor<float, 4> const is_other = (1 - is_sink) * xt::cast<float>(r.seen > 0);
    auto const over = [](auto&& x) { return xt::xtensor<double, 2>(xt::sum<double>(x, {0, 3})); }; // steps and keys
    auto const absorbed = xt::eval(over(r.received * is_sink) / over(r.received));
    auto const of_sinks = xt::eval(over(r.norms * is_sink) / over(is_sink));
    auto const of_others = xt::eval(over(r.norms * is_other) / over(is_other));
    auto const ratio = xt::eval(of_sinks / of_others); // 0 / 0 is NaN, and so it should be

    xt::xtensor<std::size_t, 3> const favourite = xt::argmax(r.received, 3); // [step, layer, head]
    xt::xtensor<double, 2> restless = xt::zeros<double>({r.layers, r.heads});
    if (r.steps > 1) {
        auto const now = xt::view(favourite, xt::range(1, r.steps)),
                   before = xt::view(favourite, xt::range(0, r.steps - 1));
        restless = xt::mean<double>(xt::cast<double>(xt::not_equal(now, before)), {0});
    }

    std::vector<head_summary> result;
    for (int l = 0; l < r.layers; ++l)
        for (int h = 0; h < r.heads; ++h) result.push_back({0, 0, absorbed(l, h), ratio(l, h), restless(l, h)});
    for (auto const& e : r.events) {
        head_summary& s = result[place_of(e.layer, r.heads, e.head)];
        if (e.what == basin::happening::born || e.what == basin::happening::split) ++s.births;
        if (e.what == basin::happening::moved) ++s.moves;
    }
    return result;
}

curve sweep_of(recording const& r, std::vector<double> const& thresholds, std::string name, bool normalised,
               bool last_only, int queries) {
    curve result{std::move(name), std::vector<double>(thresholds.size())};
    double keys = 0;
    int rows = r.keys;
    if (last_only && queries > 0) { // of a causal map, the first ones are seen often; it has one query less than keys
        auto const seen = xt::eval(xt::view(r.seen, r.steps - 1, 0, 0, xt::all()));
        rows = static_cast<int>(xt::sum<int>(xt::cast<int>(seen >= static_cast<float>(queries)))());
    }
    for (int s = last_only ? r.steps - 1 : 0; s < r.steps; ++s)
        for (int l = 0; l < r.layers; ++l) {
            xt::xtensor<float, 2> const mass = xt::view(r.received, s, l, xt::all(), xt::range(0, rows));
            xt::xtensor<float, 2> const seen = xt::view(r.seen, s, l, xt::all(), xt::range(0, rows));
            auto const received = one_text(mass), seen_by = one_text(seen);
            auto const facts = basin::evidence<float>{received}.queries(r.keys);
            auto const swept =
                basin::sweep(normalised ? facts.seen(seen_by) : facts, basin::exceeds_others{.epsilon = 0}, thresholds);
            for (std::size_t i = 0; i < thresholds.size(); ++i) result.share[i] += static_cast<double>(swept.sinks[i]);
            keys += static_cast<double>(swept.keys);
        }
    for (double& x : result.share) x /= keys;
    return result;
}

path_of_sinks motion_of(recording const& r, bool normalised, sink_rule const& rule) {
    basin::motion motion;
    for (int s = 0; s < r.steps; ++s) {
        auto const seen = xt::eval(xt::view(r.seen, s));
        auto const mass = xt::eval(xt::view(r.received, s)); // [layer, head, key]
        float const queries = xt::amax(seen)();
        auto const share = xt::eval(mass / xt::maximum(seen, 1.0F) * queries);
        xt::xtensor<float, 1> const by_key =
            xt::sum(normalised ? share : mass, {0, 1}) / static_cast<float>(r.layers * r.heads);
        basin::key_set sinks(1, r.layers * r.heads, r.keys);
        for (int l = 0; l < r.layers; ++l) {
            auto const insert = [&](basin::detection const& found) {
                for (basin::sink const& x : found.list()) sinks.insert(0, l * r.heads + x.head, x.key);
            };
            if (normalised) {
                insert(r.at(s, l));
                continue;
            }
            auto const rows = static_cast<std::size_t>(queries); // raw sums, as if every query saw every key
            xt::xtensor<float, 2> const raw = xt::view(mass, l, xt::all(), xt::range(0, rows));
            auto const received = one_text(raw);
            if (rows > 1) insert(rule.find(basin::evidence<float>{received}));
        }
        motion.add(by_key, sinks);
    }
    return {motion.centroids(), motion.temporal_variance(), motion.spatial_variance()};
}

std::vector<taken> taken_by(recording const& r, int key) {
    auto is_sink = sinks_of(r);
    auto const whole = xt::eval(xt::sum<double>(r.received, {0, 3}));
    xt::xtensor<double, 2> of_key = xt::zeros<double>({r.layers, r.heads});
    if (key >= 0) {
        of_key = xt::sum<double>(xt::view(r.received, xt::all(), xt::all(), xt::all(), key), {0});
        xt::view(is_sink, xt::all(), xt::all(), xt::all(), key) = 0;
    }
    auto const of_sinks = xt::eval(xt::sum<double>(r.received * is_sink, {0, 3}));
    std::vector<taken> result;
    for (int l = 0; l < r.layers; ++l)
        for (int h = 0; h < r.heads; ++h) result.push_back({of_key(l, h) / whole(l, h), of_sinks(l, h) / whole(l, h)});
    return result;
}

} // namespace sink_atlas
