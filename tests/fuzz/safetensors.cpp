// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#include "../../examples/tiny_dlm/safetensors.hpp"
#include "../../examples/tiny_dlm/tokenizer.hpp"

#include <cstdlib>

// Any bytes at all are a checkpoint or get one sentence; a checkpoint that was read and written again is the same one. For
// libFuzzer (run.sh), and for the ordinary tests, which replay seeds/.
namespace {

void check(bool holds, char const* what) {
    if (holds) return;
    std::fprintf(stderr, "fuzz: %s\n", what);
    std::abort();
}
void check_sentence(std::string const& words) {
    check(!words.empty() && words.size() < 600, "an error has one sentence");
    for (char const c : words) check(c != '\n' && c != '\0', "an error has one line");
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
    using namespace tiny_dlm;
    tensor_file file;
    try {
        file = parse_safetensors({reinterpret_cast<char const*>(data), size}, "input");
    } catch (checkpoint_error const& e) {
        check_sentence(e.what());
        return 0;
    }
    try {
        auto const words = tokenizer::load(file.metadata);
        std::map<std::string, std::string> saved;
        words.save(saved);
        check(tokenizer::load(saved).size() == words.size(), "a vocabulary comes back");
    } catch (std::runtime_error const& e) {
        check_sentence(e.what());
    }
    std::string const bytes = safetensors_bytes(file);
    tensor_file const again = parse_safetensors(bytes, "again");
    check(again.metadata == file.metadata && again.tensors.size() == file.tensors.size(), "everything comes back");
    for (auto const& [name, t] : file.tensors) {
        tensor const& u = again.at(name, t.shape);
        check(u.kept == t.kept && u.values.size() == t.values.size(), "a tensor comes back");
        for (std::size_t i = 0; i < t.values.size(); ++i) {
            bool const same = u.values[i] == t.values[i] || (std::isnan(u.values[i]) && std::isnan(t.values[i]));
            check(same, "numbers come back");
        }
    }
    return 0;
}
