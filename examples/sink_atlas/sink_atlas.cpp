// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT

// A tiny diffusion language model writes a text; every attention sink is followed on the way, and a page shows what it did.
#include "models.hpp"
#include "results.hpp"
#include "screen.hpp"

#include <tiny_dlm/options.hpp>
#include <tiny_dlm/progress.hpp>

#include <algorithm>
#include <filesystem>
#include <optional>

namespace {

using namespace sink_atlas;
using tiny_dlm::interrupt_guard;
using tiny_dlm::usage_error;

struct settings {
    std::string model = "english", twin, sibling, prompt, rule = "exceeds_others:3", output = "sink_atlas";
    tiny_dlm::sampling sampling{.order = tiny_dlm::commit_order::random, .steps = 48, .temperature = 0.7, .seed = 1};
    masking_plan plan;
    int passages = 32, threads = 2;
};

/// Under a causal mask the last keys have been seen by a few queries only: those are left out of counts.
constexpr int enough_queries = 8;

bool parse(settings& s, int argc, char const* const* argv) {
    tiny_dlm::command_line line("sink_atlas",
                                "Writes a text by denoising, follows the attention sinks on the way, and leaves a page "
                                "that shows them.");
    line.option("--prompt", "TEXT", "how the text begins; a prompt of the model's kind without it", s.prompt);
    line.option("--model", "NAME", "english, tasks, or a .safetensors file", s.model);
    line.option("--twin", "FILE", "its autoregressive twin, to be compared with", s.twin);
    line.option("--sibling", "FILE", "the same model with a sink token, to be compared with", s.sibling);
    line.option("--steps", "N", "denoising steps", s.sampling.steps, 2, 512);
    line.option("--sampler", "which masked position is decided first", s.sampling.order,
                {"confidence", "entropy", "margin", "random"});
    line.option("--threshold", "P", "above 0: decide all positions at least this probable, in each step",
                s.sampling.threshold, 0.0, 1.0);
    line.option("--block", "N", "above 0: finish blocks of so many positions from left to right", s.sampling.block, 0,
                4096);
    line.option("--temperature", "T", "0: always the best token", s.sampling.temperature, 0.0, 10.0);
    line.option("--rule", "RULE", "what a sink is: exceeds_others:EPSILON, outlier:Z, mass_share:PART, top_keys:COUNT",
                s.rule);
    line.option("--mask", "K", "hide the K strongest sinks of each head at the next step", s.plan.strongest, 0, 64);
    line.option("--control", "hide as many other keys instead of sinks", s.plan.control,
                {"none", "random", "sticky", "position", "mass"});
    line.option("--passages", "N", "texts on which masking is measured; 0: not measured", s.passages, 0, 1000);
    line.option("--seed", "N", "of everything that is drawn", s.sampling.seed, std::uint64_t{0}, ~std::uint64_t{0});
    line.option("--threads", "N", "of the machine", s.threads, 1, 64);
    line.option("--output", "FOLDER", "where the page and its data go", s.output);
    if (!line.parse(argc, argv)) return false;
    s.plan.seed = s.sampling.seed;
    if (s.plan.control != control_kind::none && s.plan.strongest == 0)
        throw usage_error("sink_atlas: --control says what is hidden instead of sinks, so it needs --mask K");
    if (s.passages > 0 && s.passages < 5)
        throw usage_error("sink_atlas: --passages below 5 give no interval; take 0 to leave masking out");
    return true;
}

/// Fails now if the folder cannot be written, not after the work.
void open_folder(std::string const& folder) {
    std::error_code code;
    std::filesystem::create_directories(folder, code);
    if (code)
        throw std::runtime_error("the folder " + folder + " cannot be made: " + code.message() +
                                 "; choose another with --output");
    basin::atomic_file const probe(folder + "/sink_atlas.html");
}

/// The prompt, then [MASK] up to the model's length.
std::vector<token_id> start_text(tiny_dlm::trained_model const& m, std::string const& prompt, int& given) {
    auto tokens = m.words.encode_prompt(prompt);
    given = static_cast<int>(tokens.size());
    if (given >= m.net.config().length)
        throw std::runtime_error("the prompt has " + std::to_string(given) + " tokens, but the model writes texts of " +
                                 std::to_string(m.net.config().length) + " in all; shorten it");
    tokens.resize(static_cast<std::size_t>(m.net.config().length), tiny_dlm::tokenizer::mask);
    return tokens;
}

/// A text by denoising, recorded; `show` may be null.
recording write_text(tiny_dlm::trained_model const& m, std::string const& prompt, settings const& s, screen* show) {
    int given = 0;
    auto tokens = start_text(m, prompt, given);
    auto how = s.sampling;
    if (m.net.config().kind == tiny_dlm::model_kind::block_diffusion && how.block == 0)
        how.block = m.net.config().block;
    // how many steps there will be is known beforehand if each decides its share
    auto const masked = static_cast<int>(std::count(tokens.begin(), tokens.end(), tiny_dlm::tokenizer::mask));
    int const steps = how.threshold > 0 || how.block > 0 ? 0 : std::min<int>(how.steps, masked);
    recorder watcher(m.net.config(), m.net.config().length, given, sink_rule(s.rule));
    std::vector<basin::key_set> hidden;
    basin::buffer<float, 3> logits;
    tiny_dlm::denoise(
        tokens, 1, m.net.config().vocabulary, how,
        [&](std::vector<token_id> const& now) -> basin::buffer<float, 3> const& {
            interrupt_guard::check();
            m.net.masked_logits(now, m.net.config().length, logits, watcher.watch());
            watcher.step(now);
            if (!hidden
                     .empty()) { // the map that was recorded has nothing hidden; the text is written without these keys
                tiny_dlm::observer<float> blind;
                blind.hide = hidden;
                m.net.masked_logits(now, m.net.config().length, logits, blind);
            }
            hidden = watcher.chosen(s.plan);
            return logits;
        },
        [&](tiny_dlm::sampling_step const& step) {
            if (show != nullptr) show->show(step, steps, watcher.strongest_by_position());
        });
    return watcher.finish(tokens);
}

/// The twin continues the same prompt, word by word; each step is the causal map of the words so far.
recording continue_with_twin(tiny_dlm::trained_model const& m, std::string const& prompt, settings const& s) {
    int given = 0;
    auto tokens = start_text(m, prompt, given);
    recorder watcher(m.net.config(), m.net.config().length, given, sink_rule(s.rule), enough_queries);
    basin::buffer<float, 3> logits(1, m.net.config().length, m.net.config().vocabulary);
    tiny_dlm::continue_text(
        tokens, 1, m.net.config().vocabulary, s.sampling,
        [&](std::vector<token_id> const& now) -> basin::buffer<float, 3> const& {
            interrupt_guard::check();
            auto const end = std::find(now.begin(), now.end(), tiny_dlm::tokenizer::mask);
            std::vector<token_id> const so_far(now.begin(), end);
            auto const part = m.net.logits(so_far, static_cast<int>(so_far.size()), watcher.watch());
            watcher.step(so_far);
            std::copy(part.begin(), part.end(), logits.begin());
            return logits;
        },
        [](tiny_dlm::sampling_step const&) {});
    return watcher.finish(tokens);
}

/// Models whose answers can be checked, read before the work: a damaged file is noticed at once.
struct task_models {
    std::optional<tiny_dlm::trained_model> model, twin;
};
/// The committed ones, unless the model of the run does the tasks itself.
task_models load_task_models(tiny_dlm::trained_model const& model, settings const& s) {
    task_models m;
    auto const files = task_files();
    if (s.passages == 0 || does_tasks(model) || !std::filesystem::exists(files.model)) return m;
    m.model.emplace(tiny_dlm::load_model(files.model, s.threads));
    if (!files.twin.empty()) m.twin.emplace(tiny_dlm::load_model(files.twin, s.threads));
    return m;
}

/// What hiding sinks does to answers that can be checked: of this model and its twin if they do the tasks, else of others.
void measure_answers(results& r, tiny_dlm::trained_model const& model,
                     std::optional<tiny_dlm::trained_model> const& twin, task_models const& others, settings const& s) {
    r.absent.answers = "Not measured: --passages was 0.";
    if (s.passages == 0) return;
    auto const measure = [&](tiny_dlm::trained_model const& m, std::string const& name) {
        tiny_dlm::progress bar("answers without sinks, " + name, static_cast<long>(3 * r.counts.size() + 1));
        long done = 0;
        bool const causal = m.net.config().kind == tiny_dlm::model_kind::autoregressive;
        r.answers.push_back(mask_answers(m.net, m.words, name, texts_for(m, s.passages), r.rule,
                                         causal ? enough_queries : 0, r.counts, s.sampling.seed, [&] {
                                             interrupt_guard::check();
                                             bar.update(++done);
                                         }));
    };
    if (does_tasks(model)) {
        measure(model, "diffusion");
        if (twin) measure(*twin, "autoregressive");
        return;
    }
    r.absent.answers = "The models of the synthetic tasks are not there.";
    if (others.model) measure(*others.model, "diffusion");
    if (others.model && others.twin) measure(*others.twin, "autoregressive");
}

/// The same texts read by the same model before training: what the architecture alone gives.
recording read_untrained(tiny_dlm::trained_model const& m, recording const& run, settings const& s) {
    tiny_dlm::model<float> random(m.net.config(), 1);
    random.initialise(s.sampling.seed);
    recorder watcher(m.net.config(), m.net.config().length, run.prompt, sink_rule(s.rule));
    std::vector<token_id> text(static_cast<std::size_t>(m.net.config().length));
    for (int step = 0; step < run.steps; ++step) {
        interrupt_guard::check();
        for (int i = 0; i < m.net.config().length; ++i)
            text[static_cast<std::size_t>(i)] = run.token(step, m.net.config().row_of(i));
        (void)random.logits(text, m.net.config().length, watcher.watch());
        watcher.step(text);
    }
    return watcher.finish(text);
}

std::string in_one_line(std::string text) {
    for (std::size_t at = 0; (at = text.find('\n', at)) != text.npos; at += 2) text.replace(at, 1, "\\n");
    return text;
}

std::string quoted(std::string const& word) {
    if (word.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:=") == word.npos &&
        !word.empty())
        return word;
    std::string result = "'";
    for (char const c : word) result += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return result + "'";
}

int run(int argc, char const* const* argv) {
    settings s;
    if (!parse(s, argc, argv)) return 0;
    interrupt_guard const guard;
    results r;
    r.rule = sink_rule(s.rule);
    auto files = files_of(s.model);
    if (!s.twin.empty()) files.twin = s.twin;
    if (!s.sibling.empty()) files.sibling = s.sibling;
    auto const model = tiny_dlm::load_model(files.model, s.threads);
    if (model.net.config().kind == tiny_dlm::model_kind::autoregressive)
        throw std::runtime_error(files.model +
                                 " is autoregressive; the atlas follows diffusion models, give this one as --twin");
    auto const kin = [&](std::string const& file, char const* what) {
        std::optional<tiny_dlm::trained_model> m;
        if (file.empty()) return m;
        m.emplace(tiny_dlm::load_model(file, s.threads));
        auto const &a = m->net.config(), &b = model.net.config();
        if (a.vocabulary != b.vocabulary || a.length != b.length || a.layers != b.layers || a.heads != b.heads)
            throw std::runtime_error(file + " has another vocabulary or shape than " + files.model +
                                     ", so it cannot be its " + what);
        if (!(m->words == model.words))
            throw std::runtime_error(file + " knows other words than " + files.model + ", so it cannot be its " + what);
        return m;
    };
    auto const twin = kin(files.twin, "twin"), sibling = kin(files.sibling, "sibling");
    if (twin && twin->net.config().kind != tiny_dlm::model_kind::autoregressive)
        throw std::runtime_error(files.twin + " is not autoregressive, so it cannot be a twin");
    if (sibling && sibling->net.config().sinks.kind != tiny_dlm::sink_kind::token)
        throw std::runtime_error(files.sibling + " has no sink token");
    if (s.prompt.empty()) s.prompt = default_prompt(model, s.sampling.seed);
    int given = 0;
    token_id const first = start_text(model, s.prompt, given).front();
    passages const texts = s.passages > 0 ? texts_for(model, s.passages) : passages{};
    task_models const others = load_task_models(model, s);
    open_folder(s.output);

    for (int i = 0; i < argc; ++i) r.command += (i > 0 ? " " : "") + quoted(argv[i]);
    r.model = std::filesystem::path(files.model).filename();
    r.prompt = in_one_line(s.prompt);
    r.seed = s.sampling.seed;
    r.parameters = static_cast<long>(model.net.parameters().size());
    r.plan = s.plan;
    r.words = model.words;
    screen live(model.words);
    std::printf("%s writes after \"%s\"; sinks by %s are marked\n", r.model.c_str(), in_one_line(s.prompt).c_str(),
                r.rule.text().c_str());
    r.run = write_text(model, s.prompt, s, &live);

    r.heads = summarise(r.run);
    r.holders = holders_of(r.run, [&](token_id t) { return surface_of(r.words, t); });
    r.thresholds.reserve(81);
    for (int i = 0; i <= 80; ++i) r.thresholds.push_back(0.25 * i);
    auto const add_curve = [&](char const* id, char const* name, recording const& of, columns what, bool last_only) {
        r.curves.push_back({id, name, sweep_of(of, r.thresholds, what, last_only, enough_queries)});
    };
    auto const add_motion = [&](char const* id, char const* name, char const* brief, recording const& of,
                                recording const& even, columns what) {
        r.motion.push_back({id, name, brief, motion_of(of, what, r.rule, enough_queries),
                            motion_of(even, what, r.rule, enough_queries)});
    };
    add_curve("dlm", "diffusion", r.run, columns::relative, false);
    add_motion("dlm", "diffusion", "diffusion", r.run, with_even_attention(r.run, r.rule, 0), columns::relative);

    r.counts = {1, 5, 10};
    auto const measure = [&](tiny_dlm::trained_model const& m, std::string const& name, double queries) {
        if (texts.texts.empty()) return;
        tiny_dlm::progress bar("hiding sinks, " + name, static_cast<long>(3 * r.counts.size() + 1));
        long done = 0;
        r.masking.push_back(mask_sinks(m.net, name, texts, r.rule, queries, r.counts, s.sampling.seed, [&] {
            interrupt_guard::check();
            bar.update(++done);
        }));
    };
    r.absent.masking = s.passages == 0 ? "Not measured: --passages was 0."
                                       : "Not measured: the model does not know the words of the passages.";
    measure(model, "diffusion", 0);
    r.absent.arm = "No autoregressive twin was given: --twin FILE.";
    bool const begun = first != tiny_dlm::tokenizer::mask;
    if (twin && !begun) {
        r.absent.arm = "The twin writes from left to right, so it needs a prompt that begins with a word.";
        measure(*twin, "autoregressive", enough_queries);
    }
    if (twin && begun) {
        auto const record = continue_with_twin(*twin, s.prompt, s);
        auto const even = with_even_attention(record, r.rule, enough_queries);
        add_curve("arm", "autoregressive twin", record, columns::relative, true);
        add_curve("raw", "twin, raw column sums", record, columns::raw, true);
        add_curve("even", "uniform attention, raw column sums", even, columns::raw, true);
        add_motion("arm", "autoregressive twin", "twin", record, even, columns::relative);
        add_motion("raw", "twin, raw column sums", "twin, raw", record, even, columns::raw);
        measure(*twin, "autoregressive", enough_queries);
    }
    measure_answers(r, model, twin, others, s);
    add_curve("new", "diffusion, untrained", read_untrained(model, r.run, s), columns::relative, false);
    r.absent.token = "No model with a sink token was given: --sibling FILE.";
    if (sibling) {
        auto const& c = sibling->net.config();
        r.before = taken_by(r.run);
        r.rows_after = c.rows();
        r.tokens_after = c.extra_tokens();
        r.after = taken_by(write_text(*sibling, s.prompt, s, nullptr), c.extra_begin(), r.tokens_after);
    }

    interrupt_guard::check();
    std::string const page = write_atlas(s.output, r);
    interrupt_guard::check();
    auto const words = say(r);
    std::printf("\n");
    for (auto const& sentence : {words.map, words.holders, words.motion, words.answers, words.masking})
        if (!sentence.empty()) std::printf("- %s\n", sentence.c_str());
    std::printf("\nThe page is %s\n", std::filesystem::absolute(page).lexically_normal().c_str());
    return 0;
}

} // namespace

int main(int argc, char** argv) {
    return tiny_dlm::run_program("sink_atlas", [&] { return run(argc, argv); });
}
