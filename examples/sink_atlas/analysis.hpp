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
    double absorbed = 0;   ///< share of its text's attention that went to its sinks
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

/// What sinks are looked for in: what queries pay over what even attention would, or raw column sums, which favour keys that
/// many queries see.
enum class columns : std::uint8_t { relative, raw };

/// The same text under a model that spreads all attention evenly over what its mask lets it see.
recording with_even_attention(recording const& r, sink_rule const& rule, double queries_at_least);

/// The share of keys that are sinks by exceeds_others, by threshold, over all steps, layers and heads.
struct curve {
    std::string id,
        name; ///< id: dlm, arm, raw (the twin on raw column sums), even (the same of even attention), or new (untrained)
    std::vector<double> share;
};
/// The shares alone; of keys that at least `queries` queries see. `last_only`: only the map of the last step.
std::vector<double> sweep_of(recording const& r, std::vector<double> const& thresholds, columns what, bool last_only,
                             int queries);

/// Where the sinks are, step by step, all layers and heads together, and the two variances of Sink-Aware Pruning, so that a
/// text that grows can be set beside one that does not. Keys exist at a step if at least `queries` queries see them.
struct path_of_sinks {
    std::vector<double> centroids; ///< of each step, as a part of the keys that exist: 0 to 1; NaN without sinks
    double temporal = 0;           ///< the variance of these; NaN without sinks
    double spatial = 0; ///< the variance over keys of what each received in the mean over the steps at which it exists
    double stays = 0;   ///< the share of sinks that are sinks of the same head at the next step; NaN without sinks
};
path_of_sinks motion_of(recording const& r, columns what, sink_rule const& rule, int queries);

/// The share of the attention of the text's tokens that goes to `count` keys from `first` on, and to the sinks besides them,
/// by layer and head.
struct taken {
    double keys, sinks;
};
std::vector<taken> taken_by(recording const& r, int first = 0, int count = 0);

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
    std::sort(result.begin(), result.end(), [](holder const& a, holder const& b) {
        return a.sinks != b.sinks ? a.sinks > b.sinks : a.tokens != b.tokens ? a.tokens > b.tokens : a.kind < b.kind;
    });
    return result;
}

} // namespace sink_atlas
