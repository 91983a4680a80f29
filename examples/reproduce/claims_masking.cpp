// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#include "claims.hpp"
#include "statistics.hpp"

namespace reproduce {
namespace {

/// Less attention than this hidden, and that nothing was lost says nothing.
constexpr double least_dose = 0.05;

/// All rows of one treatment and its controls; returns the report of one key.
masking_report add_masking(claim& c, std::vector<result const*> const& list, char const* words,
                           std::string const& outcome, std::string const& treated,
                           std::vector<std::string> const& controls) {
    masking_report first;
    for (int const count : masked_counts) {
        auto const report = compare_masking(list, outcome, treated, controls, count);
        for (auto const* rows : {&report.rows, &report.contrasts})
            for (figure f : *rows) {
                f.words =
                    text("%s, %s, K = %d: %s", words, outcome == "loss" ? "loss" : "accuracy", count, f.words.c_str());
                c.ours.push_back(f);
            }
        if (count == masked_counts[0]) first = report;
    }
    return first;
}

} // namespace

std::vector<claim> judge_masking(results const& all) {
    std::string const spare_rule =
        text("One sink per head hidden. On the tasks: holds if the accuracy of the written answers falls by less than "
             "3 points and at least %.0f %% of all attention was hidden, does not hold if it falls by more, each with "
             "the whole interval; else it cannot be seen. On texts, where accuracy is that of a second pass: the same "
             "with 4 %% of the accuracy itself, which is what 3 points are of LLaDA's .76.",
             100 * least_dose);
    claim spared{"c1", "Hiding its strongest sinks hardly hurts a diffusion model.",
                 "GSM8K with 1 / 5 / 10 hidden: LLaDA .76 -> .75 / .73 / .55, Dream .82 -> .79 / .78 / .75", spare_rule,
                 5};
    claim ruined{
        "c2", "Hiding one sink destroys an autoregressive model.", "GSM8K: Llama-3.1 .85 -> .02 / .02 / .01",
        text("The key that the last token attends to most is hidden at the next step, as in the paper. Holds if "
             "accuracy falls below half, and by more than with as many random keys and with as many keys of like "
             "attention; does not hold if it stays above half although the hidden keys had at least %.0f %% of the "
             "last row's attention, each with the whole interval; else it cannot be seen.",
             100 * least_dose),
        5};
    claim block{"c3", "A block-diffusion model is spared as well.", "LLaDA and MMaDA write in blocks of 32", spare_rule,
                5};

    for (setting const& p : places) {
        bool const tasks = std::string_view(p.corpus) == "tasks";
        std::string const outcome = tasks ? "right" : "guessed";
        std::vector<std::string> controls = {"random", "matched"};
        if (tasks) controls.insert(controls.begin() + 1, "sticky");
        std::vector<std::string> const once = {"random", "matched"}, for_row = {"random, for row", "matched, for row"};
        auto const dlm = models(all, p.corpus, p.size, "dlm"), arm = models(all, p.corpus, p.size, "arm");
        auto const judge_one = [&](claim& c, std::vector<result const*> const& list) {
            auto const accuracy = add_masking(c, list, p.words, outcome, "sinks", controls);
            auto const loss = add_masking(c, list, p.words, "loss", "sinks", once);
            if (accuracy.rows.empty()) return;
            figure const& sinks = accuracy.rows[0];
            double const limit = tasks ? -0.03 : -0.04 * accuracy.before;
            finding& f = c.found[p.words];
            f.seeds = static_cast<int>(list.size());
            f.verdict = verdict_of(above(sinks, limit) && accuracy.hidden.mass >= least_dose, below(sinks, limit));
            f.reason = text(
                "Accuracy %.3f -> %.3f with the strongest sink of each head hidden, %+.3f [%.3f, %.3f]: %+.3f "
                "more than with as many random keys, %+.3f more than with keys of like attention. Loss %+.3f. %s.",
                accuracy.before, accuracy.after, sinks.mean, sinks.low, sinks.high, accuracy.contrasts.front().mean,
                accuracy.contrasts.back().mean, loss.rows.empty() ? 0.0 : loss.rows[0].mean,
                ("H" + sinks.note.substr(sinks.note.find("hidden") + 1)).c_str());
        };
        judge_one(spared, dlm);
        judge_one(block, models(all, p.corpus, p.size, "block"));

        auto const by_rule = add_masking(ruined, arm, p.words, outcome, "sinks", controls);
        auto const by_row = add_masking(ruined, arm, p.words, outcome, "last row", for_row);
        add_masking(ruined, arm, p.words, "loss", "sinks", once);
        add_masking(ruined, arm, p.words, "loss", "last row", for_row);
        if (by_row.rows.empty()) continue;
        figure const more = over_models(
            text("%s, K = 1: share of accuracy kept, twin (last row) - diffusion model (sinks)", p.words),
            kept_difference(dlm, {outcome, "sinks", 1}, arm, {outcome, "last row", 1}), "pairs of one seed");
        ruined.ours.push_back(more);
        ruined.ours.push_back(
            over_models(text("%s, K = 1: share of accuracy kept, twin (sinks) - diffusion model (sinks)", p.words),
                        kept_difference(dlm, {outcome, "sinks", 1}, arm, {outcome, "sinks", 1}), "pairs of one seed"));
        figure const& fall = by_row.rows[0];
        bool const gone = below(fall, -by_row.before / 2), there = above(fall, -by_row.before / 2);
        bool const special = below(by_row.contrasts[0], 0) && below(by_row.contrasts[1], 0);
        finding& f = ruined.found[p.words];
        f.seeds = static_cast<int>(arm.size());
        f.verdict = verdict_of(gone && special, there && by_row.hidden.row_mass >= least_dose);
        f.reason =
            text("Accuracy %.3f -> %.3f, %+.3f [%.3f, %.3f], when the key is chosen from the last token's row, and -> "
                 "%.3f when by the rule for columns. The twin keeps %.0f %% of its accuracy, the diffusion model "
                 "without its strongest sinks %.0f %%: %+.0f points [%.0f, %.0f].",
                 by_row.before, by_row.after, by_row.rows[0].mean, by_row.rows[0].low, by_row.rows[0].high,
                 by_rule.after, 100 * basin::detail::mean_of(kept(arm, {outcome, "last row", 1})),
                 100 * basin::detail::mean_of(kept(dlm, {outcome, "sinks", 1})), 100 * more.mean, 100 * more.low,
                 100 * more.high);
    }
    for (claim* const c : {&spared, &ruined, &block}) correct(c->ours, "over texts");
    return {spared, ruined, block};
}

} // namespace reproduce
