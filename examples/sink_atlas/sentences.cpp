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

curve const* results::curve_of(std::string const& id) const {
    auto const at = std::find_if(curves.begin(), curves.end(), [&](curve const& c) { return c.id == id; });
    return at == curves.end() ? nullptr : &*at;
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
    auto const share = [&](char const* id) {
        curve const* const c = r.curve_of(id);
        return c == nullptr ? std::nan("") : 100 * c->share[static_cast<std::size_t>(at)];
    };
    double const filtered = 100 - share("dlm");
    std::string text = said("At epsilon = 3, %.1f %% of the keys are filtered out and %.2f %% are sinks; the first "
                            "paper chose 3 because at least "
                            "96 %% are filtered, which %s here.",
                            filtered, share("dlm"), filtered >= 96 ? "holds" : "does not hold");
    if (r.curve_of("new") != nullptr) text += said(" The same model untrained has %.2f %%.", share("new"));
    if (r.curve_of("even") != nullptr)
        text += said(" In the autoregressive twin it is %.2f %%, each weight set against what uniform attention would "
                     "pay, which has none then. On raw column sums it is %.2f %%, but there uniform attention, which "
                     "has learned nothing, has %.2f %% too: early keys are seen by more queries.",
                     share("arm"), share("raw"), share("even"));
    return text;
}

