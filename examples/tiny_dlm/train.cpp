// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#include "commands.hpp"
#include "evaluate.hpp"
#include "options.hpp"
#include "progress.hpp"
#include "trainer.hpp"

#include <filesystem>
#include <optional>
#include <thread>

namespace tiny_dlm {
namespace {

/// What both commands are told about texts.
struct text_choice {
    std::string path; ///< empty: the synthetic tasks
    tokenizer::unit unit = tokenizer::unit::words;
    int words = 1000;

    void add_to(command_line& line) {
        line.option("--text", "FILE", "learn from this text instead of the synthetic tasks", path);
    }
    corpus open(int length) const {
        if (path.empty()) return corpus::synthetic(length);
        std::string const text = read_text(path);
        return corpus::from_text(text, tokenizer::from_text(text, unit, words), length);
    }
    corpus open(tokenizer const& known, int length) const {
        if (path.empty()) return corpus::synthetic(length);
        return corpus::from_text(read_text(path), known, length);
    }
};

int default_threads() { return static_cast<int>(std::max(1U, std::thread::hardware_concurrency())); }

std::string loss_words(double loss) {
    char text[32];
    std::snprintf(text, sizeof text, "loss %.4f", loss);
    return text;
}

/// ", unseen 0.41, 55 % right": on a few texts that no training sees.
std::string check_words(evaluation const& e) {
    char text[64];
    std::snprintf(text, sizeof text, ", unseen %.4f, %.0f %% right", e.loss, 100 * e.accuracy());
    return text;
}

/// Fails now if the file cannot be written, not after the training.
void probe(std::string const& out) {
    if (std::filesystem::is_directory(out))
        throw std::runtime_error(out + " is a folder; --out names the file of the model");
    basin::atomic_file const there(out);
}

/// The command, for the card of the checkpoint, without the number of threads: it changes nothing.
std::string command_text(int argc, char const* const* argv) {
    std::string text = "tiny_dlm";
    for (int i = 0; i < argc; ++i) {
        if (std::string_view(argv[i]) == "--threads")
            ++i;
        else if (!std::string_view(argv[i]).starts_with("--threads="))
            text += std::string(" ") + argv[i];
    }
    return text;
}

} // namespace

int train_command(int argc, char const* const* argv) {
    recipe how;
    text_choice source;
    std::string out = "model.safetensors";
    int threads = default_threads(), check_texts = 256, save_every = 200;
    storage kept = storage::float16;

    command_line line("tiny_dlm train", "Trains a tiny language model and writes it as a safetensors file.");
    line.option("--out", "FILE", "where the model goes; FILE.resume keeps the state of an unfinished training", out);
    source.add_to(line);
    line.option("--unit", "tokens of a text file", source.unit, {"characters", "words"});
    line.option("--words", "N", "vocabulary by words: the most frequent", source.words, 10, 100000);
    model_config& m = how.model;
    line.option("--kind", "what is trained", m.kind, {"masked_diffusion", "block_diffusion", "autoregressive"});
    line.option("--sinks", "sink variant", m.sinks.kind,
                {"none", "token", "zero_value", "logit", "off_by_one", "registers", "gate"});
    line.option("--sink-count", "N", "tokens, registers or keys", m.sinks.count, 1, 16);
    line.option("--sink-place", "where tokens and registers stand", m.sinks.place, {"front", "middle", "end"});
    line.option("--layers", "N", "layers", m.layers, 1, 64);
    line.option("--width", "N", "width", m.width, 2, 4096);
    line.option("--heads", "N", "heads", m.heads, 1, 256);
    int key_value_heads = 0;
    line.option("--kv-heads", "N", "key-value heads; 0: as many as heads", key_value_heads, 0, 256);
    line.option("--hidden", "N", "width of the MLP", m.hidden, 1, 65536);
    line.flag("--gated", "MLP with a gate (silu) instead of squared ReLU", m.gated);
    line.option("--length", "N", "tokens of a text", m.length, 2, 4096);
    line.option("--block", "N", "tokens of a block, for block diffusion", m.block, 1, 4096);
    line.option("--rope-base", "X", "base of the rotary positions", m.rope_base, 1.5, 1e9);
    line.option("--steps", "N", "training steps", how.plan.steps, 1, 10000000);
    line.option("--warm-up", "N", "steps of warm-up", how.plan.warm_up, 0, 1000000);
    line.option("--rate", "X", "largest learning rate", how.plan.rate, 0.0, 10.0);
    line.option("--decay", "X", "weight decay of matrices", how.plan.decay, 0.0, 10.0);
    line.option("--batch", "N", "texts of a step", how.batch, 1, 65536);
    line.option("--seed", "N", "seed of weights, order and noise", how.seed, std::uint64_t{0}, std::uint64_t{1} << 62U);
    line.option("--threads", "N", "threads; the result does not depend on it", threads, 1, 1024);
    line.option("--check", "N", "validation texts", check_texts, 1, 100000);
    line.option("--save-every", "N", "steps between two states for resuming", save_every, 1, 1000000);
    line.option("--storage", "numbers of the file", kept, {"float16", "float32"});
    if (!line.parse(argc, argv)) return 0;

    probe(out);
    corpus const texts = source.open(m.length);
    m.vocabulary = texts.words().size();
    m.key_value_heads = key_value_heads == 0 ? m.heads : key_value_heads;

    // Weights, and two numbers of AdamW for each, in float: what could not be read again is not begun.
    long long const state_bytes = 12LL * static_cast<long long>(parameter_layout(m).total);
    if (state_bytes > largest_file - (1 << 20))
        throw usage_error("tiny_dlm train: a model of this shape has " + std::to_string(state_bytes / 12) +
                          " parameters, and its state " + std::to_string(state_bytes >> 20U) +
                          " MB, more than the 255 that are read again; give less of --width, --hidden or --layers");

    std::optional<interrupt_guard> guard(std::in_place);
    trainer work(how, texts, threads);
    std::string const state = out + ".resume";
    if (::access(state.c_str(), F_OK) == 0) work.resume(state);
    progress bar("training", how.plan.steps, work.done());
    double shown = 0;    // the loss, averaged over some steps
    std::string checked; // what a look at unseen texts gave: ten times, at the steps of which logs have a line
    auto const tenth = [&](int step) { return std::int64_t{10} * step / how.plan.steps; };
    auto const checks = std::min<int>(check_texts, texts.validation_count());
    for (int n = 0; !work.finished(); ++n) {
        double const loss = work.step();
        shown = n == 0 ? loss : 0.95 * shown + 0.05 * loss;
        if (tenth(work.done()) != tenth(work.done() - 1) && !interrupt_guard::asked())
            checked = check_words(evaluate(work.net(), texts, std::min(checks, 16)));
        bar.update(work.done(), loss_words(shown) + checked);
        if (interrupt_guard::asked() || (work.done() % save_every == 0 && !work.finished())) work.save(state);
        if (interrupt_guard::asked()) {
            std::fprintf(stderr, "\nstopped after step %d; the same command goes on from there\n", work.done());
            return 130;
        }
    }

    auto notes = how.to_text();
    notes["command"] = command_text(argc, argv);
    save_model(out, work.net(), texts.words(), notes, kept);
    trained_model const saved = load_model(out, threads); // as the file has it, rounded
    ::unlink(state.c_str());
    guard.reset(); // nothing is lost any more: Ctrl-C ends the evaluation at once
    evaluation const e = evaluate(saved.net, texts, checks);
    std::printf("%s: %td parameters, validation loss %.4f, accuracy %.4f (%d of %d)\n", out.c_str(),
                static_cast<std::ptrdiff_t>(saved.net.parameters().size()), e.loss, e.accuracy(), e.right, e.asked);
    return 0;
}

int evaluate_command(int argc, char const* const* argv) {
    text_choice source;
    std::string path;
    int threads = default_threads(), count = 256, steps = 32;
    command_line line("tiny_dlm evaluate", "Loss and accuracy of a model on texts that its training never saw.");
    line.option("--model", "FILE", "the model", path);
    source.add_to(line);
    line.option("--check", "N", "validation texts", count, 1, 100000);
    line.option("--steps", "N", "denoising steps", steps, 1, 10000);
    line.option("--threads", "N", "threads; the result does not depend on it", threads, 1, 1024);
    if (!line.parse(argc, argv)) return 0;
    if (path.empty()) throw usage_error("tiny_dlm evaluate: --model FILE is needed");
    trained_model const loaded = load_model(path, threads);
    corpus const texts = source.open(loaded.words, loaded.net.config().length);
    evaluation const e = evaluate(loaded.net, texts, std::min<int>(count, texts.validation_count()), steps);
    std::printf("loss %.4f accuracy %.4f (%d of %d)\n", e.loss, e.accuracy(), e.right, e.asked);
    return 0;
}

} // namespace tiny_dlm
