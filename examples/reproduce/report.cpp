// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#include "report.hpp"

#include <basin/export/jsonl.hpp>

#include <cmath>

namespace reproduce {
namespace {

std::string quoted(std::string const& text) { return basin::detail::json_text(text); }
std::string number(double x) {
    char text[40];
    if (!std::isfinite(x)) return "null";
    std::snprintf(text, sizeof text, "%.6g", x);
    return text;
}
std::string shown(double x) {
    char text[40];
    std::snprintf(text, sizeof text, std::fabs(x) >= 100 ? "%.0f" : std::fabs(x) >= 10 ? "%.1f" : "%.3f", x);
    return text;
}

} // namespace

void write_json(std::string const& path, results const& all, std::vector<claim> const& claims, origin const& by) {
    basin::atomic_file file(path);
    file.write("{\n\"command\": " + quoted(by.command) + ",\n\"commit\": " + quoted(by.commit) +
               ",\n\"machine\": " + quoted(by.machine) + ",\n\"claims\": [\n");
    for (std::size_t i = 0; i < claims.size(); ++i) {
        claim const& c = claims[i];
        file.write("{\"claim\": " + quoted(c.letter) + ", \"sentence\": " + quoted(c.sentence) +
                   ", \"paper\": " + quoted(c.paper) + ", \"verdict\": " + quoted(c.verdict) +
                   ", \"reason\": " + quoted(c.reason) + ", \"figures\": [");
        for (std::size_t j = 0; j < c.ours.size(); ++j) {
            figure const& f = c.ours[j];
            file.write(std::string(j == 0 ? "\n" : ",\n") + "  {\"what\": " + quoted(f.words) +
                       ", \"mean\": " + number(f.mean) + ", \"low\": " + number(f.low) +
                       ", \"high\": " + number(f.high) + ", \"count\": " + std::to_string(f.pairs) +
                       ", \"range\": " + (f.interval ? "\"95 % interval of the mean\"" : "\"smallest and largest\"") +
                       ", \"note\": " + quoted(f.note) + "}");
        }
        file.write(i + 1 < claims.size() ? "]},\n" : "]}\n");
    }
    file.write("],\n\"models\": [\n");
    for (std::size_t i = 0; i < all.size(); ++i) {
        file.write("{\"name\": " + quoted(all[i].model.name()));
        for (auto const& [name, values] : all[i].numbers) {
            file.write(", " + quoted(name) + ": [");
            for (std::size_t j = 0; j < values.size(); ++j) file.write((j == 0 ? "" : ", ") + number(values[j]));
            file.write("]");
        }
        file.write(i + 1 < all.size() ? "},\n" : "}\n");
    }
    file.write("]\n}\n");
    file.commit();
}

void write_page(std::string const& path, results const& all, std::vector<claim> const& claims, origin const& by) {
    basin::atomic_file file(path);
    int seeds = 0, variants = 0, large = 0;
    for (result const& r : all) {
        seeds += r.model.size == "small" && r.model.variant == "dlm" ? 1 : 0;
        variants += r.model.size == "small" && r.model.variant == "gate" ? 1 : 0;
        large += r.model.size == "large" && r.model.variant == "dlm" ? 1 : 0;
    }
    file.write("# Both papers at toy scale\n\n"
               "What became of each claim of *Attention Sinks in Diffusion Language Models* (a - c) and *One Token Is "
               "Enough* (d - g) in models of\n"
               "some hundred thousand parameters. Written by `" +
               by.command + "` (`examples/reproduce/run.sh` trains what is missing), at commit " +
               by.commit.substr(0, 12) + ", " + by.machine +
               ".\n"
               "All numbers are in [results.json](../examples/reproduce/results.json).\n\n"
               "| | claim | verdict |\n|---|---|---|\n");
    for (claim const& c : claims)
        file.write("| [" + c.letter + "](#claim-" + c.letter + ") | " + c.sentence + " | **" + c.verdict + "** |\n");
    file.write(
        "\nA toy that contradicts a paper says something about the toy: in models this small sinks may be "
        "useful anchors and not yet the\n"
        "no-ops of models of billions of parameters.\n\n## How it was measured\n\n"
        "- **Tasks**: the synthetic corpus of `tiny_dlm` (copy, reverse, sort; the answers can be checked). 2 "
        "layers of width 48, 3 heads; up to " +
        std::to_string(seeds) +
        " seeds each of masked\n  diffusion, its autoregressive twin, block diffusion, and masked diffusion "
        "with a sink token, " +
        std::to_string(variants) + " of every other sink variant.\n  *Larger models*: 4 layers of width 64, 4 heads, " +
        std::to_string(large) +
        " seeds. All differences are between models of the same seed.\n"
        "- **English words**: the committed checkpoints, one seed each; left out where they are not in the "
        "tables below.\n"
        "- **Sinks**: `exceeds_others{3}` on the scale of sums, per step, layer, head and text. Columns of "
        "causal maps are divided by the queries that\n"
        "  see them, and keys seen by fewer than 8 queries are left out; *raw* means they are not divided: then "
        "uniform causal attention alone gives the\n"
        "  first of 64 keys a sum of 4.74, which counts as a sink.\n"
        "- **Hiding** (c): the K strongest sinks of each head, found on the map of one step, are hidden at the "
        "next one (on the map as it was, hidden keys\n"
        "  included, so sets may alternate). Controls hide as many other keys: drawn anew at each step (*random*), or\n"
        "  those of the most similar attention (*matched*). *Loss*: a second pass over texts half of which are "
        "masked, in the same way.\n"
        "- **Intervals** are 95 % bootstrap intervals of the mean: over models of different seeds, or, in (c), "
        "over all texts of all models, with p by a\n"
        "  randomisation test, corrected by Holm. With fewer than five numbers the smallest and the largest are "
        "given instead, marked by `..`.\n"
        "- Not measured: a control that keeps its keys while a sink lives, which a single pass cannot tell from "
        "a random one.\n"
        "- **Heads** (d) are chosen on one half of the texts and judged on the other.\n"
        "- Not measured: English characters, and sizes above these.\n");
    for (claim const& c : claims) {
        file.write("\n## Claim " + c.letter + "\n\n" + c.sentence + " The paper: " + c.paper +
                   ".\n\n**Here: " + c.verdict + ".** " + c.reason + "\n");
        if (c.ours.empty()) continue;
        file.write("\n| | mean | range | n | |\n|---|---:|---|---:|---|\n");
        for (figure const& f : c.ours) {
            if (f.pairs == 0) continue;
            file.write(
                "| " + f.words + " | " + shown(f.mean) + " | " +
                (f.interval ? "[" + shown(f.low) + ", " + shown(f.high) + "]" : shown(f.low) + " .. " + shown(f.high)) +
                " | " + std::to_string(f.pairs) + " | " + f.note + " |\n");
        }
    }
    file.commit();
}

} // namespace reproduce