std::string say_motion(results const& r) {
    if (r.motion.size() < 3) return "There is nothing to compare with. " + r.absent.arm;
    auto const &dlm = r.motion[0], &arm = r.motion[1], &raw = r.motion[2];
    auto const part = [](double x) {
        return std::isnan(x) ? std::string("none (no sinks)") : said("%.0f %%", 100 * x);
    };
    std::string text = "Of the sinks of one step, " + part(dlm.path.stays) +
                       " are sinks of the same head at the next in the diffusion model, " + part(arm.path.stays) +
                       " in its autoregressive twin, and " + part(raw.path.stays) +
                       " in the twin on raw column sums, where uniform attention has " + part(raw.even.stays) + ".";
    double const d = 1 - dlm.path.stays, a = 1 - arm.path.stays;
    if (std::isnan(d) || std::isnan(a))
        text += " So nothing follows about which of the two move.";
    else if (a < 0.5 * d)
        text += " In this text those of the twin change less, as the papers say.";
    else
        text += " That those of the twin stand still, as the papers say, is not seen here.";
    return text + " The variances alone do not tell: in a text that grows, sinks that keep to the newest words keep "
                  "their place, one that stays on its key falls back, and keys that came late are seen by their "
                  "neighbours only. One text of each; a step of the twin adds one token, one of the diffusion model "
                  "decides more.";
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

constexpr char const* claim = "\u201cdiffusion is spared, its twin is not\u201d";

/// What a claim comes to when its numbers are intervals.
char const* verdict(bool holds, bool fails) {
    return holds ? "holds in this run" : fails ? "does not hold in this run" : "cannot be seen in this run";
}

std::string value(effect const& e, char const* format) {
    if (!std::isfinite(e.mean)) return "did not exist";
    auto const one = [&](double x) {
        char text[32];
        std::snprintf(text, sizeof text, format, x);
        return std::string(text);
    };
    return one(e.mean) + " [" + one(e.low) + ", " + one(e.high) + "]";
}

std::string control_of(masking_result const& m, std::size_t condition, char const* format) {
    if (m.series[condition].empty()) return "did not exist";
    return value(m.series[condition].front(), format);
}

/// The paired change by hiding sinks as a part of what there was with nothing hidden; NaN if it was not measured.
effect change_by_sinks(masking_result const& m, std::string const& sinks, int count) {
    std::string const name = sinks + " (K = " + std::to_string(count) + ") - nothing";
    for (auto const& c : m.report)
        if (c.name == name && m.before.mean > 0)
            return {c.mean / m.before.mean, c.range.low / m.before.mean, c.range.high / m.before.mean, 0};
    double const none = std::nan("");
    return {none, none, none, none};
}

std::string percent(effect const& e) { return said("%.1f %% [%.1f, %.1f]", 100 * e.mean, 100 * e.low, 100 * e.high); }

/// The first paper takes the twin's sinks from what its last token sees.
char const* how_chosen = " Sinks are chosen by what their columns receive, in the twin too; the first paper takes the "
                         "twin's from its last row.";

std::string say_masking(results const& r) {
    if (r.masking.empty()) return "";
    auto const one = [&](masking_result const& m) {
        return m.model + " " + control_of(m, 0, "%+.3f") +
               " nats (as many other keys at random: " + control_of(m, 1, "%+.3f") + ")";
    };
    std::string text = "Hiding the strongest sink of every head changes the loss: " + one(r.masking[0]);
    if (r.masking.size() > 1) text += "; " + one(r.masking[1]);
    text += ".";
    if (r.masking.size() < 2) return text;
    effect const dlm = change_by_sinks(r.masking[0], masking_conditions()[0], r.counts.back()),
                 arm = change_by_sinks(r.masking[1], masking_conditions()[0], r.counts.back());
    bool const seen = dlm.low > 0 && arm.low > 0; // half of a change says nothing if the change may be none
    return text +
           said(" With K = %d it is %s and %s of the loss: %s %s%s.", r.counts.back(), percent(dlm).c_str(),
                percent(arm).c_str(), claim,
                verdict(seen && dlm.high < 0.5 * arm.low, seen && dlm.low >= 0.5 * arm.high),
                seen ? "" : ", where not both changes are above 0") +
           how_chosen;
}

std::string say_answers(results const& r) {
    if (r.answers.empty()) return "";
    auto const one = [&](masking_result const& m) {
        return m.model + " " + control_of(m, 0, "%.2f") + said(" instead of %.2f", m.before.mean) +
               " (other keys: " + control_of(m, 1, "%.2f") + ")";
    };
    std::string text =
        "Three words are to be copied, reversed and sorted. Answers that are right without the strongest "
        "sink of every head: " +
        one(r.answers[0]);
    if (r.answers.size() > 1) text += "; " + one(r.answers[1]);
    text += ".";
    if (r.answers.size() < 2) return text;
    for (masking_result const& m : r.answers)
        if (!(m.before.mean > 0))
            return text + " A model without right answers can lose none: nothing follows about sinks.";
    auto const kept = [&](masking_result const& m) {
        effect const e = change_by_sinks(m, answer_conditions()[0], r.counts.front());
        return effect{1 + e.mean, 1 + e.low, 1 + e.high, 0};
    };
    effect const dlm = kept(r.answers[0]), arm = kept(r.answers[1]);
    return text +
           said(" They keep %s and %s of their answers: %s %s.", percent(dlm).c_str(), percent(arm).c_str(), claim,
                verdict(dlm.low > 0.9 && arm.high < 0.5, dlm.high <= 0.9 || arm.low >= 0.5)) +
           how_chosen;
}

std::string say_token(results const& r) {
    if (r.after.empty()) return "";
    double before = 0, token = 0, rest = 0;
    for (std::size_t i = 0; i < r.after.size(); ++i) {
        before += r.before[i].sinks;
        token += r.after[i].keys;
        rest += r.after[i].sinks;
    }
    double const n = static_cast<double>(r.after.size());
    double const even = static_cast<double>(r.tokens_after) / r.rows_after; // of queries that see every key
    bool const one = r.tokens_after == 1;
    std::string text = one ? std::string("The sink token takes") : said("The %d sink tokens take", r.tokens_after);
    text += said(" %.1f %% of what the tokens of the text pay (an even share would be %.1f %%); other sinks take "
                 "%.1f %% beside %s, %.1f %% without. ",
                 100 * token / n, 100 * even, 100 * rest / n, one ? "it" : "them", 100 * before / n);
    text += token / n < 3 * even  ? "That is less than three even shares: hardly used."
            : rest < 0.5 * before ? "It takes over, as the second paper says."
                                  : "Used, but the others are not replaced.";
    return text + " The two models were trained apart, so a head of one need not do what the same head of the other "
                  "does.";
}

} // namespace

sentences say(results const& r) {
    return {say_map(r),   say_overview(r), say_holders(r), say_sweep(r), say_motion(r),
            say_norms(r), say_answers(r),  say_masking(r), say_token(r)};
}

} // namespace sink_atlas
