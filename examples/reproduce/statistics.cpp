// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#include "statistics.hpp"

namespace reproduce {

masking_report compare_masking(std::vector<result const*> const& list, std::string const& outcome,
                               std::string const& treated, std::vector<std::string> const& controls, int count) {
    auto const key = [&](std::string const& what) { return outcome + "." + what + "." + std::to_string(count); };
    std::vector<std::string> conditions = {"nothing", treated};
    conditions.insert(conditions.end(), controls.begin(), controls.end());
    basin::experiment texts(conditions), models(conditions);
    for (std::string const& c : controls) {
        texts.contrast(treated, c);
        models.contrast(treated, c);
    }
    masking_report report;
    for (result const* r : list) {
        if (!has(*r, outcome + ".nothing") || !has(*r, key(treated))) continue;
        auto const& before = r->numbers.at(outcome + ".nothing");
        std::vector<double> means(conditions.size());
        for (std::size_t t = 0; t < before.size(); ++t) {
            std::vector<double> row = {before[t]};
            for (std::size_t c = 1; c < conditions.size(); ++c) row.push_back(r->numbers.at(key(conditions[c]))[t]);
            for (std::size_t c = 0; c < row.size(); ++c) means[c] += row[c] / static_cast<double>(before.size());
            texts.add(row);
        }
        models.add(means);
    }
    if (texts.rows().size() < 5) return report;
    bool const over_models = models.rows().size() >= 5;
    for (auto const& row : texts.rows()) {
        report.before += row[0] / static_cast<double>(texts.rows().size());
        report.after += row[1] / static_cast<double>(texts.rows().size());
    }
    std::string const killed = outcome == "right" ? "killed." : "once_killed.";
    auto const by_text = texts.report(), by_model = over_models ? models.report() : by_text;
    for (std::size_t i = 0; i < by_text.size(); ++i) {
        basin::comparison const& c = by_model[i];
        bool const contrast = i + 1 >= conditions.size();
        figure f{{}, c.mean, c.range.low, c.range.high, c.pairs, true, over_models ? "models" : "texts"};
        if (contrast) {
            f.words = treated + " more than " + controls[i + 1 - conditions.size()];
            f.note += text("; p = %.2g over texts", by_text[i].p_holm);
        } else {
            std::string const what = killed + conditions[i + 1] + "." + std::to_string(count);
            f.words = conditions[i + 1];
            f.note +=
                text("; hidden per map: %.2f keys, %.1f %% of attention", basin::detail::mean_of(column(list, what)),
                     100 * basin::detail::mean_of(column(list, what, 1)));
        }
        (contrast ? report.contrasts : report.rows).push_back(f);
    }
    return report;
}

std::vector<double> kept(std::vector<result const*> const& list, hiding const& how) {
    std::vector<double> shares;
    std::string const key = how.outcome + "." + how.treated + "." + std::to_string(how.count);
    for (result const* r : list) {
        if (!has(*r, key) || !has(*r, how.outcome + ".nothing")) continue;
        double const before = basin::detail::mean_of(r->numbers.at(how.outcome + ".nothing"));
        shares.push_back(before > 0 ? basin::detail::mean_of(r->numbers.at(key)) / before : 0);
    }
    return shares;
}

std::vector<double> kept_difference(std::vector<result const*> const& a, hiding const& how_a,
                                    std::vector<result const*> const& b, hiding const& how_b) {
    std::vector<double> x;
    for (result const* p : a)
        for (result const* q : b) {
            if (p->model.seed != q->model.seed) continue;
            auto const of_a = kept({p}, how_a), of_b = kept({q}, how_b);
            if (!of_a.empty() && !of_b.empty()) x.push_back(of_b[0] - of_a[0]);
        }
    return x;
}

head_list sink_heads(std::vector<result const*> const& list) {
    head_list heads;
    for (result const* r : list) {
        if (!has(*r, "value_ratio")) continue;
        auto const& ratio = r->numbers.at("value_ratio");
        auto const& often = r->numbers.at("sink_maps");
        std::size_t const n = ratio.size() / 2;
        for (std::size_t h = 0; h < n; ++h) {
            if (often[h] < 0.1 || often[n + h] == 0) continue;
            heads.ratio.push_back(ratio[n + h]);
            if (has(*r, "head_damage"))
                (ratio[h] < 0.8 ? heads.quiet : heads.loud).push_back(r->numbers.at("head_damage")[h]);
        }
    }
    return heads;
}

} // namespace reproduce
