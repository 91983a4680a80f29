// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include "claims.hpp"
#include "student.hpp"
#include "treated.hpp"

#include <cstdio>

namespace reproduce {

/// The models of one variant, by seed.
inline std::vector<result const*> models(results const& all, std::string const& corpus, std::string const& size,
                                         std::string const& variant) {
    std::vector<result const*> list;
    for (result const& r : all) {
        if (r.model.corpus == corpus && r.model.size == size && r.model.variant == variant) list.push_back(&r);
    }
    return list;
}
inline bool has(result const& r, std::string const& key) { return r.numbers.count(key) != 0; }

/// One number of each model.
inline std::vector<double> column(std::vector<result const*> const& list, std::string const& key, std::size_t at = 0) {
    std::vector<double> x;
    for (result const* r : list) {
        if (has(*r, key) && at < r->numbers.at(key).size()) x.push_back(r->numbers.at(key)[at]);
    }
    return x;
}
/// b - a for the seeds that both have.
inline std::vector<double> paired(std::vector<result const*> const& a, std::string const& key_a,
                                  std::vector<result const*> const& b, std::string const& key_b) {
    std::vector<double> x;
    for (result const* p : a)
        for (result const* q : b) {
            if (p->model.seed == q->model.seed && has(*p, key_a) && has(*q, key_b))
                x.push_back(q->numbers.at(key_b)[0] - p->numbers.at(key_a)[0]);
        }
    return x;
}

/// Mean and interval over models; with fewer than five, the smallest and the largest.
inline figure over_models(std::string words, std::vector<double> const& x, std::string note = {}) {
    figure f{std::move(words), 0, 0, 0, static_cast<int>(x.size()), false, std::move(note)};
    if (x.empty()) return f;
    f.mean = basin::detail::mean_of(x);
    f.low = *std::min_element(x.begin(), x.end());
    f.high = *std::max_element(x.begin(), x.end());
    if (x.size() >= 5) {
        auto const range = basin::bootstrap_mean(x);
        f.low = range.low;
        f.high = range.high;
        f.interval = true;
    }
    return f;
}
/// The same by Student's interval, for two and more.
inline figure by_student(std::string words, std::vector<double> const& x, std::string note = {}) {
    paired_test const t(x);
    return {std::move(words), t.mean, t.low, t.high, t.pairs, t.pairs > 1, std::move(note), t.pairs > 1 ? t.p : -1};
}
/// The figure is below or above a number with its whole interval.
inline bool below(figure const& f, double x) { return f.pairs > 0 && f.high < x; }
inline bool above(figure const& f, double x) { return f.pairs > 0 && f.low > x; }

inline char const *const holds = "holds", *const fails = "does not hold",
                         *const unseen = "cannot be seen at this scale", *const not_measured = "not measured";
/// A claim that its numbers confirm or contradict, with whole intervals, or neither.
inline char const* verdict_of(bool confirmed, bool contradicted) {
    return confirmed ? holds : contradicted ? fails : unseen;
}
/// As printf.
std::string text(char const* format, auto... values) {
    char line[1000];
    std::snprintf(line, sizeof line, format, values...);
    return line;
}

/// One treatment against nothing, and against its controls: intervals over models where there are five, else over texts. p is over
/// texts, each the mean over the models: all models read the same ones, so that texts times models are not independent.
struct masking_report {
    std::vector<figure> rows;      ///< change by sinks, then by each control
    std::vector<figure> contrasts; ///< sinks minus each control
    double before = 0, after = 0;  ///< means
    dose hidden;                   ///< by the treatment, per map
};
masking_report compare_masking(std::vector<result const*> const& list, std::string const& outcome,
                               std::string const& treated, std::vector<std::string> const& controls, int count);

/// Holm's correction of every p in the list, which is noted.
void correct(std::vector<figure>& all, char const* unit);

/// The share of its accuracy that each model keeps when keys are hidden; of b minus of a for the seeds that both have.
struct hiding {
    std::string outcome, treated;
    int count;
};
std::vector<double> kept(std::vector<result const*> const& list, hiding const& how);
std::vector<double> kept_difference(std::vector<result const*> const& a, hiding const& how_a,
                                    std::vector<result const*> const& b, hiding const& how_b);

/// Heads that have sinks: value norms of sinks over those of others. Heads are chosen on even texts and judged on odd ones.
struct head_list {
    std::vector<double> ratio; ///< on odd texts, of the heads with sinks in a tenth of the maps of even ones
    std::vector<double> quiet,
        loud; ///< change of the loss without its sinks: of heads below 0.8 on even texts, of others
};
head_list sink_heads(std::vector<result const*> const& list);

} // namespace reproduce
