// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#include "claims.hpp"
#include "statistics.hpp"

#include <cstdio>

namespace reproduce {
namespace {

std::string text(char const* format, auto... values) {
    char line[1000];
    std::snprintf(line, sizeof line, format, values...);
    return line;
}
std::string const holds = "holds", fails = "does not hold", unseen = "cannot be seen at this scale",
                  not_measured = "not measured";

/// The three settings in which the models are looked at.
struct setting {
    char const *corpus, *size, *words;
};
constexpr setting places[] = {
    {"tasks", "small", "tasks"}, {"tasks", "large", "tasks, larger models"}, {"words", "committed", "English words"}};

claim sweep(results const& all) {
    claim c{"a",
            "Sinks exist, and epsilon = 3 leaves at most 4 % of all keys.",
            "at least 96 % of tokens are filtered out at epsilon = 3",
            {},
            not_measured,
            {}};
    for (setting const& p : places) {
        auto const list = models(all, p.corpus, p.size, "dlm");
        if (list.empty()) continue;
        for (std::size_t i = 0; i < std::size(sweep_epsilons); ++i)
            c.ours.push_back(over_models(text("%s: share of keys above epsilon = %g", p.words, sweep_epsilons[i]),
                                         column(list, "sweep", i)));
        c.ours.push_back(over_models(text("%s: maps with a sink", p.words), column(list, "maps_with_sink")));
        for (std::size_t i = 0; i < std::size(token_class_names); ++i) {
            auto const share =
                over_models(text("%s: sinks on %s", p.words, token_class_names[i]), column(list, "classes", i));
            if (share.mean > 0.005) c.ours.push_back(share);
        }
    }
    auto const list = models(all, "tasks", "small", "dlm");
    if (list.empty()) return c;
    figure const left = over_models("", column(list, "sweep", 3)),
                 maps = over_models("", column(list, "maps_with_sink"));
    c.verdict = below(left, 0.04) && above(maps, 0.05) ? holds : fails;
    c.reason = text("At epsilon = 3 %.2f %% of keys are left, and %.0f %% of all maps have a sink.", 100 * left.mean,
                    100 * maps.mean);
    return c;
}

std::vector<claim> motion(results const& all) {
    claim moves{"b1",
                "The sinks of a diffusion model move while it writes.",
                "moving sinks in LLaDA and Dream; some live one step only",
                {},
                not_measured,
                {}};
    claim still{"b2", "Those of an autoregressive model stand still.", "the first token, throughout", {}, not_measured,
                {}};
    for (setting const& p : places) {
        auto const dlm = models(all, p.corpus, p.size, "dlm"), arm = models(all, p.corpus, p.size, "arm");
        if (dlm.empty()) continue;
        moves.ours.push_back(
            over_models(text("%s: strongest sink is the same one step later", p.words), column(dlm, "top_stays")));
        moves.ours.push_back(
            over_models(text("%s: sinks that are still sinks one step later", p.words), column(dlm, "survival")));
        moves.ours.push_back(over_models(text("%s: life in steps", p.words), column(dlm, "life"),
                                         text("of %.0f", dlm[0]->numbers.at("steps")[0])));
        moves.ours.push_back(over_models(text("%s: lives of one step", p.words), column(dlm, "single_step")));
        moves.ours.push_back(over_models(text("%s: temporal variance", p.words), column(dlm, "temporal")));
        for (char const* const way : {"", "raw."}) {
            char const* const how = *way == '\0' ? "by visible queries" : "raw columns";
            std::string const w = way;
            still.ours.push_back(over_models(text("%s, %s: strongest sink is the same one step later", p.words, how),
                                             column(arm, w + "top_stays")));
            still.ours.push_back(over_models(text("%s, %s: the same, more than in the diffusion model", p.words, how),
                                             paired(dlm, "top_stays", arm, w + "top_stays"), "pairs of one seed"));
            still.ours.push_back(
                over_models(text("%s, %s: temporal variance", p.words, how), column(arm, w + "temporal")));
            still.ours.push_back(
                over_models(text("%s, %s: maps with a sink", p.words, how), column(arm, w + "maps_with_sink")));
        }
    }
    auto const dlm = models(all, "tasks", "small", "dlm"), arm = models(all, "tasks", "small", "arm");
    if (dlm.empty() || arm.empty()) return {moves, still};
    figure const kept = over_models("", column(dlm, "survival")), life = over_models("", column(dlm, "life"));
    moves.verdict = below(kept, 0.97) ? holds : fails;
    moves.reason = text("From one step to the next %.0f %% of the sinks stay; a sink lives %.1f steps.",
                        100 * kept.mean, life.mean);
    auto const difference = [&](char const* of_arm, char const* of_dlm) {
        return over_models("", paired(dlm, of_dlm, arm, of_arm));
    };
    still.ours.push_back(
        over_models("tasks, by visible queries: sinks that are still sinks one step later", column(arm, "survival")));
    still.ours.push_back(
        over_models("tasks, raw columns: sinks that are still sinks one step later", column(arm, "raw.survival")));
    bool const last = above(difference("survival", "survival"), 0),
               top = above(difference("top_stays", "top_stays"), 0);
    still.verdict = dlm.size() < 3 ? not_measured : last && top ? holds : last || top ? unseen : fails;
    still.reason = text("Divided by the queries that see a key, %.0f %% of the twin's sinks stay for a step against "
                        "%.0f %% in the diffusion model, and the "
                        "strongest one stays in %.0f %% against %.0f %%; raw sums, which favour the first keys by "
                        "themselves, say %.0f %% and %.0f %%. Part of this "
                        "is built in: a step adds one row to a causal map and changes no other, while denoising "
                        "computes all rows anew.",
                        100 * basin::detail::mean_of(column(arm, "survival")), 100 * kept.mean,
                        100 * basin::detail::mean_of(column(arm, "top_stays")),
                        100 * basin::detail::mean_of(column(dlm, "top_stays")),
                        100 * basin::detail::mean_of(column(arm, "raw.survival")),
                        100 * basin::detail::mean_of(column(arm, "raw.top_stays")));
    return {moves, still};
}

/// The rows of one model under masking, and whether one sink already costs more than 3 points.
masking_report add_masking(claim& c, std::vector<result const*> const& list, char const* words,
                           std::string const& outcome, std::string const& treated,
                           std::vector<std::string> const& controls) {
    masking_report first;
    for (int const count : masked_counts) {
        auto const report = compare_masking(list, outcome, treated, controls, count);
        for (auto const* rows : {&report.rows, &report.contrasts})
            for (figure f : *rows) {
                f.words =
                    text("%s, %s, K = %d: %s", words, outcome == "right" ? "accuracy" : "loss", count, f.words.c_str());
                c.ours.push_back(f);
            }
        if (count == masked_counts[0]) first = report;
    }
    return first;
}

std::vector<claim> masking(results const& all) {
    claim spared{"c1",
                 "Hiding its strongest sinks hardly hurts a diffusion model.",
                 "GSM8K with 1 / 5 / 10 hidden: LLaDA .76 -> .75 / .73 / .55, Dream .82 -> .79 / .78 / .75",
                 {},
                 not_measured,
                 {}};
    claim ruined{"c2",
                 "Hiding one sink destroys an autoregressive model.",
                 "GSM8K: Llama-3.1 .85 -> .02 / .02 / .01",
                 {},
                 not_measured,
                 {}};
    claim block{
        "c3", "A block-diffusion model is spared as well.", "LLaDA and MMaDA write in blocks of 32", {}, not_measured,
        {}};
    std::vector<std::string> const controls = {"random", "matched"};
    auto const judge_one = [](claim& c, masking_report const& accuracy) {
        if (accuracy.rows.empty()) return;
        figure const& sinks = accuracy.rows[0];
        c.verdict = above(sinks, -0.03) ? holds : below(sinks, -0.03) ? fails : unseen;
        c.reason = text("Accuracy %.2f -> %.2f with the strongest sink of each head hidden, %+.3f more than with as "
                        "many random keys and %+.3f more "
                        "than with keys of like attention.",
                        accuracy.before, accuracy.after, accuracy.contrasts[0].mean, accuracy.contrasts[1].mean);
    };
    auto const dlm = models(all, "tasks", "small", "dlm"), arm = models(all, "tasks", "small", "arm"),
               blocks = models(all, "tasks", "small", "block");
    judge_one(spared, add_masking(spared, dlm, "tasks", "right", "sinks", controls));
    add_masking(spared, dlm, "tasks", "loss", "sinks", controls);
    judge_one(block, add_masking(block, blocks, "tasks", "right", "sinks", controls));
    add_masking(block, blocks, "tasks", "loss", "sinks", controls);
    auto const by_rule = add_masking(ruined, arm, "tasks", "right", "sinks", controls);
    auto const by_row = add_masking(ruined, arm, "tasks", "right", "last row", controls);
    add_masking(ruined, arm, "tasks", "loss", "sinks", controls);
    if (!by_row.rows.empty()) {
        bool const gone = by_row.before + by_row.rows[0].high < by_row.before / 2;
        bool const more = below(by_row.contrasts[0], 0) && below(by_row.contrasts[1], 0);
        ruined.verdict = gone && more ? holds : gone ? unseen : fails;
        ruined.reason = text("Accuracy %.2f -> %.2f when the key is chosen from the last token's row, as in the paper, "
                             "and -> %.2f when it is "
                             "chosen by the rule for columns. But the diffusion model above loses as much or more.",
                             by_row.before, by_row.after, by_rule.after);
    }
    for (char const* const variant : {"dlm", "arm"})
        add_masking(variant[0] == 'd' ? spared : ruined, models(all, "words", "committed", variant), "English words",
                    "loss", "sinks", controls);
    return {spared, ruined, block};
}

claim norms(results const& all) {
    claim c{"d",
            "Sinks have values of small norm, so attending to them does little.",
            "LLaDA about 2.4 against 7 to 8, Dream about 3.0 against 7 to 8.5",
            {},
            not_measured,
            {}};
    for (setting const& p : places) {
        auto const heads = sink_heads(models(all, p.corpus, p.size, "dlm"));
        if (heads.ratio.empty()) continue;
        double low = 0;
        for (double const r : heads.ratio) low += r < 0.8 ? 1 : 0;
        double const share = low / static_cast<double>(heads.ratio.size());
        c.ours.push_back(over_models(text("%s: norm of sinks / norm of other keys, by head", p.words), heads.ratio,
                                     "heads, judged on other texts than chosen"));
        c.ours.push_back({text("%s: share of heads below 0.8", p.words), share, share, share,
                          static_cast<int>(heads.ratio.size()), false, "heads"});
        if (!heads.quiet.empty())
            c.ours.push_back(
                over_models(text("%s: change of the loss without the sinks of one head, heads below 0.8", p.words),
                            heads.quiet, "heads"));
        if (!heads.loud.empty())
            c.ours.push_back(
                over_models(text("%s: change of the loss without the sinks of one head, other heads", p.words),
                            heads.loud, "heads"));
    }
    auto const heads = sink_heads(models(all, "tasks", "small", "dlm"));
    if (heads.ratio.empty()) return c;
    figure const ratio = over_models("", heads.ratio);
    c.verdict = below(ratio, 0.9) ? holds : fails;
    c.reason = text("On the tasks the values of sinks are %.2f times as long as those of other keys [%.2f, %.2f].",
                    ratio.mean, ratio.low, ratio.high);
    return c;
}

std::vector<claim> token(results const& all) {
    claim drawn{"e1",
                "One extra token that sees only itself draws the sinks to itself.",
                "the sinks move to the token",
                {},
                not_measured,
                {}};
    claim better{"e2", "It makes the model better.", "0.5 B: ARC-e 44.7 -> 55.5, GSM8K 46.9 -> 49.2", {}, not_measured,
                 {}};
    for (setting const& p : places) {
        auto const none = models(all, p.corpus, p.size, "dlm"), with = models(all, p.corpus, p.size, "token");
        if (with.empty()) continue;
        drawn.ours.push_back(over_models(text("%s: share of all sinks that are the token", p.words),
                                         column(with, "classes", static_cast<std::size_t>(token_class::extra))));
        drawn.ours.push_back(over_models(text("%s: its share of all attention", p.words), column(with, "extra_mass"),
                                         text("uniform: %.3f", 1.0 / (with[0]->model.how.model.length + 1))));
        drawn.ours.push_back(over_models(text("%s: maps with a sink, with - without the token", p.words),
                                         paired(none, "maps_with_sink", with, "maps_with_sink"), "pairs of one seed"));
        better.ours.push_back(over_models(text("%s: loss, with - without", p.words), paired(none, "loss", with, "loss"),
                                          "pairs of one seed"));
        better.ours.push_back(over_models(text("%s: accuracy, with - without", p.words),
                                          paired(none, "accuracy", with, "accuracy"), "pairs of one seed"));
    }
    auto const none = models(all, "tasks", "small", "dlm"), with = models(all, "tasks", "small", "token");
    if (none.empty() || with.empty()) return {drawn, better};
    figure const share = over_models("", column(with, "classes", static_cast<std::size_t>(token_class::extra)));
    drawn.verdict = above(share, 0.5) ? holds : fails;
    drawn.reason = text("On the tasks %.0f %% of the detected sinks are the token; the others stand on other keys.",
                        100 * share.mean);
    figure const loss = over_models("", paired(none, "loss", with, "loss"));
    better.verdict = loss.pairs < 5 ? unseen : below(loss, 0) ? holds : above(loss, 0) ? fails : unseen;
    better.reason = text("Loss %+.4f [%.4f, %.4f] over %d pairs of seeds.", loss.mean, loss.low, loss.high, loss.pairs);
    return {drawn, better};
}

/// f and g: the small models of all variants, each against the one without, seed by seed.
std::vector<claim> variants(results const& all) {
    claim where{"f",
                "Neither the place of the token nor the number of tokens matters.",
                "ARC-e: front 55.47, end 56.14; 0 / 1 / 2 / 4 tokens 44.70 / 55.47 / 54.76 / 55.39",
                {},
                not_measured,
                {}};
    claim kinds{"g",
                "A sink without a value does as well as a token; gating helps less.",
                "ARC-e: token 55.47, zero-value 55.68, gate 47.85, none 44.70",
                {},
                not_measured,
                {}};
    auto const none = models(all, "tasks", "small", "dlm");
    std::map<std::string, figure> losses;
    for (variant_name const& v : sink_variants()) {
        auto const list = models(all, "tasks", "small", v.name);
        if (list.empty() || none.empty()) continue;
        claim& c = std::string_view(v.name).starts_with("token") ? where : kinds;
        auto const add = [&](claim& to) {
            to.ours.push_back(over_models(text("%s: loss, with - without", v.words), paired(none, "loss", list, "loss"),
                                          "pairs of one seed"));
            to.ours.push_back(over_models(text("%s: accuracy, with - without", v.words),
                                          paired(none, "accuracy", list, "accuracy"), "pairs of one seed"));
        };
        add(c);
        if (std::string_view(v.name) == "token") add(kinds);
        losses[v.name] = over_models("", paired(none, "loss", list, "loss"));
        auto const share = over_models("", column(list, "classes", static_cast<std::size_t>(token_class::extra)));
        if (share.mean > 0)
            c.ours.push_back(over_models(text("%s: share of all sinks on it", v.words),
                                         column(list, "classes", static_cast<std::size_t>(token_class::extra))));
        auto const escaped = column(list, "escaped");
        if (!escaped.empty() && basin::detail::mean_of(escaped) > 0)
            c.ours.push_back(over_models(text("%s: attention that went to it", v.words), escaped));
    }
    if (losses.count("token") == 0) return {where, kinds};
    figure const& one = losses["token"];
    auto const clear = [](figure const& f) { return below(f, 0) || above(f, 0); };
    auto const against_one = [&](char const* name) {
        return over_models(
            "", paired(models(all, "tasks", "small", "token"), "loss", models(all, "tasks", "small", name), "loss"));
    };
    for (char const* const name : {"token_middle", "token_end", "token_2", "token_4"}) {
        if (against_one(name).pairs < 3) return {where, kinds};
    }
    bool differs = false;
    for (char const* const name : {"token_middle", "token_end", "token_2", "token_4"})
        differs = differs || clear(against_one(name));
    where.verdict = !below(one, 0) ? unseen : differs ? fails : holds;
    where.reason =
        !below(one, 0)
            ? text("The token itself changes the loss by %+.4f [%.4f, %.4f] over %d seeds: too little to compare "
                   "places and numbers.",
                   one.mean, one.low, one.high, one.pairs)
            : text("%s",
                   differs
                       ? "Some place or number differs from one token in front in the same direction for every seed."
                       : "No place or number differs from one token in front in the same direction for every seed.");
    figure const zero = against_one("zero_value"), gate = against_one("gate");
    if (zero.pairs < 3 || gate.pairs < 3) return {where, kinds};
    kinds.verdict = !below(one, 0) ? unseen : !clear(zero) && above(gate, 0) ? holds : fails;
    kinds.reason = text("Loss against the token: zero-value %+.4f [%.4f, %.4f], gate %+.4f [%.4f, %.4f]; the token "
                        "against none %+.4f [%.4f, %.4f].",
                        zero.mean, zero.low, zero.high, gate.mean, gate.low, gate.high, one.mean, one.low, one.high);
    return {where, kinds};
}

} // namespace

std::vector<claim> judge(results const& all) {
    std::vector<claim> list = {sweep(all)};
    for (auto const& part : {motion(all), masking(all), std::vector<claim>{norms(all)}, token(all), variants(all)})
        list.insert(list.end(), part.begin(), part.end());
    for (claim& c : list) {
        if (c.verdict == not_measured)
            c.reason = "Fewer models were trained than a verdict needs: at least three seeds of each variant.";
    }
    return list;
}

} // namespace reproduce
