// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include <basin/attention.hpp>
#include <basin/detect/detect.hpp>
#include <basin/intervene/choose.hpp>
#include <basin/policy/compose.hpp>
#include <basin/policy/sink_masked.hpp>
#include <basin/statistic/received.hpp>
#include <basin/statistic/seen.hpp>

namespace basin {

/// What acts at the first step, when there is no earlier one; the first paper does not say what it did.
enum class first_step : std::uint8_t {
    untouched, ///< nothing is masked
    same_step, ///< an extra pass finds the sinks of that very step
    refused,   ///< an error
};
/// On which map the sinks of the next step are looked for; the paper does not say either. A masked key receives nothing, so
/// it cannot be found again: on the masked map, the sets alternate. The unmasked map costs a second pass.
enum class detect_on : std::uint8_t { masked_map, unmasked_map };

/// What the masking experiment leaves open: see docs/interventions.md.
struct lagging {
    /// What acts at the first step.
    first_step first = first_step::untouched;
    /// On which map the sinks of the next step are looked for.
    detect_on map = detect_on::masked_map;
    bool sees_itself = false; ///< a masked key still sees itself
};

/// Sinks of one step act at the next, layer by layer. Steps of a layer must follow each other.
class lag {
public:
    explicit lag(lagging const& how = {}) : how_(how) {}

    /// What it was made with.
    lagging const& how() const { return how_; }
    /// Whether the layer has sinks of an earlier step.
    bool has(index_t layer) const {
        return layer >= 0 && static_cast<std::size_t>(layer) < sets_.size() &&
               sets_[static_cast<std::size_t>(layer)].used;
    }
    /// The sinks that act at a step: those of the step before.
    key_set const& of(index_t step, index_t layer) const {
        if (!has(layer)) detail::fail<argument_error>("lag: layer ", layer, " has no earlier step");
        kept const& k = sets_[static_cast<std::size_t>(layer)];
        if (step != k.step + 1)
            detail::fail<argument_error>("lag: step ", step, " of layer ", layer, " follows step ", k.step,
                                         "; sinks act one step later, no step may be left out");
        return k.keys;
    }
    /// Keeps the sinks that were found at a step, for the next one.
    void keep(index_t step, index_t layer, key_set keys) {
        if (layer < 0) detail::fail<argument_error>("lag: layer ", layer);
        if (has(layer) && step <= sets_[static_cast<std::size_t>(layer)].step)
            detail::fail<argument_error>("lag: step ", step, " of layer ", layer, " comes after step ",
                                         sets_[static_cast<std::size_t>(layer)].step);
        if (static_cast<std::size_t>(layer) >= sets_.size()) sets_.resize(static_cast<std::size_t>(layer) + 1);
        sets_[static_cast<std::size_t>(layer)] = {true, step, std::move(keys)};
    }

private:
    struct kept {
        bool used = false;
        index_t step = 0;
        key_set keys;
    };
    lagging how_;
    std::vector<kept> sets_;
};

/// What a lagged step did.
struct lagged_step {
    detection found;    ///< on the map that `lagging` names
    index_t killed = 0; ///< keys that were really hidden at this step, over batch entries and heads
};

/// The masking experiment, one step of one layer: attention in which the keys chosen at the last step are hidden; then the
/// sinks are found, and `choose(detection)` says which keys the next step hides: every_sink, strongest, random_keys, ...
template <class Backend, class Q, class K, class V, class Out, class Policy, class Rule, class Choose>
lagged_step attention_lagged(Backend const& backend, Q&& q, K&& k, V&& v, Out&& out, Policy const& policy,
                             Rule const& rule, lag& memory, index_t step, index_t layer, Choose const& choose,
                             options const& o = {}) {
    using T = std::remove_const_t<detail::element_of<Q>>;
    using A = accumulation_t<T>;
    auto const query = detail::lift_tensor(detail::describe(q, "q"), "q");
    auto const key = detail::lift_tensor(detail::describe(k, "k"), "k");
    auto const result = detail::lift_tensor(detail::describe(out, "out"), "out");
    buffer<A, 3> mass(query.extent(0), query.extent(1), key.extent(2)),
        watched(query.extent(0), query.extent(1), key.extent(2));
    auto const look = [&] {
        return detect(backend, evidence{mass}.seen(watched).queries(query.extent(2)).at(step, layer), rule, o);
    };
    auto const plain = [&](auto& target) {
        attention(backend, q, k, v, target, policy, o, received{mass}, seen{watched});
    };

    lagged_step done;
    key_set hidden;
    bool const first = !memory.has(layer);
    if (!first)
        hidden = memory.of(step, layer);
    else if (memory.how().first == first_step::refused)
        detail::fail<argument_error>("attention_lagged: step ", step, " of layer ", layer,
                                     " is the first one, which lagging{.first = refused} refuses");
    if (first && memory.how().first == first_step::untouched) {
        plain(out);
        done.found = look();
    } else {
        bool const extra = first || memory.how().map == detect_on::unmasked_map;
        if (extra) {
            buffer<T, 4> aside(result.extents());
            plain(aside);
            done.found = look();
            if (first) {
                key_set now = choose(done.found);
                hidden = std::move(now);
            }
        }
        auto const masked =
            all_of(policy, sink_masked{hidden, memory.how().sees_itself ? sink_masked::seen_by::itself
                                                                        : sink_masked::seen_by::nobody});
        attention(backend, q, k, v, out, masked, o, received{mass}, seen{watched});
        if (memory.how().map == detect_on::masked_map) done.found = look();
        done.killed =
            hidden.count() * (hidden.heads() == 1 ? query.extent(1) : 1) * (hidden.batch() == 1 ? query.extent(0) : 1);
    }
    key_set next = choose(done.found);
    memory.keep(step, layer, std::move(next));
    return done;
}

} // namespace basin
