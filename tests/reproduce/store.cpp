// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#include "reproduce/store.hpp"
#include "tiny_dlm/variants.hpp"

#include <doctest/doctest.h>

#include <filesystem>

#include <unistd.h>

namespace {

using namespace reproduce;

struct temporary {
    std::string path =
        (std::filesystem::temp_directory_path() / ("basin_reproduce_" + std::to_string(::getpid()) + ".safetensors"))
            .string();
    temporary() = default;
    temporary(temporary const&) = delete;
    temporary& operator=(temporary const&) = delete;
    ~temporary() { std::filesystem::remove(path); }
};

} // namespace

TEST_CASE("a measurement is that of its text, its vocabulary and its checkpoint's bytes") {
    using tiny_dlm::corpus;
    using tiny_dlm::tokenizer;
    std::string text;
    for (int i = 0; i < 60; ++i) text += "in the beginning was the word ";
    auto const texts_by = [](std::string const& all) {
        return corpus::from_text(all, tokenizer::from_text(all, tokenizer::unit::characters), 16);
    };
    run r;
    r.corpus = "characters";
    r.how.model = tiny_dlm_test::small_model();
    settings s;
    auto const one = identity(r, texts_by(text), s);
    CHECK(one == identity(r, texts_by(text), s));
    std::string early = text, late = text;
    early[5] = 'i';
    late[late.size() - 40] = 'i'; // in what is measured alone
    CHECK(one != identity(r, texts_by(early), s));
    CHECK(one != identity(r, texts_by(late), s));
    CHECK(one != identity(r, texts_by(text + "?"), s));

    temporary const file;
    kept_measurement m{{{"loss", {1.5}}}, {"reproduce --seeds 1", "0123"}};
    save(file.path, one, m);
    auto const again = load(file.path, one);
    CHECK(again.numbers == m.numbers);
    CHECK(again.by.command == "reproduce --seeds 1");
    CHECK(again.by.commit == "0123");
    CHECK(load(file.path, identity(r, texts_by(early), s)).numbers.empty());

    r.checkpoint = file.path;
    auto const of_file = identity(r, texts_by(text), s);
    m.numbers["loss"] = {1.25};
    save(file.path, one, m);
    CHECK(of_file != identity(r, texts_by(text), s));
}

TEST_CASE("a training goes on only from a state of the same text") {
    auto const texts = tiny_dlm::corpus::synthetic();
    tiny_dlm::recipe how;
    how.model = tiny_dlm_test::small_model();
    how.model.length = 64;
    how.model.vocabulary = texts.words().size();
    temporary const file;
    tiny_dlm::trainer(how, texts, 1).save(file.path);
    CHECK(is_there(file.path, how, texts));
    auto state = tiny_dlm::read_safetensors(file.path);
    state.metadata["corpus"] = "another";
    tiny_dlm::write_safetensors(file.path, state);
    CHECK(!is_there(file.path, how, texts));
    state.metadata.erase("corpus");
    tiny_dlm::write_safetensors(file.path, state);
    CHECK(!is_there(file.path, how, texts));
}
