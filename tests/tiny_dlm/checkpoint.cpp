// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#include "../fuzz/checkpoint.cpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

namespace {

/// What is said about a file of tests/fuzz/seeds, or nothing.
std::string said_of(std::string const& seed) {
    try {
        (void)tiny_dlm::load_model(BASIN_TINY_DLM_TESTS "/../fuzz/seeds/" + seed);
        return {};
    } catch (tiny_dlm::checkpoint_error const& e) {
        std::string const words = e.what();
        return words.substr(words.find(seed));
    }
}

} // namespace

TEST_CASE("every seed of the fuzzer is a whole model or gets its sentence") {
    int models = 0;
    for (auto const& file : std::filesystem::directory_iterator(BASIN_TINY_DLM_TESTS "/../fuzz/seeds")) {
        std::ifstream in(file.path(), std::ios::binary);
        std::string const bytes{std::istreambuf_iterator<char>(in), {}}, name = file.path().filename().string();
        CAPTURE(name);
        CHECK(LLVMFuzzerTestOneInput(reinterpret_cast<std::uint8_t const*>(bytes.data()), bytes.size()) == 0);
        models += said_of(name).empty() ? 1 : 0;
    }
    CHECK(models == 7);
}

TEST_CASE("a checkpoint whose header says more than its tensors hold is refused before anything is made for it") {
    CHECK(said_of("model_too_large") ==
          "model_too_large: the checkpoint's tensor \"embedding\" has shape (6, 2), expected "
          "(6, 1024)");
    CHECK(said_of("model_alone") == "model_alone: the checkpoint has no tensor \"embedding\"");
    CHECK(said_of("model_too_long") == "model_too_long: no such model: length is 65536, outside of 2 ... 4096");
    CHECK(said_of("model_no_tensor") == "model_no_tensor: the checkpoint has no tensor \"layers.0.down\"");
    CHECK(said_of("model_other_words") == "model_other_words: the vocabulary has 6 tokens, but the model 7");
}
