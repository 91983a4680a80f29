// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#include "claims.hpp"
#include "statistics.hpp"

namespace reproduce {
namespace {

constexpr auto extra = static_cast<std::size_t>(token_class::extra);

std::vector<claim> token(results const& all) {
    claim drawn{
        "e1", "One extra token that sees only itself draws the sinks to itself.", "the sinks move to the token",
        "Holds if more than half of the detected sinks are the token, with the whole interval; else it does not hold.",
        5};
    claim better{
        "e2", "It makes the model better.", "0.5 B: ARC-e 44.7 -> 55.5, GSM8K 46.9 -> 49.2",
        "Holds if the loss is lower with the token, pair by pair of one seed, with the whole interval; does not hold "
        "if it is higher; else, or with fewer than five pairs, it cannot be seen.",
        5};
    for (setting const& p : places) {
        auto const none = models(all, p.corpus, p.size, "dlm"), with = models(all, p.corpus, p.size, "token");
        if (with.empty() || none.empty()) continue;
        figure const share =
            over_models(text("%s: share of all sinks that are the token", p.words), column(with, "classes", extra));
        drawn.ours.push_back(share);
        drawn.ours.push_back(over_models(text("%s: its share of all attention", p.words), column(with, "extra_mass"),
                                         text("uniform: %.3f", 1 / (with[0]->numbers.at("shape")[3] + 1))));
        drawn.ours.push_back(over_models(text("%s: maps with a sink, with - without the token", p.words),
                                         paired(none, "maps_with_sink", with, "maps_with_sink"), "pairs of one seed"));
        figure const loss = over_models(text("%s: loss, with - without", p.words), paired(none, "loss", with, "loss"),
                                        "pairs of one seed");
        better.ours.push_back(loss);
        better.ours.push_back(over_models(text("%s: accuracy, with - without", p.words),
                                          paired(none, "accuracy", with, "accuracy"), "pairs of one seed"));
        finding& d = drawn.found[p.words];
        d.seeds = share.pairs;
        d.verdict = above(share, 0.5) ? holds : fails;
        d.reason =
            text("%.0f %% of the detected sinks are the token [%.0f, %.0f]; the others stand on other keys. It gets "
                 "%.1f %% of all attention.",
                 100 * share.mean, 100 * share.low, 100 * share.high,
                 100 * basin::detail::mean_of(column(with, "extra_mass")));
        finding& b = better.found[p.words];
        b.seeds = loss.pairs;
        b.verdict = loss.pairs < 5 ? unseen : below(loss, 0) ? holds : above(loss, 0) ? fails : unseen;
        b.reason = text("Loss %+.4f [%.4f, %.4f] over %d pairs of seeds.", loss.mean, loss.low, loss.high, loss.pairs);
    }
    return {drawn, better};
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
        std::vector<figure> rows = {
            over_models(words + "loss, with - without", paired(none, "loss", list, "loss"), "pairs of one seed"),
            over_models(words + "accuracy, with - without", paired(none, "accuracy", list, "accuracy"),
                        "pairs of one seed")};
        if (std::string_view(v.name) != "token")
            rows.push_back(over_models(words + "loss, more than with one token in front",
                                       paired(of("token"), "loss", list, "loss"), "pairs of one seed"));
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
    figure const one = over_models("", paired(none, "loss", of("token"), "loss"));
    auto const clear = [](figure const& f) { return below(f, 0) || above(f, 0); };
    std::string list; // of all that are compared with one token in front
    auto const against_one = [&](char const* name) {
        figure x = over_models("", paired(of("token"), "loss", of(name), "loss"));
        for (variant_name const& v : sink_variants()) {
            if (std::string_view(v.name) == name)
                list += text("%s%s %+.4f [%.4f, %.4f]", list.empty() ? "" : ", ", v.words, x.mean, x.low, x.high);
        }
        return x;
    };
    std::string const start =
        text("One token in front changes the loss by %+.4f [%.4f, %.4f] over %d seeds%s; against it: ", one.mean,
             one.low, one.high, one.pairs, below(one, 0) ? "" : ", too little to compare others with it");
    finding f, g;
    bool differs = false;
    f.seeds = one.pairs;
    for (char const* const name : {"token_middle", "token_end", "token_2", "token_4"}) {
        figure const x = against_one(name);
        f.seeds = std::min(f.seeds, x.pairs);
        differs = differs || clear(x);
    }
    f.verdict = !below(one, 0) ? unseen : differs ? fails : holds;
    f.reason = start + list + ".";
    if (f.seeds > 0) where.found[p.words] = f;
    list.clear();
    figure const zero = against_one("zero_value"), gate = against_one("gate");
    for (char const* const name : {"logit", "off_by_one", "registers"}) (void)against_one(name);
    g.seeds = std::min({one.pairs, zero.pairs, gate.pairs});
    g.verdict = !below(one, 0) ? unseen : !clear(zero) && above(gate, 0) ? holds : fails;
    g.reason = start + list + ".";
    if (g.seeds > 0) kinds.found[p.words] = g;
}

std::vector<claim> variants(results const& all) {
    claim where{
        "f", "Neither the place of the token nor the number of tokens matters.",
        "ARC-e: front 55.47, end 56.14; 0 / 1 / 2 / 4 tokens 44.70 / 55.47 / 54.76 / 55.39",
        "By loss, pair by pair of one seed, and only if one token in front lowers it (else it cannot be seen). "
        "Holds if no other place or number differs from one token in front for all seeds in the same direction; "
        "else it does not hold."};
    claim kinds{"g", "A sink without a value does as well as a token; gating helps less.",
                "ARC-e: token 55.47, zero-value 55.68, gate 47.85, none 44.70",
                "By loss, pair by pair of one seed, and only if one token in front lowers it (else it cannot be seen). "
                "Holds if the key without a value does not differ from the token for all seeds in the same direction, "
                "and gating is worse for all seeds; else it does not hold."};
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
