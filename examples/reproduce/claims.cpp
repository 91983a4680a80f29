// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#include "claims.hpp"
#include "statistics.hpp"

#include <cmath>

namespace reproduce {
namespace {

/// How many maps of attention that prefers nobody have a sink by the same rule.
std::string uniform_note(std::vector<result const*> const& list, std::string const& prefix) {
    return text("uniform attention: %.3f", basin::detail::mean_of(column(list, prefix + "uniform_maps_with_sink")));
}

claim sweep(results const& all) {
    claim c{
        "a", "Sinks exist, and epsilon = 3 leaves at most 4 % of all keys.",
        "at least 96 % of tokens are filtered out at epsilon = 3",
        "Holds if less than 4 % of keys are left and more than 5 % of maps have a sink, each with its whole interval; "
        "does not hold if one of the two is wrong with its whole interval; else it cannot be seen."};
    for (setting const& p : places) {
        auto const list = models(all, p.corpus, p.size, "dlm");
        if (list.empty()) continue;
        for (std::size_t i = 0; i < std::size(sweep_epsilons); ++i)
            c.ours.push_back(over_models(text("%s: share of keys above epsilon = %g", p.words, sweep_epsilons[i]),
                                         column(list, "sweep", i)));
        c.ours.push_back(over_models(text("%s: maps with a sink", p.words), column(list, "maps_with_sink"),
                                     "uniform attention: none"));
        auto const arm = models(all, p.corpus, p.size, "arm");
        for (char const* const way : {"", "raw."}) {
            if (arm.empty()) break;
            std::string const w = way;
            std::string const words = text("%s, twin, %s: ", p.words, w.empty() ? "against uniform" : "raw columns");
            c.ours.push_back(over_models(words + "share of keys above epsilon = 3", column(arm, w + "sweep", 3)));
            c.ours.push_back(
                over_models(words + "maps with a sink", column(arm, w + "maps_with_sink"), uniform_note(arm, w)));
        }
        for (std::size_t i = 0; i < std::size(token_class_names); ++i) {
            auto const share =
                over_models(text("%s: sinks on %s", p.words, token_class_names[i]), column(list, "classes", i));
            if (share.mean > 0.005) c.ours.push_back(share);
        }
        figure const left = over_models("", column(list, "sweep", 3)),
                     maps = over_models("", column(list, "maps_with_sink"));
        finding& f = c.found[p.words];
        f.seeds = left.pairs;
        f.verdict = verdict_of(below(left, 0.04) && above(maps, 0.05), above(left, 0.04) || below(maps, 0.05));
        f.reason =
            text("At epsilon = 3 %.2f %% of keys are left [%.2f, %.2f], and %.0f %% of all maps have a sink "
                 "[%.0f, %.0f].",
                 100 * left.mean, 100 * left.low, 100 * left.high, 100 * maps.mean, 100 * maps.low, 100 * maps.high);
    }
    return c;
}

std::vector<claim> motion(results const& all) {
    claim moves{
        "b1", "The sinks of a diffusion model move while it writes.",
        "moving sinks in LLaDA and Dream; some live one step only",
        "Holds if fewer than 97 % of the sinks stay for a thirty-second of the writing, which is 97 % to the power of "
        "32 / steps from one step to the next, with the whole interval; does not hold if more do; else it cannot be "
        "seen.",
        5};
    claim still{
        "b2", "Those of an autoregressive model stand still.", "the first token, throughout",
        "Columns against those of uniform attention. Holds if, pair by pair of one seed, both more sinks stay for a "
        "step than in the diffusion model and the strongest stays more often, each with the whole interval above 0; "
        "does not hold if one of the two is below 0 with its whole interval and the other not above; else it cannot "
        "be seen.",
        5};
    for (setting const& p : places) {
        auto const dlm = models(all, p.corpus, p.size, "dlm"), arm = models(all, p.corpus, p.size, "arm");
        if (dlm.empty()) continue;
        auto const both = [&](claim& to, std::vector<result const*> const& list, std::string const& words,
                              std::string const& prefix) {
            to.ours.push_back(
                over_models(words + ": sinks that are still sinks one step later", column(list, prefix + "survival")));
            to.ours.push_back(
                over_models(words + ": strongest sink is the same one step later", column(list, prefix + "top_stays")));
            to.ours.push_back(over_models(words + ": temporal variance", column(list, prefix + "temporal")));
        };
        both(moves, dlm, p.words, "");
        moves.ours.push_back(over_models(text("%s: life in steps", p.words), column(dlm, "life"),
                                         text("of %.0f", dlm[0]->numbers.at("steps")[0])));
        moves.ours.push_back(over_models(text("%s: lives of one step", p.words), column(dlm, "single_step")));
        figure const stay = over_models("", column(dlm, "survival")), life = over_models("", column(dlm, "life"));
        finding& m = moves.found[p.words];
        m.seeds = stay.pairs;
        double const limit = std::pow(0.97, 32 / dlm[0]->numbers.at("steps")[0]);
        m.verdict = verdict_of(below(stay, limit), above(stay, limit));
        m.reason =
            text("From one step to the next %.1f %% of the sinks stay [%.1f, %.1f], the limit is %.1f; a sink lives "
                 "%.1f of %.0f steps [%.1f, %.1f].",
                 100 * stay.mean, 100 * stay.low, 100 * stay.high, 100 * limit, life.mean,
                 dlm[0]->numbers.at("steps")[0], life.low, life.high);

        if (arm.empty()) continue;
        for (char const* const way : {"", "raw."}) {
            std::string const w = way;
            std::string const words = text("%s, %s", p.words, w.empty() ? "against uniform" : "raw columns");
            both(still, arm, words, w);
            for (char const* const what : {"survival", "top_stays"})
                still.ours.push_back(over_models(text("%s: %s, more than in the diffusion model", words.c_str(),
                                                      what[0] == 's' ? "sinks that stay" : "strongest stays"),
                                                 paired(dlm, what, arm, w + what), "pairs of one seed"));
            still.ours.push_back(
                over_models(words + ": maps with a sink", column(arm, w + "maps_with_sink"), uniform_note(arm, w)));
        }
        figure const last = over_models("", paired(dlm, "survival", arm, "survival")),
                     top = over_models("", paired(dlm, "top_stays", arm, "top_stays"));
        finding& f = still.found[p.words];
        f.seeds = last.pairs;
        f.verdict = verdict_of(above(last, 0) && above(top, 0),
                               (below(last, 0) && !above(top, 0)) || (below(top, 0) && !above(last, 0)));
        f.reason =
            text("Against uniform attention, %.0f %% of the twin's sinks stay for a step, %+.1f points "
                 "[%.1f, %.1f] against the diffusion model; the strongest one stays in %.0f %%, %+.1f points [%.1f, "
                 "%.1f]. Raw sums say %.0f %% and %.0f %%.",
                 100 * basin::detail::mean_of(column(arm, "survival")), 100 * last.mean, 100 * last.low,
                 100 * last.high, 100 * basin::detail::mean_of(column(arm, "top_stays")), 100 * top.mean, 100 * top.low,
                 100 * top.high, 100 * basin::detail::mean_of(column(arm, "raw.survival")),
                 100 * basin::detail::mean_of(column(arm, "raw.top_stays")));
    }
    return {moves, still};
}

claim norms(results const& all) {
    claim c{
        "d", "Sinks have values of small norm, so attending to them does little.",
        "LLaDA about 2.4 against 7 to 8, Dream about 3.0 against 7 to 8.5",
        "Heads with sinks in a tenth of the maps of even texts; on odd texts the norm of their sinks' values over that "
        "of other keys, one mean for each model. Holds if it is below 0.9 with the whole interval over models; does "
        "not hold if it is above; else it cannot be seen."};
    for (setting const& p : places) {
        auto const list = models(all, p.corpus, p.size, "dlm");
        auto const heads = sink_heads(list);
        if (heads.ratio.empty()) continue;
        double low = 0;
        for (double const r : heads.ratio) low += r < 0.8 ? 1 : 0;
        double const share = low / static_cast<double>(heads.ratio.size());
        std::vector<double> of_models; // heads of one model are not independent
        for (result const* r : list) {
            if (auto const own = sink_heads({r}).ratio; !own.empty()) of_models.push_back(basin::detail::mean_of(own));
        }
        figure const ratio = over_models(text("%s: norm of sinks / norm of other keys", p.words), of_models, "models");
        c.ours.push_back(ratio);
        c.ours.push_back(
            over_models(text("%s: norm of sinks / norm of other keys, by head", p.words), heads.ratio, "heads"));
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
        finding& f = c.found[p.words];
        f.seeds = ratio.pairs;
        f.verdict = verdict_of(below(ratio, 0.9), above(ratio, 0.9));
        f.reason =
            text("The values of sinks are %.2f times as long as those of other keys [%.2f, %.2f], over %d models; "
                 "of their %zu heads with sinks %.0f %% are below 0.8.",
                 ratio.mean, ratio.low, ratio.high, ratio.pairs, heads.ratio.size(), 100 * share);
    }
    return c;
}

} // namespace

std::vector<claim> judge_sinks(results const& all) {
    std::vector<claim> list = motion(all);
    list.insert(list.begin(), sweep(all));
    list.push_back(norms(all));
    return list;
}

std::vector<claim> judge(results const& all) {
    std::vector<claim> list;
    for (auto const& part : {judge_sinks(all), judge_masking(all), judge_tokens(all)})
        list.insert(list.end(), part.begin(), part.end());
    std::sort(list.begin(), list.end(), [](claim const& a, claim const& b) { return a.letter < b.letter; });
    for (claim& c : list) {
        for (auto& [words, f] : c.found) {
            if (f.seeds < 3) f.verdict = not_measured; // figures, but no verdict
        }
    }
    return list;
}

} // namespace reproduce
