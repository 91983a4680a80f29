// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#include "analysis.hpp"

#include <basin/measure/sweep.hpp>

#include <cmath>
#include <iterator>

#if __has_include(<xtensor/core/xmath.hpp>) // xtensor 0.26 moved its headers
#include <xtensor/containers/xadapt.hpp>
#include <xtensor/core/xmath.hpp>
#include <xtensor/misc/xsort.hpp>
#include <xtensor/views/xview.hpp>
#else
#include <xtensor/xadapt.hpp>
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

/// Keys that at least so many queries see; masks are the same for all layers and heads.
struct keys_there {
    std::vector<std::size_t> keys;
    int count;
};
keys_there existing(recording const& r, int step, int queries) {
    keys_there result{};
    for (int key = 0; key < r.keys; ++key)
        if (r.seen(step, 0, 0, key) >= static_cast<float>(queries))
            result.keys.push_back(static_cast<std::size_t>(key));
    result.count = static_cast<int>(result.keys.size());
    return result;
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
    auto const absorbed = xt::eval(over(r.of_text * is_sink) / over(r.of_text));
    auto const of_sinks = xt::eval(over(r.norms * is_sink) / over(is_sink));
    auto const of_others = xt::eval(over(r.norms * is_other) / over(is_other));
    auto const ratio = xt::eval(of_sinks / of_others); // 0 / 0 is NaN, and so it should be

    xt::xtensor<std::size_t, 3> const favourite = xt::argmax(r.relative, 3); // [step, layer, head]
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

recording with_even_attention(recording const& r, sink_rule const& rule, double queries_at_least) {
    recording result = r;
    result.found.clear();
    result.events.clear();
    result.tracks = {};
    for (int s = 0; s < r.steps; ++s) {
        int const keys = existing(r, s, 1).count;
        for (int l = 0; l < r.layers; ++l) {
            auto const here = [&](array& x) { return xt::view(x, s, l); };
            here(result.of_text) = xt::view(r.even, s, xt::newaxis(), xt::all());
            here(result.received) = here(result.of_text);
            here(result.relative) = xt::cast<float>(xt::view(r.seen, s, l) > 0);
            xt::xtensor<float, 2> const seen = xt::view(r.seen, s, l, xt::all(), xt::range(0, keys));
            xt::xtensor<float, 2> const share = seen / static_cast<float>(keys);
            auto const mass = one_text(share), seen_by = one_text(seen);
            result.found.push_back(
                rule.find(basin::evidence<float>{mass}.seen(seen_by).queries(keys).at(s, l), queries_at_least));
        }
    }
    return result;
}

std::vector<double> sweep_of(recording const& r, std::vector<double> const& thresholds, columns what, bool last_only,
                             int queries) {
    std::vector<double> result(thresholds.size());
    double keys = 0;
    for (int s = last_only ? r.steps - 1 : 0; s < r.steps; ++s) {
        auto const there = existing(r, s, queries);
        int const all = existing(r, s, 1).count;
        for (int l = 0; l < r.layers; ++l) {
            auto const of_keys = [&](array const& x) {
                return xt::xtensor<float, 2>(xt::view(x, s, l, xt::all(), xt::keep(there.keys)));
            };
            // what is divided by the queries that see a key is to be `relative`
            auto const seen = of_keys(r.seen), raw = of_keys(r.of_text),
                       part = xt::xtensor<float, 2>(of_keys(r.relative) * seen / static_cast<float>(all));
            auto const raw_sums = one_text(raw), relative = one_text(part), seen_by = one_text(seen);
            auto const facts = what == columns::raw ? basin::evidence<float>{raw_sums}.queries(all)
                                                    : basin::evidence<float>{relative}.seen(seen_by).queries(all);
            auto const swept = basin::sweep(facts, basin::exceeds_others{.epsilon = 0}, thresholds);
            for (std::size_t i = 0; i < thresholds.size(); ++i) result[i] += static_cast<double>(swept.sinks[i]);
            keys += static_cast<double>(swept.keys);
        }
    }
    for (double& x : result) x /= keys;
    return result;
}

path_of_sinks motion_of(recording const& r, columns what, sink_rule const& rule, int queries) {
    auto const keys = static_cast<std::size_t>(r.keys);
    path_of_sinks result;
    basin::key_set before(1, r.layers * r.heads, r.keys);
    double before_now = 0, with_next = 0;
    xt::xtensor<double, 1> sum = xt::zeros<double>({keys}), steps = xt::zeros<double>({keys});
    auto const& masses = what == columns::raw ? r.of_text : r.relative;
    for (int s = 0; s < r.steps; ++s) {
        auto const there = existing(r, s, queries);
        xt::xtensor<double, 1> const by_key = xt::mean<double>(xt::view(masses, s), {0, 1});
        xt::xtensor<double, 1> is_sink = xt::zeros<double>({keys}), exists = xt::zeros<double>({keys});
        basin::key_set now(1, r.layers * r.heads, r.keys);
        for (int l = 0; l < r.layers; ++l) {
            auto const note = [&](basin::detection const& found) {
                for (basin::sink const& x : found.list()) {
                    if (r.seen(s, 0, 0, x.key) < static_cast<float>(queries)) continue; // raw sums know no queries
                    is_sink(x.key) = 1;
                    now.insert(0, l * r.heads + x.head, x.key);
                    before_now += s > 0 && before.contains(0, l * r.heads + x.head, x.key) ? 1 : 0;
                }
            };
            if (what == columns::relative) {
                note(r.at(s, l));
                continue;
            }
            int const seen = existing(r, s, 1).count; // raw sums, as if every query saw every key
            xt::xtensor<float, 2> const raw = xt::view(masses, s, l, xt::all(), xt::range(0, seen));
            auto const received = one_text(raw);
            if (seen > 1) note(rule.find(basin::evidence<float>{received}.queries(seen)));
        }
        if (s + 1 < r.steps) with_next += now.count();
        before = now;
        double weight = 0, moment = 0;
        for (int i = 0; i < there.count; ++i) {
            auto const key = there.keys[static_cast<std::size_t>(i)];
            exists(key) = 1;
            weight += by_key(key) * is_sink(key);
            moment += by_key(key) * is_sink(key) * (i + 0.5) / there.count;
        }
        result.centroids.push_back(weight > 0 ? moment / weight : std::nan(""));
        sum += by_key * exists;
        steps += exists;
    }
    auto const variance = [](std::vector<double> const& x) {
        return x.empty() ? std::nan("") : xt::variance(xt::adapt(x, {x.size()}))();
    };
    std::vector<double> known, means;
    std::copy_if(result.centroids.begin(), result.centroids.end(), std::back_inserter(known),
                 [](double x) { return !std::isnan(x); });
    for (std::size_t key = 0; key < keys; ++key)
        if (steps(key) > 0) means.push_back(sum(key) / steps(key));
    result.temporal = variance(known);
    result.spatial = variance(means);
    result.stays = with_next > 0 ? before_now / with_next : std::nan("");
    return result;
}

std::vector<taken> taken_by(recording const& r, int first, int count) {
    auto is_sink = sinks_of(r);
    auto const whole = xt::eval(xt::sum<double>(r.of_text, {0, 3}));
    auto const chosen = [&](auto& x) {
        return xt::view(x, xt::all(), xt::all(), xt::all(), xt::range(first, first + count));
    };
    xt::xtensor<double, 2> const of_keys = xt::sum<double>(chosen(r.of_text), {0, 3});
    chosen(is_sink) = 0;
    auto const of_sinks = xt::eval(xt::sum<double>(r.of_text * is_sink, {0, 3}));
    std::vector<taken> result;
    for (int l = 0; l < r.layers; ++l)
        for (int h = 0; h < r.heads; ++h) result.push_back({of_keys(l, h) / whole(l, h), of_sinks(l, h) / whole(l, h)});
    return result;
}

} // namespace sink_atlas
