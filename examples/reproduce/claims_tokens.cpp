// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#include "claims.hpp"
#include "statistics.hpp"

#include <algorithm>

namespace reproduce {
namespace {

constexpr auto extra = static_cast<std::size_t>(token_class::extra);

std::vector<claim> token(results const& all) {
    claim drawn{
        "e1", "One extra token that sees only itself draws the sinks to itself.", "the sinks move to the token",
        "Holds if more than half of the detected sinks are the token, with the whole interval; does not hold if fewer "
        "are; else it cannot be seen.",
        5};
    claim better{
        "e2", "It makes the model better.", "0.5 B: ARC-e 44.7 -> 55.5, GSM8K 46.9 -> 49.2",
        "Holds if the loss is lower with the token, pair by pair of one seed, with Student's whole interval; does "
        "not hold if it is higher; else, or with fewer than five pairs, it cannot be seen.",
        5};
    for (setting const& p : places) {
        auto const none = models(all, p.corpus, p.size, "dlm"), with = models(all, p.corpus, p.size, "token");
        if (with.empty() || none.empty()) continue;
        figure const share =
            over_models(text("%s: share of all sinks that are the token", p.words), column(with, "classes", extra));
        drawn.ours.push_back(share);
        drawn.ours.push_back(over_models(text("%s: its share of all attention", p.words), column(with, "extra_mass"),
                                         text("uniform: %.3f", column(with, "extra_uniform").at(0))));
        drawn.ours.push_back(over_models(text("%s: maps with a sink, with - without the token", p.words),
                                         paired(none, "maps_with_sink", with, "maps_with_sink"), "pairs of one seed"));
        figure const loss = by_student(text("%s: loss, with - without", p.words), paired(none, "loss", with, "loss"),
                                       "pairs of one seed, Student's");
        better.ours.push_back(loss);
        better.ours.push_back(over_models(text("%s: accuracy, with - without", p.words),
                                          paired(none, "accuracy", with, "accuracy"), "pairs of one seed"));
        finding& d = drawn.found[p.words];
        d.seeds = share.pairs;
        d.verdict = verdict_of(above(share, 0.5), below(share, 0.5));
        d.reason =
            text("%.0f %% of the detected sinks are the token [%.0f, %.0f]; the others stand on other keys. It gets "
                 "%.1f %% of the attention of all others, %.1f %% were uniform.",
                 100 * share.mean, 100 * share.low, 100 * share.high,
                 100 * basin::detail::mean_of(column(with, "extra_mass")), 100 * column(with, "extra_uniform").at(0));
        finding& b = better.found[p.words];
        b.seeds = loss.pairs;
        b.verdict = loss.pairs < 5 ? unseen : below(loss, 0) ? holds : above(loss, 0) ? fails : unseen;
        b.reason = text("Loss %+.4f [%.4f, %.4f] over %d pairs of seeds.", loss.mean, loss.low, loss.high, loss.pairs);
    }
    return {drawn, better};
}

/// Within it two losses are as good as equal: half of what the token itself brings, where that is seen, but not less than is worth
/// telling apart; else so many nats.
constexpr double margin_without_benefit = 0.02, least_margin = 0.005;
double equivalence_margin(paired_test const& token) {
    bool const seen = token.pairs > 1 && token.high < 0;
    return seen ? std::max(least_margin, -token.mean / 2) : margin_without_benefit;
}

/// f and g in one setting: models of all variants, each against the one without, seed by seed.
void judge_variants(claim& where, claim& kinds, results const& all, setting const& p) {
    auto const of = [&](char const* variant) { return models(all, p.corpus, p.size, variant); };
    auto const none = of("dlm");
    for (variant_name const& v : sink_variants()) {
        auto const list = of(v.name);
        if (list.empty() || none.empty()) continue;
        bool const is_token = std::string_view(v.name).starts_with("token");
        std::string const words = text("%s, %s: ", p.words, v.words);
        std::vector<figure> rows = {by_student(words + "loss, with - without", paired(none, "loss", list, "loss"),
                                               "pairs of one seed, Student's"),
                                    over_models(words + "accuracy, with - without",
                                                paired(none, "accuracy", list, "accuracy"), "pairs of one seed")};
        if (std::string_view(v.name) != "token")
            rows.push_back(by_student(words + "loss, more than with one token in front",
                                      paired(of("token"), "loss", list, "loss"), "pairs of one seed, Student's"));
        auto const on_it = column(list, "classes", extra), escaped = column(list, "escaped");
        if (basin::detail::mean_of(on_it) > 0) rows.push_back(over_models(words + "share of all sinks on it", on_it));
        if (basin::detail::mean_of(escaped) > 0)
            rows.push_back(over_models(words + "attention that went to it", escaped));
        rows.push_back(over_models(words + "maps with a sink, with - without",
                                   paired(none, "maps_with_sink", list, "maps_with_sink"), "pairs of one seed"));
        if (is_token) where.ours.insert(where.ours.end(), rows.begin(), rows.end());
        if (!is_token || std::string_view(v.name) == "token")
            kinds.ours.insert(kinds.ours.end(), rows.begin(), rows.end());
    }
    paired_test const one(paired(none, "loss", of("token"), "loss"));
    double const margin = equivalence_margin(one);
    struct contrasts {
        std::vector<paired_test> tests;
        std::vector<double> p; // by Holm
        std::string words;
        int seeds = 0;
    };
    auto const against_one = [&](std::vector<char const*> const& names, std::size_t judged) {
        contrasts c;
        c.seeds = one.pairs;
        for (char const* const name : names) c.tests.emplace_back(paired(of("token"), "loss", of(name), "loss"));
        for (std::size_t i = 0; i < judged; ++i) {
            c.p.push_back(c.tests[i].p);
            c.seeds = std::min(c.seeds, c.tests[i].pairs);
        }
        c.p = basin::holm(c.p);
        for (std::size_t i = 0; i < names.size(); ++i)
            for (variant_name const& v : sink_variants()) {
                if (std::string_view(v.name) != names[i] || c.tests[i].pairs == 0) continue;
                paired_test const& t = c.tests[i];
                c.words += text("%s%s %+.4f [%.4f, %.4f]",
                                i == 0        ? ""
                                : i == judged ? "; besides: "
                                              : ", ",
                                v.words, t.mean, t.low, t.high) +
                           (i < judged ? text(" (p = %.2g)", c.p[i]) : "");
            }
        return c;
    };
    std::string const start =
        text("One token in front changes the loss by %+.4f [%.4f, %.4f] over %d seeds%s, so that the "
             "margin is %.4f; against it: ",
             one.mean, one.low, one.high, one.pairs, one.high < 0 ? "" : " (no benefit is seen)", margin);
    auto const places_and_numbers = against_one({"token_middle", "token_end", "token_2", "token_4"}, 4);
    auto const all_within = std::all_of(places_and_numbers.tests.begin(), places_and_numbers.tests.end(),
                                        [&](paired_test const& t) { return t.within(margin); });
    bool differs = false; // by more than the margin may hide
    for (std::size_t i = 0; i < places_and_numbers.p.size(); ++i)
        differs = differs || (places_and_numbers.p[i] < 0.05 && !places_and_numbers.tests[i].within(margin));
    finding f{verdict_of(all_within, differs), start + places_and_numbers.words + ".", places_and_numbers.seeds};
    if (f.seeds > 0) where.found[p.words] = f;

    auto const others = against_one({"zero_value", "gate", "logit", "off_by_one", "registers"}, 2);
    paired_test const &zero = others.tests[0], &gate = others.tests[1];
    bool const zero_is_as_good = zero.pairs > 1 && zero.high < margin;
    bool const zero_is_worse = !zero_is_as_good && zero.mean > 0 && others.p[0] < 0.05;
    bool const gate_differs = others.p[1] < 0.05;
    finding g{
        verdict_of(zero_is_as_good && gate_differs && gate.mean > 0, zero_is_worse || (gate_differs && gate.mean < 0)),
        start + others.words + ".", others.seeds};
    if (g.seeds > 0) kinds.found[p.words] = g;
}

std::vector<claim> variants(results const& all) {
    claim where{
        "f", "Neither the place of the token nor the number of tokens matters.",
        "ARC-e: front 55.47, end 56.14; 0 / 1 / 2 / 4 tokens 44.70 / 55.47 / 54.76 / 55.39",
        "By loss, pair by pair of one seed, each against one token in front, with Student's intervals. Holds if "
        "every interval lies within the margin: half of what one token in front brings, where its interval is "
        "below 0 (at least 0.005), else 0.02 nats. Does not hold if one of the four does not and differs by a "
        "paired t-test, corrected by Holm (p < 0.05). Else it cannot be seen.",
        5};
    claim kinds{"g", "A sink without a value does as well as a token; gating helps less.",
                "ARC-e: token 55.47, zero-value 55.68, gate 47.85, none 44.70",
                "By loss, margin and tests as in f, for two contrasts with one token in front. Holds if the key "
                "without a value is worse by less than the margin with its whole interval and gating is worse "
                "(p < 0.05, by Holm). Does not hold if the key without a value is worse, and not by less than the "
                "margin, or gating is better, each by the same test. Else it cannot be seen.",
                5};
    for (setting const& p : places) judge_variants(where, kinds, all, p);
    return {where, kinds};
}

} // namespace

std::vector<claim> judge_tokens(results const& all) {
    std::vector<claim> list = token(all);
    for (claim const& c : variants(all)) list.push_back(c);
    return list;
}

} // namespace reproduce
