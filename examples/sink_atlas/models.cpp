// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#include "models.hpp"

#include "built_in.hpp" // made by CMake

#include <tiny_dlm/corpus.hpp>

#include <algorithm>
#include <filesystem>

namespace sink_atlas {

model_files files_of(std::string const& name) {
    if (name != "english" && name != "tasks") return {name, "", ""};
    auto const file = [&](char const* kind, bool needed) {
        std::string const path = std::string(weights_folder) + "/" + name + "_" + kind + ".safetensors";
        return needed || std::filesystem::exists(path) ? path : std::string();
    };
    return {file("masked_diffusion", true), file("autoregressive", false), file("sink_token", false)};
}

bool does_tasks(tiny_dlm::trained_model const& m) {
    return m.net.config().length >= tiny_dlm::task::longest && m.words == tiny_dlm::corpus::synthetic().words();
}

std::string default_prompt(tiny_dlm::trained_model const& m, std::uint64_t seed) {
    if (does_tasks(m)) return tiny_dlm::task::make(2 * seed, 0).prompt;
    std::string const scripture = "and the lord said unto";
    auto const tokens = m.words.encode_text(scripture);
    bool const known = std::find(tokens.begin(), tokens.end(), tiny_dlm::tokenizer::unknown) == tokens.end();
    return known && static_cast<int>(tokens.size()) < m.net.config().length ? scripture : "";
}

passages texts_for(tiny_dlm::trained_model const& m, int number) {
    passages result;
    result.length = m.net.config().length;
    if (does_tasks(m)) {
        auto const tasks = tiny_dlm::corpus::synthetic(result.length).validation(0, number);
        for (int i = 0; i < number; ++i) {
            auto const text = tasks.text(i);
            result.texts.emplace_back(text.begin(), text.end());
            result.prompt.push_back(tasks.prompt[static_cast<std::size_t>(i)]);
        }
        return result;
    }
    auto const tokens = m.words.encode_text(tiny_dlm::read_text(passages_file));
    auto const foreign = std::count(tokens.begin(), tokens.end(), tiny_dlm::tokenizer::unknown);
    if (2 * foreign > static_cast<std::ptrdiff_t>(tokens.size())) return result;
    int const there = static_cast<int>(tokens.size()) / result.length;
    if (there < number)
        throw std::runtime_error(std::string(passages_file) + " has " + std::to_string(there) + " passages of " +
                                 std::to_string(result.length) + " tokens, not " + std::to_string(number));
    for (int i = 0; i < number; ++i) {
        auto const begin = tokens.begin() + static_cast<std::ptrdiff_t>(i) * result.length;
        result.texts.emplace_back(begin, begin + result.length);
        result.prompt.push_back(0);
    }
    return result;
}

} // namespace sink_atlas
