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
    std::vector<std::vector<double>> of_texts; // (text, condition): means over models
    double count_of_models = 0;
    for (result const* r : list) {
        if (!has(*r, outcome + ".nothing") || !has(*r, key(treated))) continue;
        auto const& before = r->numbers.at(outcome + ".nothing");
        of_texts.resize(before.size(), std::vector<double>(conditions.size()));
        std::vector<double> means(conditions.size());
        for (std::size_t t = 0; t < before.size(); ++t)
            for (std::size_t c = 0; c < conditions.size(); ++c) {
                double const x = c == 0 ? before[t] : r->numbers.at(key(conditions[c])).at(t);
                of_texts[t][c] += x;
                means[c] += x / static_cast<double>(before.size());
            }
        models.add(means);
        ++count_of_models;
    }
    if (of_texts.size() < 5) return report;
    for (auto& row : of_texts) {
        for (double& x : row) x /= count_of_models;
        texts.add(row);
        report.before += row[0] / static_cast<double>(of_texts.size());
        report.after += row[1] / static_cast<double>(of_texts.size());
    }
    bool const over_models = models.rows().size() >= 5;
    std::string const killed = outcome == "right" ? "killed." : "once_killed.";
    auto const hidden = [&](std::string const& condition, std::size_t which) {
        auto const x = column(list, killed + condition + "." + std::to_string(count), which);
        return x.empty() ? 0 : basin::detail::mean_of(x);
    };
    report.hidden = {hidden(treated, 0), hidden(treated, 1), hidden(treated, 2), 1};
    auto const by_text = texts.report(), by_model = over_models ? models.report() : by_text;
    for (std::size_t i = 0; i < by_text.size(); ++i) {
        basin::comparison const& c = by_model[i];
        bool const contrast = i + 1 >= conditions.size();
        figure f{{}, c.mean, c.range.low, c.range.high, c.pairs, true, over_models ? "models" : "texts"};
        if (contrast) {
            f.words = treated + " more than " + controls[i + 1 - conditions.size()];
            f.p = by_text[i].p;
        } else {
            f.words = conditions[i + 1];
            f.note +=
                text("; hidden per map: %.2f keys, %.1f %% of attention", hidden(f.words, 0), 100 * hidden(f.words, 1));
            if (double const row = hidden(f.words, 2); row > 0)
                f.note += text(", %.1f %% of the last row's", 100 * row);
        }
        (contrast ? report.contrasts : report.rows).push_back(f);
    }
    return report;
}

void correct(std::vector<figure>& all, char const* unit) {
    std::vector<double> p;
    for (figure const& f : all) {
        if (f.p >= 0) p.push_back(f.p);
    }
    auto const corrected = basin::holm(p);
    std::size_t i = 0;
    for (figure& f : all) {
        if (f.p < 0) continue;
        f.p = corrected[i++];
        f.note += text("; p = %.2g %s", f.p, unit);
    }
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
