// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#include "tiny_dlm/model.hpp"
#include "tiny_dlm/sampler.hpp"
#include "variants.hpp"

#include <doctest/doctest.h>

#include <fstream>
#include <sstream>

namespace {

/// The generator of make_fixture.py.
std::vector<double> numbers(std::ptrdiff_t count, std::uint64_t state) {
    std::vector<double> result;
    for (std::ptrdiff_t i = 0; i < count; ++i) {
        state = (state * 1103515245 + 12345) % (std::uint64_t{1} << 31U);
        result.push_back(static_cast<double>(state) / (1 << 30) - 1);
    }
    return result;
}

template <class T>
std::vector<T> read_line(std::istream& file) {
    std::string line;
    std::getline(file, line);
    std::istringstream words(line);
    std::vector<T> result;
    for (T x; words >> x;) result.push_back(x);
    return result;
}

} // namespace

TEST_CASE("logits, the loss and greedy denoising are those of PyTorch, for every variant") {
    std::ifstream file(BASIN_TINY_DLM_TESTS "/fixture.txt");
    int variants = 0;
    for (std::string head; std::getline(file, head); ++variants) {
        CAPTURE(head);
        std::istringstream words(head);
        std::string kind, sinks, count, place, gated, key_value_heads;
        words >> kind >> sinks >> count >> place >> gated >> key_value_heads;
        auto const config = tiny_dlm::config_from_text({{"kind", kind},
                                                        {"sinks", sinks},
                                                        {"sink_count", count},
                                                        {"sink_place", place},
                                                        {"gated", gated},
                                                        {"key_value_heads", key_value_heads},
                                                        {"layers", "2"},
                                                        {"width", "16"},
                                                        {"heads", "2"},
                                                        {"hidden", "24"},
                                                        {"vocabulary", "20"},
                                                        {"length", "12"},
                                                        {"mask_token", "0"},
                                                        {"rope_base", "100"},
                                                        {"block", "4"}});
        tiny_dlm::model<float> net(config, 2);
        std::uint64_t tensor = 0;
        for (auto const& t : net.tensors()) {
            auto const x = numbers(t.size, 1000 * static_cast<std::uint64_t>(variants) + tensor++);
            for (std::ptrdiff_t i = 0; i < t.size; ++i) {
                double const value = t.name.ends_with("norm") ? 1 + 0.1 * x[static_cast<std::size_t>(i)]
                                                              : 0.6 * x[static_cast<std::size_t>(i)];
                net.parameters()[static_cast<std::size_t>(t.offset + i)] = static_cast<float>(value);
            }
        }
        auto tokens = read_line<int>(file);
        auto const written = read_line<int>(file);
        auto const clean = read_line<int>(file);
        auto const loss = read_line<double>(file);
        auto const expected = read_line<double>(file);
        auto const logits = net.logits(tokens);
        REQUIRE(expected.size() == static_cast<std::size_t>(logits.size()));
        double far = 0;
        for (std::size_t i = 0; i < expected.size(); ++i)
            far = tiny_dlm_test::farther(far, std::abs(expected[i] - static_cast<double>(logits.data()[i])));
        CHECK(far < 1e-4);

        // Block diffusion learns with the clean text behind the noisy one: another mask than that of the logits.
        tiny_dlm::batch lesson{2, config.length, tokens, clean, std::vector<float>(tokens.size())};
        for (std::size_t i = 0; i < tokens.size(); ++i) lesson.weight[i] = i % 12 < 3 ? 0.0F : 1.0F / 16;
        REQUIRE(loss.size() == 1);
        CHECK(std::abs(net.loss(lesson) - loss[0]) < 1e-4);

        tiny_dlm::sampling how;
        how.steps = 5;
        how.block = kind == "block_diffusion" ? 4 : 0;
        auto const run = [&](std::vector<int> const& now) { return net.logits(now); };
        auto const nothing = [](tiny_dlm::sampling_step const&) {};
        if (kind == "autoregressive")
            tiny_dlm::continue_text(tokens, 2, config.vocabulary, how, run, nothing);
        else
            tiny_dlm::denoise(tokens, 2, config.vocabulary, how, run, nothing);
        CHECK(tokens == written);
    }
    CHECK(variants == 14);
}
