// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include <basin/core/lift.hpp>
#include <basin/intervene/choose.hpp>
#include <basin/intervene/random.hpp>
#include <basin/track/tracker.hpp>

// Controls of equal budget: as many keys in each head as the intervention takes, among the keys that were visible and are no
// sinks. Seeded by (seed, step, layer, batch, head), so that a step draws the same whatever was drawn before.
namespace basin {
namespace detail {

struct control_row {
    index_t batch, head;
    std::vector<index_t> sinks, free; ///< by position
};

/// Calls f(row) for each head that has a budget; refuses a budget that cannot be met.
template <class F>
chosen_keys for_each_budget(detection const& found, key_set const& budget, char const* name, F const& f) {
    if (budget.batch() != found.batch() || budget.heads() != found.heads() || budget.keys() != found.keys().keys()) {
        fail<shape_error>(name, ": the budget has extents (", budget.batch(), ", ", budget.heads(), ", ", budget.keys(),
                          "), the detection (", found.batch(), ", ", found.heads(), ", ", found.keys().keys(), ")");
    }
    chosen_keys result{key_set(found.batch(), found.heads(), found.keys().keys()), budget.count(), 0};
    control_row row;
    for (row.batch = 0; row.batch < found.batch(); ++row.batch)
        for (row.head = 0; row.head < found.heads(); ++row.head) {
            row.sinks.clear();
            row.free.clear();
            for (index_t key = 0; key < budget.keys(); ++key) {
                if (budget.bits().contains(row.batch, row.head, key))
                    row.sinks.push_back(key);
                else if (found.observed().bits().contains(row.batch, row.head, key) &&
                         !found.keys().bits().contains(row.batch, row.head, key))
                    row.free.push_back(key);
            }
            if (row.sinks.size() > row.free.size()) {
                fail<argument_error>(name, ": head ", row.head, " of batch entry ", row.batch, " has a budget of ",
                                     static_cast<int>(row.sinks.size()), " keys, but only ",
                                     static_cast<int>(row.free.size()),
                                     " visible keys are no sinks: no control of equal size exists");
            }
            if (!row.sinks.empty()) f(row, result.keys);
        }
    result.killed = result.keys.count();
    return result;
}

inline random_stream stream_of(detection const& found, std::uint64_t seed, control_row const& row) {
    return random_stream(counter_random{seed}(found.step(), found.layer(), row.batch, row.head));
}

/// Takes one of the free keys out at random.
inline index_t draw(std::vector<index_t>& free, random_stream& random) {
    std::size_t const i = random.below(static_cast<std::uint32_t>(free.size()));
    index_t const key = free[i];
    free[i] = free.back();
    free.pop_back();
    return key;
}

} // namespace detail

/// The same number of other keys, at random, drawn anew at each step.
inline chosen_keys random_keys(detection const& found, key_set const& budget, std::uint64_t seed) {
    return detail::for_each_budget(found, budget, "random_keys", [&](detail::control_row& row, key_set& out) {
        auto random = detail::stream_of(found, seed, row);
        for (std::size_t i = 0; i < row.sinks.size(); ++i)
            out.insert(row.batch, row.head, detail::draw(row.free, random));
    });
}
/// As many keys as there are sinks, in each head.
inline chosen_keys random_keys(detection const& found, std::uint64_t seed) {
    return random_keys(found, found.keys(), seed);
}

/// For each sink the nearest key that is none, left or right by a coin where both are equally near.
inline chosen_keys position_matched(detection const& found, key_set const& budget, std::uint64_t seed) {
    return detail::for_each_budget(found, budget, "position_matched", [&](detail::control_row& row, key_set& out) {
        auto random = detail::stream_of(found, seed, row);
        for (index_t const sink_key : row.sinks) {
            bool const right = (random.next() >> 63U) != 0U;
            auto best = row.free.begin();
            for (auto i = row.free.begin(); i != row.free.end(); ++i) {
                index_t const d = math::abs(*i - sink_key), least = math::abs(*best - sink_key);
                if (d < least || (d == least && right && *i > *best)) best = i;
            }
            out.insert(row.batch, row.head, *best);
            row.free.erase(best);
        }
    });
}

/// For each sink, the strongest first, the key whose received mass is nearest to its own: "much attention, but no sink".
/// `received` is the mass the detection was made from; of equals the first.
template <class Mass>
chosen_keys mass_matched(detection const& found, key_set const& budget, Mass&& received) {
    auto const mass = detail::lift_statistic(detail::describe(received, "received"), false, "received");
    detail::check_extent("received", "batch", mass.extent(0), "the detection", found.batch());
    detail::check_extent("received", "head", mass.extent(1), "the detection", found.heads());
    detail::check_extent("received", "key", mass.extent(3), "the detection", found.keys().keys());
    return detail::for_each_budget(found, budget, "mass_matched", [&](detail::control_row& row, key_set& out) {
        auto const of = [&](index_t key) { return static_cast<double>(mass(row.batch, row.head, 0, key)); };
        std::sort(row.sinks.begin(), row.sinks.end(),
                  [&](index_t a, index_t b) { return of(a) != of(b) ? of(a) > of(b) : a < b; });
        for (index_t const sink_key : row.sinks) {
            auto best = row.free.begin();
            for (auto i = row.free.begin(); i != row.free.end(); ++i) {
                if (math::abs(of(*i) - of(sink_key)) < math::abs(of(*best) - of(sink_key))) best = i;
            }
            out.insert(row.batch, row.head, *best);
            row.free.erase(best);
        }
    });
}

/// A random partner for each *track*, kept while its sink lives: like for like with sinks that persist, where a fresh draw
/// at each step would compare a lasting loss with a flickering one. A partner that becomes a sink or is no longer visible is
/// replaced. Call it after the tracker's update of the same step.
class sticky_keys {
public:
    explicit sticky_keys(std::uint64_t seed) : seed_(seed) {}

    /// As many keys for each head as `budget` has there.
    chosen_keys draw(detection const& found, key_set const& budget, tracker const& tracks) {
        partner_.resize(tracks.lives().size(), -1);
        auto const present = tracks.present(found.layer());
        return detail::for_each_budget(found, budget, "sticky_keys", [&](detail::control_row& row, key_set& out) {
            auto random = detail::stream_of(found, seed_, row);
            std::vector<index_t> homeless; // tracks that need a new partner
            index_t matched = 0;
            for (auto const& p : present) {
                if (p.batch != row.batch || p.head != row.head || p.missing ||
                    !budget.bits().contains(row.batch, row.head, p.key))
                    continue;
                ++matched;
                index_t const old = partner_[static_cast<std::size_t>(p.track)];
                auto const at = std::find(row.free.begin(), row.free.end(), old);
                if (at == row.free.end()) {
                    homeless.push_back(p.track);
                    continue;
                }
                out.insert(row.batch, row.head, old);
                row.free.erase(at);
            }
            if (matched != static_cast<index_t>(row.sinks.size()))
                detail::fail<argument_error>("sticky_keys: the tracker follows ", matched, " of ",
                                             static_cast<int>(row.sinks.size()), " keys of the budget in head ",
                                             row.head, "; update it with this detection first");
            for (index_t const track : homeless) {
                index_t const key = detail::draw(row.free, random);
                partner_[static_cast<std::size_t>(track)] = key;
                out.insert(row.batch, row.head, key);
            }
        });
    }
    /// As many keys for each head as it has sinks.
    chosen_keys draw(detection const& found, tracker const& tracks) { return draw(found, found.keys(), tracks); }

private:
    std::uint64_t seed_;
    std::vector<index_t> partner_; // by track
};

} // namespace basin
