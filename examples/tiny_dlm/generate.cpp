// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#include "checkpoint.hpp"
#include "commands.hpp"
#include "options.hpp"
#include "sampler.hpp"

namespace tiny_dlm {
namespace {

/// As a person reads it: what is still masked is "_", and [EOS] at the end is not shown.
std::string readable(tokenizer const& words, std::span<token_id const> tokens) {
    while (!tokens.empty() && tokens.back() == tokenizer::eos) tokens = tokens.first(tokens.size() - 1);
    std::string text = words.decode(tokens);
    for (std::size_t at; (at = text.find("[MASK]")) != text.npos;) text.replace(at, 6, "_");
    while (!text.empty() && text.back() == '\n') text.pop_back();
    return text;
}

std::vector<token_id> canvas(trained_model const& m, std::string const& prompt, int length) {
    std::vector<token_id> tokens = m.words.encode_prompt(prompt);
    if (length > m.net.config().length)
        throw usage_error("tiny_dlm generate: the model was trained on " + std::to_string(m.net.config().length) +
                          " tokens, so --length " + std::to_string(length) + " is too much");
    if (tokens.size() > static_cast<std::size_t>(length))
        throw usage_error("tiny_dlm generate: the prompt has " + std::to_string(tokens.size()) +
                          " tokens, but there is room for " + std::to_string(length));
    if (m.net.config().kind == model_kind::autoregressive && (tokens.empty() || tokens[0] == tokenizer::mask))
        throw usage_error("tiny_dlm generate: an autoregressive model needs the start of a text, --prompt TEXT");
    tokens.resize(static_cast<std::size_t>(length), tokenizer::mask);
    return tokens;
}

} // namespace

int generate_command(int argc, char const* const* argv) {
    std::string path, prompt, out;
    sampling how;
    int threads = 1, length = 0;
    bool watch = false;
    command_line line("tiny_dlm generate", "Writes a text with a tiny model: by denoising, or from left to right.");
    line.option("--model", "FILE", "the model, a .safetensors file", path);
    line.option("--prompt", "TEXT", "how the text begins; \\n is a newline, [MASK] a gap to fill", prompt);
    line.option("--sampler", "which masked position is decided first", how.order,
                {"confidence", "entropy", "margin", "random"});
    line.option("--steps", "N", "denoising steps", how.steps, 1, 100000);
    line.option("--threshold", "P", "decide all positions of that probability at once; 0: as many as steps say",
                how.threshold, 0.0, 1.0);
    line.option("--block", "N", "finish blocks of N positions from left to right; 0: none, or the model's own",
                how.block, 0, 100000);
    line.option("--temperature", "T", "0: always the best token", how.temperature, 0.0, 100.0);
    line.option("--seed", "N", "seed of what is random", how.seed, std::uint64_t{0}, ~std::uint64_t{0});
    line.option("--length", "N", "tokens with the prompt; 0: as the model was trained", length, 0, 100000);
    line.option("--out", "FILE", "write the text to a file instead of printing it", out);
    line.option("--threads", "N", "threads; the text does not depend on it", threads, 1, 1024);
    line.flag("--watch", "show every step on stderr", watch);
    if (!line.parse(argc, argv)) return 0;
    if (path.empty()) throw usage_error("tiny_dlm generate: --model FILE is needed");

    trained_model const m = load_model(path, threads);
    model_config const& c = m.net.config();
    if (length == 0) length = c.length;
    if (c.kind == model_kind::block_diffusion && how.block == 0) how.block = c.block;
    std::vector<token_id> tokens = canvas(m, prompt, length);

    interrupt_guard const guard;
    auto const logits = [&](std::vector<token_id> const& now) { return m.net.logits(now, length); };
    auto const on_step = [&](sampling_step const& s) {
        interrupt_guard::check();
        if (!watch) return;
        std::string text = readable(m.words, s.tokens);
        for (std::size_t at; (at = text.find('\n')) != text.npos;) text.replace(at, 1, " / ");
        std::fprintf(stderr, "%3d  %s\n", s.step + 1, text.c_str());
    };
    if (c.kind == model_kind::autoregressive)
        continue_text(tokens, 1, c.vocabulary, how, logits, on_step);
    else
        denoise(tokens, 1, c.vocabulary, how, logits, on_step);

    std::string const text = readable(m.words, tokens) + "\n";
    if (out.empty()) {
        std::fputs(text.c_str(), stdout);
    } else {
        basin::atomic_file file(out);
        file.write(text);
        file.commit();
    }
    return 0;
}

} // namespace tiny_dlm
