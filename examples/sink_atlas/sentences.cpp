// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#include "results.hpp"

#include <algorithm>
#include <cmath>
#include <cstdarg>

namespace sink_atlas {

std::string said(char const* format, ...) {
    char text[1024];
    std::va_list arguments;
    va_start(arguments, format);
    std::vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return text;
}

int results::first_head() const {
    auto const score = [](head_summary const& h) { return (1 + h.moves) * std::sqrt(std::max(0.0, h.absorbed)); };
    return static_cast<int>(
        std::max_element(heads.begin(), heads.end(),
                         [&](head_summary const& a, head_summary const& b) { return score(a) < score(b); }) -
        heads.begin());
}

namespace {

std::string place(results const& r, int index) {
    return said("layer %d, head %d", index / r.run.heads + 1, index % r.run.heads + 1);
}

std::string say_map(results const& r) {
    int const first = r.first_head();
    auto const& h = r.heads[static_cast<std::size_t>(first)];
    int dead = 0;
    for (auto const& l : r.run.tracks.lives())
        if (l.layer * r.run.heads + l.head == first && !l.alive()) ++dead;
    if (h.births == 0) return "No head had a sink by this rule: the maps are close to even.";
    return said("Rows are denoising steps, columns are positions of the text. In %s, %d sinks are born, they move %s, "
                "and %d die before the text is finished; together they take %.0f %% of the attention of this head.",
                place(r, first).c_str(), h.births,
                (h.moves == 1 ? std::string("once") : said("%d times", h.moves)).c_str(), dead, 100 * h.absorbed);
}

std::string say_overview(results const& r) {
    int with = 0;
    std::size_t calm = 0, restless = 0;
    for (std::size_t i = 0; i < r.heads.size(); ++i) {
        if (r.heads[i].births > 0) ++with;
        if (r.heads[i].restless < r.heads[calm].restless) calm = i;
        if (r.heads[i].restless > r.heads[restless].restless) restless = i;
    }
    return said("%d of %zu heads have a sink at some step. The favourite key of %s changes at %.0f %% of the steps, "
                "that of %s at "
                "%.0f %%.",
                with, r.heads.size(), place(r, static_cast<int>(restless)).c_str(), 100 * r.heads[restless].restless,
                place(r, static_cast<int>(calm)).c_str(), 100 * r.heads[calm].restless);
}

std::string say_holders(results const& r) {
    holder const* over = nullptr;
    for (holder const& h : r.holders)
        if (h.sinks >= 0.02 && h.tokens > 0 && (over == nullptr || h.sinks / h.tokens > over->sinks / over->tokens))
            over = &h;
    if (over == nullptr) return "There were no sinks by this rule.";
    holder const& most = r.holders.front();
    std::string text = said("%s holds most sinks: %.0f %% of them, and it is %.0f %% of the tokens.", most.kind.c_str(),
                            100 * most.sinks, 100 * most.tokens);
    text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
    text += said(" Compared with chance it is %s, %.1f times as often as its number would give.",
                 over == &most ? "again first" : over->kind.c_str(), over->sinks / over->tokens);
    double sinks = 0, tokens = 0;
    for (holder const& h : r.holders) {
        if (h.kind == "word" || h.kind == "letter") continue;
        sinks += h.sinks;
        tokens += h.tokens;
    }
    return text + said(" The first paper finds sinks on punctuation, line breaks and special tokens: here these hold "
                       "%.0f %% of the "
                       "sinks and are %.0f %% of the tokens.",
                       100 * sinks, 100 * tokens);
}

std::string say_sweep(results const& r) {
    auto const at = std::find(r.thresholds.begin(), r.thresholds.end(), 3.0) - r.thresholds.begin();
    auto const share = [&](std::size_t c) { return r.curves[c].share[static_cast<std::size_t>(at)]; };
    double const filtered = 100 * (1 - share(0));
    std::string text = said("At epsilon = 3, %.1f %% of the keys are filtered out and %.2f %% are sinks; the first "
                            "paper chose 3 because at least "
                            "96 %% are filtered, which %s here.",
                            filtered, 100 * share(0), filtered >= 96 ? "holds" : "does not hold");
    text += said(" The same model untrained has %.2f %%.", 100 * share(r.curves.size() - 1));
    if (r.curves.size() > 2)
        text += said(" In the autoregressive twin it is %.2f %%, and %.2f %% on raw column sums, which favour early "
                     "keys whatever the "
                     "weights are.",
                     100 * share(1), 100 * share(2));
    return text;
}

std::string say_motion(results const& r) {
    if (r.motion.size() < 3) return "Only one model was there, so there is nothing to compare.";
    double const dlm = r.motion[0].path.temporal, arm = r.motion[1].path.temporal, raw = r.motion[2].path.temporal;
    std::string text = said(
        "The centre of the sinks has a temporal variance of %.0f in the diffusion model, %.0f in the autoregressive "
        "twin, whose text grows from left to right, and %.0f in the twin on raw column sums.",
        dlm, arm, raw);
    if (raw < 0.5 * dlm && arm >= 0.5 * dlm)
        return text + " \u201cSinks of autoregressive models stand still\u201d comes here mostly from the raw sums: "
                      "divided by the queries that see a "
                      "key, they move as well.";
    if (arm < 0.5 * dlm) return text + " Sinks move in diffusion, and much less in the twin, as the papers say.";
    return text + " The papers find that sinks move in diffusion and stand still in the twin: not so at this size.";
}

std::string say_norms(results const& r) {
    std::vector<double> ratios;
    for (auto const& h : r.heads)
        if (std::isfinite(h.norm_ratio)) ratios.push_back(h.norm_ratio);
    if (ratios.empty()) return "There were no sinks by this rule.";
    std::sort(ratios.begin(), ratios.end());
    auto const low = std::count_if(ratios.begin(), ratios.end(), [](double x) { return x < 0.8; });
    double const middle = ratios[ratios.size() / 2];
    return said("Sinks have %.2f times the value norm of other tokens in the middle head; in %ld of %zu heads with "
                "sinks they carry less than 0.8 "
                "times as much. %s",
                middle, static_cast<long>(low), ratios.size(),
                middle < 0.8 ? "So most are the silent sinks of the second paper."
                : low > 0
                    ? "The silent sinks of the second paper are there, in a minority of heads: averages hide them."
                    : "The silent sinks of the second paper are not seen at this size.");
}

std::string say_masking(results const& r) {
    if (r.masking.empty()) return "";
    auto const one = [&](masking_result const& m) {
        effect const &sinks = m.series[0].front(), &control = m.series[1].front();
        return said("%s %+.3f nats [%.3f, %.3f] (as many other keys: %+.3f)", m.model.c_str(), sinks.mean, sinks.low,
                    sinks.high, control.mean);
    };
    std::string text = "Hiding the strongest sink of every head changes the loss: " + one(r.masking[0]);
    if (r.masking.size() > 1) text += "; " + one(r.masking[1]);
    text += ".";
    auto const relative = [](masking_result const& m) { return m.series[0].back().mean / m.before.mean; };
    if (r.masking.size() > 1) {
        bool const spared = relative(r.masking[0]) < 0.5 * relative(r.masking[1]);
        text += said(" With K = %d it is %.1f %% and %.1f %% of the loss: \u201cdiffusion is spared, its twin is "
                     "not\u201d %s at this size.",
                     r.counts.back(), 100 * relative(r.masking[0]), 100 * relative(r.masking[1]),
                     spared ? "holds" : "does not hold");
    }
    return text;
}

std::string say_answers(results const& r) {
    if (r.answers.empty()) return "";
    auto const one = [&](masking_result const& m) {
        effect const &sinks = m.series[0].front(), &control = m.series[1].front();
        return said("%s %.2f [%.2f, %.2f] instead of %.2f (other keys: %.2f)", m.model.c_str(), sinks.mean, sinks.low,
                    sinks.high, m.before.mean, control.mean);
    };
    std::string text =
        "Three words are to be copied, reversed and sorted. Answers that are right without the strongest "
        "sink of every head: " +
        one(r.answers[0]);
    if (r.answers.size() > 1) text += "; " + one(r.answers[1]);
    text += ".";
    auto const kept = [](masking_result const& m) { return m.series[0].front().mean / std::max(1e-9, m.before.mean); };
    if (r.answers.size() > 1) {
        double const dlm = kept(r.answers[0]), arm = kept(r.answers[1]);
        text +=
            said(" They keep %.0f %% and %.0f %% of their answers: \u201cdiffusion is spared, its twin is not\u201d %s "
                 "at this size.",
                 100 * dlm, 100 * arm, dlm > 0.9 && arm < 0.5 ? "holds" : "does not hold");
    }
    return text;
}

std::string say_token(results const& r) {
    if (r.after.empty()) return "";
    double before = 0, token = 0, rest = 0;
    for (std::size_t i = 0; i < r.after.size(); ++i) {
        before += r.before[i].sinks;
        token += r.after[i].key;
        rest += r.after[i].sinks;
    }
    double const n = static_cast<double>(r.after.size()), uniform = 1.0 / r.rows_after;
    return said(
        "The sink token takes %.1f %% of all attention (an even share would be %.1f %%); other sinks take %.1f %% "
        "beside it, %.1f %% without "
        "it. %s The two models were trained apart, so a head of one need not do what the same head of the other does.",
        100 * token / n, 100 * uniform, 100 * rest / n, 100 * before / n,
        token / n < 3 * uniform ? "It is hardly used."
        : rest < 0.5 * before   ? "It takes over, as the second paper says."
                                : "It is used, but it does not replace the others.");
}

} // namespace

sentences say(results const& r) {
    return {say_map(r),   say_overview(r), say_holders(r), say_sweep(r), say_motion(r),
            say_norms(r), say_answers(r),  say_masking(r), say_token(r)};
}

} // namespace sink_atlas
