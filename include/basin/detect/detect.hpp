// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include <basin/backend/concept.hpp>
#include <basin/detect/detection.hpp>
#include <basin/detect/rows.hpp>

namespace basin {

/// What a backend gets to detect in: everything is checked.
template <class T>
struct detection_task {
    /// What was measured, with every extent checked.
    evidence<T> facts;
    layout where;
    index_t positions; ///< one more than the largest key position
};

/// One linear pass over the mass of each head. A backend whose memory the host cannot read overloads this for its own type.
template <backend B, class T, rule R>
detection run_detection(B const&, detection_task<T> const& task, R const& rule) {
    auto const& e = task.facts;
    index_t const heads = e.received_view().extent(1);
    detection found(e.step(), e.layer(), task.where.texts(), heads, task.positions);
    detail::row_columns columns;
    std::vector<verdict<double>> verdicts;
    for (index_t i = 0; i < task.where.texts(); ++i) {
        text const t = task.where.at(i);
        for (index_t h = 0; h < heads; ++h) {
            auto const row = detail::read_row(e, task.where, t, h, columns);
            found.set_head(row.head);
            for (index_t n = 0; n < columns.invalid; ++n) found.count_invalid();
            found.observe(t.number, h, row.key, row.size());
            if (row.size() < 2) continue; // a lone key receives everything: that says nothing
            detail::check_rule(rule, row.head);
            if (!detail::can_fire(rule, row.head)) found.count_unreachable();
            if constexpr (detail::judges_rows<R>) {
                verdicts.assign(static_cast<std::size_t>(row.size()), {}); // it may leave some as they are
                rule.judge(row, verdicts.data());
            } else if (!detail::fires_anywhere(rule, row)) {
                continue;
            }
            for (index_t n = 0; n < row.size(); ++n) {
                verdict<double> v;
                if constexpr (detail::judges_rows<R>)
                    v = verdicts[static_cast<std::size_t>(n)];
                else
                    v = detail::verdict_of(rule, row[n], row.head);
                if (!v.fires) continue;
                key_facts<double> const k = row[n];
                token_kind kind = token_kind::unknown;
                if (e.kinds_view().data() != nullptr)
                    kind = e.kinds_view()(e.kinds_view().extent(0) == 1 ? 0 : t.entry, columns.place[n]);
                found.add({e.step(), e.layer(), t.number, h, k.key, kind, k.received, k.seen, k.share, k.baseline,
                           k.norm, k.activation, v.number, v.threshold, v.below, v.by});
            }
        }
    }
    return found;
}

namespace detail {

struct detect_function {
    template <class Backend, class T, class Rule>
    detection operator()(Backend const& backend, evidence<T> const& e, Rule const& rule, options const& o = {}) const {
        static_assert(
            basin::backend<Backend>,
            "basin: the first argument of detect must be a backend: reference_backend, eigen_backend, simd_backend");
        static_assert(basin::rule<Rule>,
                      "basin: this is not a rule: it needs operator()(key_facts<T> const&, head_facts<T> const&) const "
                      "that returns bool or verdict<T>, or judge(row_of_keys<T> const&, verdict<T>*) const");
        check_evidence(e);
        auto const& mass = e.received_view();
        layout const where = make_layout(o, mass.extent(0), e.query_count(), mass.extent(3));
        // the whole extent, not only what is live: the set must fit the next call
        index_t const positions = math::max(
            position_limit(where, false),
            where.key_offsets.given() || where.key_position.listed() ? 0 : where.key_position.first() + mass.extent(3));
        return run_detection(backend, detection_task<T>{e, where, positions}, rule);
    }
};

} // namespace detail

/// detect(backend, evidence, rule, [options]): the sinks of each batch entry and head. The options are those of the attention
/// call that made the evidence: lengths and offsets say what is live. Fewer than two live keys: no sink.
inline constexpr detail::detect_function detect{};

} // namespace basin
