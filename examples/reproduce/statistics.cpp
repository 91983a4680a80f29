// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#include "statistics.hpp"

namespace reproduce {

masking_report compare_masking(std::vector<result const*> const& list, std::string const& outcome,
                               std::string const& treated, std::vector<std::string> const& controls, int count) {
    auto const key = [&](std::string const& what) { return outcome + "." + what + "." + std::to_string(count); };
    std::vector<std::string> conditions = {"nothing", treated};
    conditions.insert(conditions.end(), controls.begin(), controls.end());
    basin::experiment e(conditions);
    for (std::string const& c : controls) e.contrast(treated, c);
    masking_report report;
    for (result const* r : list) {
        if (!has(*r, outcome + ".nothing") || !has(*r, key(treated))) continue;
        auto const& before = r->numbers.at(outcome + ".nothing");
        for (std::size_t t = 0; t < before.size(); ++t) {
            std::vector<double> row = {before[t]};
            for (std::size_t c = 1; c < conditions.size(); ++c) row.push_back(r->numbers.at(key(conditions[c]))[t]);
            e.add(row);
        }
    }
    if (e.rows().size() < 5) return report;
    for (auto const& row : e.rows()) {
        report.before += row[0] / static_cast<double>(e.rows().size());
        report.after += row[1] / static_cast<double>(e.rows().size());
    }
    std::string const killed = outcome == "right" ? "killed." : "loss_killed.";
    auto const all = e.report();
    for (std::size_t i = 0; i < all.size(); ++i) {
        basin::comparison const& c = all[i];
        bool const contrast = i + 1 >= conditions.size();
        figure f{{}, c.mean, c.range.low, c.range.high, c.pairs, true, {}};
        char note[64];
        if (contrast) {
            f.words = treated + " more than " + controls[i + 1 - conditions.size()];
            std::snprintf(note, sizeof note, "p = %.2g", c.p_holm);
        } else {
            f.words = conditions[i + 1];
            auto const per_map = column(list, killed + conditions[i + 1] + "." + std::to_string(count));
            std::snprintf(note, sizeof note, "%.2f keys hidden per map", basin::detail::mean_of(per_map));
        }
        f.note = note;
        (contrast ? report.contrasts : report.rows).push_back(f);
    }
    return report;
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
