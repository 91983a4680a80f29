// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#include "../../examples/tiny_dlm/checkpoint.hpp"

#include <cstdlib>
#include <string_view>

// Any bytes at all are a whole model or get one sentence; a model that was loaded is saved as the same one, and a small one
// reads a text. For libFuzzer (run.sh), and for the ordinary tests, which replay seeds/.
namespace {

void check_model(bool holds, char const* what) {
    if (holds) return;
    std::fprintf(stderr, "fuzz: %s\n", what);
    std::abort();
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
    using namespace tiny_dlm;
    try {
        tensor_file const file = parse_safetensors({reinterpret_cast<char const*>(data), size}, "input");
        trained_model const m = model_of(file, "input");
        model_config const& c = m.net.config();
        // so small a file has no more in it: what is allocated is paid for
        check_model(m.net.parameters().size() <= size, "a model is not larger than its file");
        tensor_file again;
        again.metadata = to_text(c);
        m.words.save(again.metadata);
        put_tensors(again, m.net.tensors(), m.net.parameters(), storage::float32);
        trained_model const n = model_of(parse_safetensors(safetensors_bytes(again), "again"), "again");
        check_model(n.words == m.words && to_text(n.net.config()) == to_text(c), "a model comes back");
        if (std::int64_t{c.rows()} * c.rows() * c.heads * c.layers < 1000) {
            std::vector<int> tokens(static_cast<std::size_t>(c.length));
            for (std::size_t i = 0; i < tokens.size(); ++i) tokens[i] = static_cast<int>(i) % c.vocabulary;
            auto const logits = m.net.logits(tokens);
            check_model(logits.extent(2) == c.vocabulary, "a model reads a text");
        }
    } catch (checkpoint_error const& e) {
        std::string_view const words = e.what();
        check_model(words.starts_with("input") && words.size() < 700, "an error has one sentence with the file's name");
        check_model(words.find('\n') == words.npos, "an error has one line");
    }
    return 0;
}
