// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#include "tiny_dlm/checkpoint.hpp"
#include "tiny_dlm/evaluate.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

// weights/README.md is the card of the committed checkpoints. Its last two columns are about a sample small enough to be
// tried here: four tasks, or four windows of tests/tiny_dlm/sample.txt.
namespace {

struct card {
    std::string name, command, loss, right;
};

std::vector<card> read_cards() {
    std::ifstream file(BASIN_TINY_DLM_WEIGHTS "/README.md");
    std::vector<card> list;
    for (std::string line; std::getline(file, line);) {
        if (!line.starts_with("| `")) continue;
        std::vector<std::string> cells;
        std::istringstream words(line);
        for (std::string cell; std::getline(words, cell, '|');) {
            auto const begin = cell.find_first_not_of(" `"), end = cell.find_last_not_of(" `");
            cells.push_back(begin == std::string::npos ? "" : cell.substr(begin, end - begin + 1));
        }
        REQUIRE(cells.size() == 7);
        list.push_back({cells[1], cells[2], cells[5], cells[6]});
    }
    return list;
}

tiny_dlm::text_batch sample_of(tiny_dlm::trained_model const& m, tiny_dlm::corpus const& tasks) {
    if (m.words.by() == tiny_dlm::tokenizer::unit::characters) return tasks.validation(0, 4);
    tiny_dlm::text_batch b{4, m.net.config().length, {}, std::vector<basin::index_t>(4)};
    b.tokens = m.words.encode_text(tiny_dlm::read_text(BASIN_TINY_DLM_TESTS "/sample.txt"));
    REQUIRE(b.tokens.size() >= static_cast<std::size_t>(4 * b.length));
    b.tokens.resize(static_cast<std::size_t>(4 * b.length));
    return b;
}

} // namespace

TEST_CASE("every committed checkpoint is what its card says") {
    auto const tasks = tiny_dlm::corpus::synthetic();
    std::set<std::string> known;
    for (auto const& c : read_cards()) {
        CAPTURE(c.name);
        known.insert(c.name + ".safetensors");
        std::string const path = BASIN_TINY_DLM_WEIGHTS "/" + c.name + ".safetensors";
        auto const m = tiny_dlm::load_model(path, 1);
        CHECK(std::filesystem::file_size(path) <= 1'500'000);
        CHECK(m.notes.at("command") ==
              "tiny_dlm train --out " + c.name + ".safetensors" + (c.command.empty() ? "" : " ") + c.command);
#ifdef BASIN_TEST_REDUCED // sanitizers: reading all of them is enough, running them takes minutes
        if (c.name != "tasks_masked_diffusion") continue;
#endif
        auto const texts = sample_of(m, tasks);
        auto const b = tiny_dlm::objective(m.net.config(), texts, 0, 0);
        double const loss = m.net.loss(b);
        CAPTURE(loss);
        CHECK(std::abs(loss - std::stod(c.loss)) < 1e-4); // the card has four digits
#ifndef BASIN_TEST_REDUCED
        auto const hidden = std::count_if(b.weight.begin(), b.weight.end(), [](float w) { return w != 0; });
        bool const answers = m.words.by() == tiny_dlm::tokenizer::unit::characters;
        int const right = answers ? tiny_dlm::write_answers(m.net, tasks, texts, 32) : tiny_dlm::guessed(m.net, b);
        std::string const found = std::to_string(right) + " of " + std::to_string(answers ? 12 : hidden);
        CHECK(found == c.right);
#endif
    }
    std::uintmax_t total = 0;
    for (auto const& file : std::filesystem::directory_iterator(BASIN_TINY_DLM_WEIGHTS)) {
        total += file.file_size();
        CAPTURE(file.path().string());
        CHECK((file.path().extension() != ".safetensors" || known.contains(file.path().filename().string())));
    }
    CHECK(total <= 16'000'000);
    CHECK(!known.empty());
}
