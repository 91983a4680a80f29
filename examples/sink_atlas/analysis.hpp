// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include "recording.hpp"

#include <string>
#include <vector>

// What a recording says, computed on [step, layer, head, key] arrays with xtensor.
namespace sink_atlas {

/// One (layer, head).
struct head_summary {
    int births = 0, moves = 0;
    double absorbed = 0;   ///< share of its attention that went to its sinks
    double norm_ratio = 0; ///< mean value norm of its sinks over that of its other keys; NaN without sinks
    double restless = 0;   ///< share of steps at which another key than before received most
};
/// By layer and head, head fastest.
std::vector<head_summary> summarise(recording const& r);

/// 1 where a key was a sink at that step, [step, layer, head, key].
xt::xtensor<float, 4> sinks_of(recording const& r);

/// How often tokens of one kind hold sinks.
struct holder {
    std::string kind;
    double sinks, tokens; ///< share of all sinks, share of all (step, token)
};
/// `kind_of(token)` names the kind. The most frequent holders first.
template <class KindOf>
std::vector<holder> holders_of(recording const& r, KindOf const& kind_of);

/// The share of keys that are sinks by exceeds_others, by threshold, over all steps, layers and heads.
struct curve {
    std::string name;
    std::vector<double> share;
};
/// `normalised`: by the queries that see a key; `last_only`: only the map of the last step, and only keys that are seen by at least
/// `queries` queries.
curve sweep_of(recording const& r, std::vector<double> const& thresholds, std::string name, bool normalised,
               bool last_only, int queries);

/// Where the sinks are, step by step, all layers and heads together, and the two variances of Sink-Aware Pruning.
struct path_of_sinks {
    std::vector<double> centroids;
    double temporal, spatial;
};
/// Raw column sums, or divided by the queries that see a key (times the queries of the step). Under raw sums, sinks are found again.
path_of_sinks motion_of(recording const& r, bool normalised, sink_rule const& rule);

/// The share of attention that goes to one key, and to the sinks besides it, by layer and head; key -1: none.
struct taken {
    double key, sinks;
};
std::vector<taken> taken_by(recording const& r, int key);

template <class KindOf>
std::vector<holder> holders_of(recording const& r, KindOf const& kind_of) {
    std::vector<holder> result;
    double sinks = 0, tokens = 0;
    auto const count = [&](token_id token) -> holder& {
        std::string const name = kind_of(token);
        for (holder& h : result)
            if (h.kind == name) return h;
        return result.emplace_back(holder{name, 0, 0});
    };
    for (int s = 0; s < r.steps; ++s) {
        for (int k = 0; k < r.keys; ++k, ++tokens) count(r.token(s, k)).tokens += 1;
        for (int l = 0; l < r.layers; ++l)
            for (basin::sink const& x : r.at(s, l).list()) {
                count(r.token(s, x.key)).sinks += 1;
                sinks += 1;
            }
    }
    for (holder& h : result) {
        h.sinks /= sinks > 0 ? sinks : 1;
        h.tokens /= tokens;
    }
    std::stable_sort(result.begin(), result.end(), [](holder const& a, holder const& b) {
        return a.sinks != b.sinks ? a.sinks > b.sinks : a.tokens > b.tokens;
    });
    return result;
}

} // namespace sink_atlas
