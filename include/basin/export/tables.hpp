// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include <basin/detect/detection.hpp>
#include <basin/export/table.hpp>
#include <basin/intervene/experiment.hpp>
#include <basin/measure/sweep.hpp>
#include <basin/track/life.hpp>

// Results as tables, one row per thing.
namespace basin {
namespace detail {

/// A column from a list of records, by a function of one.
template <class List, class F>
auto column_of(List const& list, F const& f) {
    using X = decltype(f(*list.begin()));
    using Y = std::conditional_t<std::is_integral_v<X>, long long,
                                 std::conditional_t<std::is_floating_point_v<X>, double, std::string>>;
    std::vector<Y> result;
    result.reserve(list.size());
    for (auto const& x : list) result.push_back(Y(f(x)));
    return result;
}

} // namespace detail

/// A row for each sink, with the numbers that made it one.
inline table table_of(detection const& found) {
    auto const of = [&](auto const& f) { return detail::column_of(found.list(), f); };
    table t;
    t.integers("step", of([](sink const& s) { return s.step; })).integers("layer", of([](sink const& s) {
                                                                              return s.layer;
                                                                          }));
    t.integers("batch", of([](sink const& s) { return s.batch; })).integers("head", of([](sink const& s) {
                                                                                return s.head;
                                                                            }));
    t.integers("key", of([](sink const& s) { return s.key; })).texts("kind", of([](sink const& s) {
                                                                         return name_of(s.kind);
                                                                     }));
    t.numbers("received", of([](sink const& s) { return s.received; })).numbers("seen", of([](sink const& s) {
                                                                                    return s.seen;
                                                                                }));
    t.numbers("share", of([](sink const& s) { return s.share; })).numbers("baseline", of([](sink const& s) {
                                                                              return s.baseline;
                                                                          }));
    t.numbers("norm", of([](sink const& s) { return s.norm; })).numbers("activation", of([](sink const& s) {
                                                                            return s.activation;
                                                                        }));
    t.texts("rule", of([](sink const& s) { return s.by; })).numbers("number", of([](sink const& s) {
                                                                        return s.number;
                                                                    }));
    t.numbers("threshold", of([](sink const& s) { return s.threshold; }));
    return t;
}

/// A row for each event.
inline table table_of(std::vector<track_event> const& events) {
    auto const of = [&](auto const& f) { return detail::column_of(events, f); };
    table t;
    t.texts("event", of([](track_event const& e) { return name_of(e.what); }))
        .integers("step", of([](track_event const& e) { return e.step; }));
    t.integers("layer", of([](track_event const& e) { return e.layer; }))
        .integers("batch", of([](track_event const& e) { return e.batch; }));
    t.integers("head", of([](track_event const& e) { return e.head; })).integers("track", of([](track_event const& e) {
                                                                                     return e.track;
                                                                                 }));
    t.integers("other", of([](track_event const& e) { return e.other; })).integers("from", of([](track_event const& e) {
                                                                                       return e.from;
                                                                                   }));
    t.integers("to", of([](track_event const& e) { return e.to; })).numbers("mass", of([](track_event const& e) {
                                                                                return e.mass;
                                                                            }));
    t.texts("kind", of([](track_event const& e) { return name_of(e.kind); }));
    return t;
}

/// The life table: one row per track.
inline table table_of(std::vector<life> const& lives) {
    auto const of = [&](auto const& f) { return detail::column_of(lives, f); };
    table t;
    t.integers("track", of([](life const& l) { return l.track; })).integers("layer", of([](life const& l) {
                                                                                return l.layer;
                                                                            }));
    t.integers("batch", of([](life const& l) { return l.batch; })).integers("head", of([](life const& l) {
                                                                                return l.head;
                                                                            }));
    t.integers("born", of([](life const& l) { return l.born; })).integers("last_seen", of([](life const& l) {
                                                                              return l.last_seen;
                                                                          }));
    t.integers("died", of([](life const& l) { return l.died; })).integers("parent", of([](life const& l) {
                                                                              return l.parent;
                                                                          }));
    t.integers("merged_into", of([](life const& l) { return l.merged_into; })).integers("steps", of([](life const& l) {
                                                                                            return l.steps;
                                                                                        }));
    t.numbers("mass", of([](life const& l) { return l.mass; })).numbers("peak", of([](life const& l) {
                                                                            return l.peak;
                                                                        }));
    return t;
}

/// The paths of all lives: one row per waypoint.
inline table paths_of(std::vector<life> const& lives) {
    struct step {
        index_t track;
        waypoint at;
    };
    std::vector<step> steps;
    for (life const& l : lives)
        for (waypoint const& w : l.path) steps.push_back({l.track, w});
    auto const of = [&](auto const& f) { return detail::column_of(steps, f); };
    table t;
    t.integers("track", of([](step const& s) { return s.track; })).integers("step", of([](step const& s) {
                                                                                return s.at.step;
                                                                            }));
    t.integers("last", of([](step const& s) { return s.at.last; })).integers("key", of([](step const& s) {
                                                                                 return s.at.key;
                                                                             }));
    t.texts("kind", of([](step const& s) { return name_of(s.at.kind); })).integers("steps", of([](step const& s) {
                                                                                       return s.at.steps;
                                                                                   }));
    t.numbers("mass", of([](step const& s) { return s.at.mass; }));
    return t;
}

/// A row for each threshold.
inline table table_of(sweep_curve const& curve) {
    table t;
    t.numbers("threshold", curve.thresholds).integers("sinks", curve.sinks);
    t.integers("keys", std::vector<long long>(curve.sinks.size(), curve.keys));
    return t;
}

/// A row for each comparison of a report.
inline table table_of(std::vector<comparison> const& report) {
    auto const of = [&](auto const& f) { return detail::column_of(report, f); };
    table t;
    t.texts("comparison", of([](comparison const& c) { return c.name; })).integers("pairs", of([](comparison const& c) {
                                                                                       return c.pairs;
                                                                                   }));
    t.numbers("mean", of([](comparison const& c) { return c.mean; })).numbers("low", of([](comparison const& c) {
                                                                                  return c.range.low;
                                                                              }));
    t.numbers("high", of([](comparison const& c) { return c.range.high; }))
        .numbers("p_sign", of([](comparison const& c) { return c.p_sign; }));
    t.numbers("p", of([](comparison const& c) { return c.p; })).numbers("p_holm", of([](comparison const& c) {
                                                                            return c.p_holm;
                                                                        }));
    t.integers("effect", of([](comparison const& c) { return c.effect ? 1 : 0; }));
    return t;
}

/// The raw numbers: one row per input, one column per condition.
inline table table_of(experiment const& e) {
    table t;
    for (std::size_t c = 0; c < e.conditions().size(); ++c)
        t.numbers(e.conditions()[c],
                  detail::column_of(e.rows(), [&](std::vector<double> const& row) { return row[c]; }));
    return t;
}

} // namespace basin
