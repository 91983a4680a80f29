// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#include "built_in.hpp" // made by CMake from the folder page/
#include "json.hpp"
#include "results.hpp"
#include "tables.hpp"

#include <basin/core/scalar.hpp>
#include <basin/export/atomic_file.hpp>

#include <cmath>

namespace sink_atlas {
namespace {

/// 16 bits are enough to look at; the NPY files have all of them.
std::string halves(array const& x) {
    std::vector<std::uint16_t> result;
    result.reserve(x.size());
    for (float const y : x) result.push_back(basin::half(y).bits);
    return json::bytes(result);
}

std::string tokens_json(results const& r, std::string& names) {
    std::vector<std::uint16_t> numbers; // of the words that occur, in order of appearance
    std::vector<int> number_of(static_cast<std::size_t>(r.words.size()), -1);
    std::vector<std::string> seen;
    for (token_id const t : r.run.tokens) {
        int& n = number_of[static_cast<std::size_t>(t)];
        if (n < 0) {
            n = static_cast<int>(seen.size());
            seen.push_back(r.words.name(t));
        }
        numbers.push_back(static_cast<std::uint16_t>(n));
    }
    names = json::texts(seen);
    return json::bytes(numbers);
}

std::string tracks_json(recording const& run) {
    // As the map has it. What rules read, and tracks keep, is less where not every query sees the key.
    auto const peak = [&](basin::life const& l) {
        float most = 0;
        for (basin::waypoint const& w : l.path)
            for (auto step = w.step; step <= w.last; ++step)
                most = std::max(most, run.relative(static_cast<std::size_t>(step), static_cast<std::size_t>(l.layer),
                                                   static_cast<std::size_t>(l.head), static_cast<std::size_t>(w.key)));
        return static_cast<double>(most);
    };
    return json::list(run.tracks.lives(), [&](basin::life const& l) {
        return json::object({{"track", json::number(l.track)},
                             {"layer", json::number(l.layer)},
                             {"head", json::number(l.head)},
                             {"born", json::number(l.born)},
                             {"died", json::number(l.died)},
                             {"peak", json::number(peak(l))},
                             {"path", json::list(l.path, [](basin::waypoint const& w) {
                                  return "[" + std::to_string(w.step) + "," + std::to_string(w.last) + "," +
                                         std::to_string(w.key) + "]";
                              })}});
    });
}

std::string effects_json(std::vector<effect> const& s) {
    auto const of = [&](auto const& f) { return json::list(s, [&](effect const& e) { return json::number(f(e)); }); };
    return json::object({{"mean", of([](effect const& e) { return e.mean; })},
                         {"low", of([](effect const& e) { return e.low; })},
                         {"high", of([](effect const& e) { return e.high; })},
                         {"killed", of([](effect const& e) { return e.killed; })}});
}

/// `before`: what stands behind the name of a model, with its mean with nothing hidden; null: the name alone.
std::string masking_json(std::vector<masking_result> const& all, std::vector<std::string> const& conditions,
                         std::vector<int> const& counts, char const* before, char const* axis, char const* note) {
    if (all.empty()) return "null";
    return json::object(
        {{"conditions", json::texts(conditions)},
         {"counts", json::list(counts, [](int k) { return json::number(k); })},
         {"axis", json::text(axis)},
         {"note", json::text(note)},
         {"panels", json::list(all, [&](masking_result const& m) {
              return json::object(
                  {{"name", json::text(m.model + (before ? said(" (%s %.2f)", before, m.before.mean) : ""))},
                   {"before", effects_json({m.before})},
                   {"series", json::list(m.series, effects_json)}});
          })}});
}

std::string path_json(path_of_sinks const& p) {
    return json::object({{"centroids", json::numbers(p.centroids)},
                         {"temporal", json::number(p.temporal)},
                         {"spatial", json::number(p.spatial)},
                         {"stays", json::number(p.stays)}});
}

std::string motion_json(results const& r) {
    if (r.motion.size() < 2) return "null";
    return json::object(
        {{"length", json::number(r.run.keys)}, {"series", json::list(r.motion, [](motion_series const& m) {
                                                    return json::object({{"id", json::text(m.id)},
                                                                         {"name", json::text(m.name)},
                                                                         {"short", json::text(m.brief)},
                                                                         {"path", path_json(m.path)},
                                                                         {"even", path_json(m.even)}});
                                                })}});
}

std::string token_json(results const& r) {
    if (r.after.empty()) return "null";
    std::string result = "[";
    for (std::size_t i = 0; i < r.after.size(); ++i)
        result += (i > 0 ? "," : "") + json::object({{"before", json::number(r.before[i].sinks)},
                                                     {"token", json::number(r.after[i].keys)},
                                                     {"rest", json::number(r.after[i].sinks)}});
    return result + "]";
}

std::string figures_json(results const& r) {
    auto const words = say(r);
    auto const figure = [](std::string const& sentence, std::vector<std::string> const& files) {
        return json::object({{"say", json::text(sentence)}, {"data", json::texts(files)}});
    };
    auto const or_why = [](std::string const& sentence, std::string const& why) {
        return sentence.empty() ? why : sentence;
    };
    auto const some = [](bool there, std::vector<std::string> files) {
        return there ? std::move(files) : std::vector<std::string>{};
    };
    return json::object(
        {{"map", figure(words.map, {"received.npy", "relative.npy", "value_norms.npy", "tokens.csv", "sinks.csv",
                                    "tracks.csv", "paths.csv", "events.csv"})},
         {"holders", figure(words.holders, {"holders.csv"})},
         {"sweep", figure(words.sweep, {"sweep.csv"})},
         {"motion", figure(words.motion, some(r.motion.size() > 1, {"motion.csv", "variances.csv"}))},
         {"norms", figure(words.norms, {"heads.csv", "value_norms.npy"})},
         {"answers", figure(or_why(words.answers, r.absent.answers),
                            some(!r.answers.empty(), {"answers.csv", "answers_tests.csv"}))},
         {"masking", figure(or_why(words.masking, r.absent.masking),
                            some(!r.masking.empty(), {"masking.csv", "masking_tests.csv"}))},
         {"token", figure(or_why(words.token, r.absent.token), some(!r.after.empty(), {"sink_token.csv"}))}});
}

std::string lead_json(results const& r) {
    std::vector<std::string> parts = {
        "A tiny diffusion language model (", r.model,
        said(", %ld parameters) wrote this text in %d denoising steps after the prompt \u201c", r.parameters,
             r.run.steps),
        r.prompt,
        said("\u201d, seed %llu. Sinks are found by %s. ", static_cast<unsigned long long>(r.seed),
             r.rule.text().c_str())};
    if (r.plan.strongest > 0)
        parts.back() += said("At each step the model did not see %s of each head at the step before (%d per head); the "
                             "maps show attention "
                             "with nothing hidden. ",
                             r.plan.control == control_kind::none ? "the strongest sinks"
                                                                  : "control keys instead of the strongest sinks",
                             r.plan.strongest);
    parts.back() += "Click a head on the left, move the slider, hover anything.";
    return json::texts(parts);
}

std::string numbers_json(results const& r) {
    auto const& tracks = r.run.tracks;
    long moves = 0;
    double steps = 0;
    for (auto const& h : r.heads) moves += h.moves;
    for (auto const& l : tracks.lives()) steps += l.steps;
    double absorbed = 0;
    for (auto const& h : r.heads) absorbed += h.absorbed / static_cast<double>(r.heads.size());
    auto const pair = [](std::string const& value, std::string const& what) { return json::texts({value, what}); };
    auto const births = tracks.births();
    std::string const life = births == 0 ? "\u2013" : said("%.1f", steps / static_cast<double>(births));
    return "[" + pair(said("%lld", births), "sinks born") + "," + pair(said("%ld", moves), "times a sink moved") + "," +
           pair(said("%lld", tracks.deaths()), "sinks died while writing") + "," +
           pair(life, said("steps a sink lives, of %d", r.run.steps)) + "," +
           pair(said("%.0f %%", 100 * absorbed), "of all attention goes to sinks") + "]";
}

std::string data_json(results const& r) {
    std::string names;
    std::string const tokens = tokens_json(r, names);
    std::vector<std::uint8_t> kinds;
    kinds.reserve(r.run.kinds.size());
    for (auto const k : r.run.kinds) kinds.push_back(static_cast<std::uint8_t>(k));
    int const first = r.first_head();
    auto const count = [](int n) { return json::number(n); };
    // the smallest mass that any sink had: dots below it need not be looked up
    double least = r.run.keys;
    for (auto const& found : r.run.found)
        for (basin::sink const& s : found.list())
            least = std::min<double>(least, r.run.relative(s.step, s.layer, s.head, s.key));
    return json::object(
        {{"steps", count(r.run.steps)},
         {"layers", count(r.run.layers)},
         {"heads", count(r.run.heads)},
         {"keys", count(r.run.keys)},
         {"uniform", json::number(1)},
         {"threshold", json::number(least * 0.99)},
         {"epsilon", json::number(r.rule.epsilon())},
         {"prompt", json::text(r.prompt)},
         {"command", json::text(r.command)},
         {"glue", json::text(r.words.by() == tiny_dlm::tokenizer::unit::words ? " " : "")},
         {"start", json::object({{"layer", count(first / r.run.heads)}, {"head", count(first % r.run.heads)}})},
         {"lead", lead_json(r)},
         {"numbers", numbers_json(r)},
         {"figures", figures_json(r)},
         {"overview_say", json::text(say(r).overview)},
         {"heads_summary", json::list(r.heads,
                                      [&](head_summary const& h) {
                                          return json::object({{"births", count(h.births)},
                                                               {"moves", count(h.moves)},
                                                               {"absorbed", json::number(h.absorbed)},
                                                               {"norm_ratio", json::number(h.norm_ratio)}});
                                      })},
         {"holders", json::list(r.holders,
                                [](holder const& h) {
                                    return json::object({{"kind", json::text(h.kind)},
                                                         {"sinks", json::number(h.sinks)},
                                                         {"tokens", json::number(h.tokens)}});
                                })},
         {"sweep", json::object({{"thresholds", json::numbers(r.thresholds)},
                                 {"curves", json::list(r.curves,
                                                       [](curve const& c) {
                                                           return json::object({{"id", json::text(c.id)},
                                                                                {"name", json::text(c.name)},
                                                                                {"share", json::numbers(c.share)}});
                                                       })}})},
         {"motion", motion_json(r)},
         {"masking", masking_json(r.masking, masking_conditions(), r.counts, "loss", "change of the loss (nats)",
                                  "bars: 95 % intervals of the paired differences")},
         {"answers", masking_json(r.answers, answer_conditions(), r.counts, nullptr, "share of right answers",
                                  "bars: 95 % intervals of the mean over texts")},
         {"token", token_json(r)},
         {"absent", json::object({{"arm", json::text(r.absent.arm)},
                                  {"masking", json::text(r.absent.masking)},
                                  {"answers", json::text(r.absent.answers)},
                                  {"token", json::text(r.absent.token)}})},
         {"tracks", tracks_json(r.run)},
         {"words", names},
         {"tokens", tokens},
         {"kinds", json::bytes(kinds)},
         {"received", halves(r.run.relative)},
         {"norms", halves(r.run.norms)}});
}

std::string joined_scripts() {
    std::string result;
    for (std::string_view const part : page_scripts) result += part;
    return result;
}

} // namespace

std::string write_atlas(std::string const& folder, results const& r) {
    write_tables(folder, r);
    std::string page;
    for (std::string_view rest = page_template; !rest.empty();) { // @NAME@ stands for what is put in
        std::size_t const at = rest.find('@');
        page += rest.substr(0, at);
        if (at == rest.npos) break;
        std::size_t const end = rest.find('@', at + 1);
        std::string_view const name = rest.substr(at + 1, end - at - 1);
        rest.remove_prefix(end + 1);
        page += name == "STYLE" ? std::string(page_style) : name == "DATA" ? data_json(r) : joined_scripts();
    }
    std::string const path = folder + "/sink_atlas.html";
    basin::atomic_file file(path);
    file.write(page);
    file.commit();
    return path;
}

} // namespace sink_atlas
