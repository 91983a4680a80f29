// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#include "support.hpp"

#include "../../examples/tiny_dlm/corpus.hpp"

using namespace tiny_dlm;
using namespace io_test;

TEST_CASE("random numbers have the same bits everywhere") {
    random_numbers const random{{7}};
    CHECK(random(1, 2, 3) == 0x6c3ed88643eb0758U);
    CHECK(random.below(1000, 5) == 178U);
    CHECK(random.normal(1, 2) == -0x1.8856980ep+0);
    CHECK(random.gumbel(1, 2) == 0x1.1cb953effd24bp+1);
    CHECK(random(1, 2) != random(2, 1));
    CHECK(random(1, 2) == random_numbers{{7}}(1, 2));
    CHECK(random(1, 2) != random_numbers{{8}}(1, 2));
}

TEST_CASE("random numbers have the moments they should have") {
    random_numbers const random{{1}};
    int const n = 100000;
    double normal[3] = {}, gumbel = 0;
    int counts[6] = {};
    for (int i = 0; i < n; ++i) {
        double const x = random.normal(0, i);
        normal[0] += x / n;
        normal[1] += x * x / n;
        normal[2] += x * x * x * x / n;
        gumbel += random.gumbel(i) / n;
        ++counts[random.below(6, i)];
    }
    CHECK(std::abs(normal[0]) < 0.01);
    CHECK(std::abs(normal[1] - 1) < 0.02);
    CHECK(std::abs(normal[2] - 2.9) < 0.1); // twelve uniform numbers: 3 - 6 / 60
    CHECK(std::abs(gumbel - 0.5772156649) < 0.02);
    for (int const count : counts) CHECK(std::abs(count - n / 6) < 500);
    for (double x = 1e-300; x < 1e300; x *= 1.7e3)
        CHECK(std::abs(portable_log(x) - std::log(x)) <= 4e-16 * std::max(1.0, std::abs(std::log(x))));
    CHECK(portable_log(1) == 0);
}

TEST_CASE("characters to tokens and back") {
    auto const words = tokenizer::from_text("hello, world\n", tokenizer::unit::characters);
    CHECK(words.size() == tokenizer::specials + 10);
    CHECK(words.name(tokenizer::mask) == "[MASK]");
    CHECK(words.name(tokenizer::specials) == "\n"); // in the order of bytes
    std::string const text = "held row\n";
    CHECK(words.decode(words.encode_text(text)) == text);
    CHECK(words.decode(words.encode_prompt(text)) == text);
    CHECK(words.encode_text("hez").back() == tokenizer::unknown);
    auto const prompt = words.encode_prompt("he[MASK]\\n[EOS]");
    CHECK(prompt.size() == 5);
    CHECK(prompt[2] == tokenizer::mask);
    CHECK(words.name(prompt[3]) == "\n");
    CHECK(prompt[4] == tokenizer::eos);
    CHECK(words.encode_prompt("").empty());
    CHECK(has(complaint([&] { words.name(99); }), "there is no token 99"));
}

TEST_CASE("words to tokens and back") {
    auto const words =
        tokenizer::from_text("The Lord's day, the LORD; said (he): day the\n1 the", tokenizer::unit::words, 5);
    CHECK(words.size() == tokenizer::specials + 5);
    CHECK(words.name(4) == "the"); // the most frequent first
    CHECK(words.name(5) == "day");
    CHECK(words.name(6) == "\n"); // of equals the first in the order of bytes
    auto const tokens = words.encode_text("The day\nthe Lord's");
    CHECK(tokens == std::vector<token_id>{4, 5, 6, 4, tokenizer::unknown});
    auto const all = tokenizer::from_text("Lord's day, he said (yes): \"no\"!\nThe\t end.", tokenizer::unit::words);
    CHECK(all.decode(all.encode_text("LORD'S day,  he said (yes)!\nThe end.")) ==
          "lord's day, he said (yes)!\nthe end.");
    CHECK(all.encode_prompt("the [MASK][MASK] end").size() == 4);
}

TEST_CASE("prompts outside the vocabulary are refused in a sentence") {
    auto const letters = tokenizer::from_text("ab\n", tokenizer::unit::characters);
    CHECK(complaint([&] { letters.encode_prompt("abc"); }) ==
          "the prompt has the character \"c\", which this model never saw; it knows: \\nab");
    CHECK(has(complaint([&] { letters.encode_prompt("a\xc3\xa4"); }), "the character \"\xc3\xa4\","));
    CHECK(has(complaint([&] { letters.encode_prompt("a\xff"); }), "the character \"\\xff\","));
    CHECK(has(complaint([&] { letters.encode_prompt(std::string("a\0", 2)); }), "the character \"\\x00\","));
    auto const words = tokenizer::from_text("and it was", tokenizer::unit::words);
    CHECK(complaint([&] { words.encode_prompt("and Computer"); }) ==
          "the prompt has the word \"computer\", which is not among the 3 words of this model");
}

TEST_CASE("tokenizers live in the metadata of a checkpoint") {
    std::string every;
    for (int i = 0; i < 256; ++i) every += static_cast<char>(i);
    for (auto const& words : {tokenizer::from_text(every, tokenizer::unit::characters),
                              tokenizer::from_text("it's a \\x41 back\\slash, \xc3\xa4\n", tokenizer::unit::words)}) {
        std::map<std::string, std::string> metadata;
        words.save(metadata);
        for (char const c : metadata["tokenizer.vocabulary"]) CHECK((c >= ' ' && c < 127));
        tokenizer const again = tokenizer::load(metadata);
        CHECK(again.by() == words.by());
        REQUIRE(again.size() == words.size());
        for (token_id t = 0; t < words.size(); ++t) CHECK(again.name(t) == words.name(t));
    }
    auto const why = [](std::string const& unit, std::string const& list) {
        return complaint([&] { tokenizer::load({{"tokenizer.unit", unit}, {"tokenizer.vocabulary", list}}); });
    };
    std::string const start = "[MASK] [EOS] [SINK] [UNK]";
    CHECK(why("words", start + " a b") == "nothing");
    CHECK(has(complaint([] { tokenizer::load({}); }), "has no tokenizer"));
    CHECK(has(why("bytes", start), "goes by \"bytes\", neither characters nor words"));
    CHECK(has(why("words", start + " a a"), "damaged at entry 5, \"a\""));
    CHECK(has(why("words", start + " a  b"), "damaged at entry 5, \"\""));
    CHECK(has(why("characters", start + " ab"), "damaged at entry 4, \"ab\""));
    CHECK(has(why("words", "[MASK] a"), "damaged at entry 1, \"a\""));
    CHECK(has(why("words", "[MASK]"), "it has no special tokens"));
    CHECK(has(why("words", ""), "it has no special tokens"));
    CHECK(has(why("words", start + " \\x4"), "damaged at"));
    CHECK(has(why("words", start + " \\xzz"), "damaged at"));
}

TEST_CASE("synthetic tasks have the form they should have, and their own answers are right") {
    for (std::uint64_t i = 0; i < 500; ++i) {
        task const t = task::make(3, i);
        REQUIRE(t.prompt.size() == 18);
        CHECK(t.text.starts_with(t.prompt));
        CHECK(t.text.size() <= static_cast<std::size_t>(task::longest));
        CHECK(t.text.ends_with(".\n"));
        CHECK(task::right_answers(t.text) == 3);
    }
    CHECK(task::make(3, 1).text == task::make(3, 1).text);
    CHECK(task::make(3, 1).text != task::make(3, 2).text);
    CHECK(task::make(3, 1).text != task::make(4, 1).text);
    CHECK(task::make(1, 0).text == "FFIJE|LHLKE|LIFJJ\nthe FFIJE,it EKLHL,sun FIJJL.\nsea the.\n");
}

TEST_CASE("the scorer") {
    std::string const prompt = "GGAEI|HGEHF|JDICE\n";
    CHECK(task::right_answers(prompt + "and GGAEI,is FHEGH,is CDEIJ.\n$$$") == 3);
    CHECK(task::right_answers(prompt + "and GGAEI;is FHEGH;is CDEIJ") == 3);
    CHECK(task::right_answers(prompt + "and GGAEI,is FHEGH,is CDEJI.\n") == 2);
    CHECK(task::right_answers(prompt + "and GGAEIA,is FHEGH,is CDEIJ.\n") == 2); // one letter too many
    CHECK(task::right_answers(prompt + "and FHEGH,is GGAEI,is CDEIJ.\n") == 1);  // in the wrong order
    CHECK(task::right_answers(prompt + "and GGAEI,is FHEGH\nis CDEIJ.\n") == 2); // only the first line counts
    CHECK(task::right_answers(prompt) == 0);
    CHECK(task::right_answers("") == 0);
    CHECK(task::right_answers("ABC") == 0);
}

TEST_CASE("batches of synthetic tasks") {
    corpus const c = corpus::synthetic(64);
    CHECK(c.has_answers());
    CHECK(c.words().size() == 33);
    text_batch const a = c.training(5, 7, 4), b = c.training(5, 7, 4);
    CHECK(a.tokens == b.tokens);
    CHECK(a.tokens != c.training(5, 8, 4).tokens);
    CHECK(a.tokens != c.training(6, 7, 4).tokens);
    CHECK(a.tokens.size() == 256);
    for (index_t i = 0; i < 4; ++i) {
        CHECK(a.prompt[static_cast<std::size_t>(i)] == 18);
        CHECK(c.right_answers(a.text(i)) == 3);
        CHECK(a.text(i).back() == tokenizer::eos);
        for (token_id const t : a.text(i)) CHECK((t == tokenizer::eos || t >= tokenizer::specials));
    }
    text_batch const v = c.validation(10, 3);
    CHECK(std::ranges::equal(v.text(1), c.validation(11, 1).text(0)));
    CHECK(has(complaint([] { corpus::synthetic(61); }), "a length of at least 62 tokens, not 61"));
}

TEST_CASE("batches of a text") {
    std::string text;
    for (int i = 0; i < 1000; ++i) text += static_cast<char>('a' + i / 100);
    auto const letters = tokenizer::from_text(text, tokenizer::unit::characters);
    corpus const c = corpus::from_text(text, letters, 16);
    CHECK(!c.has_answers());
    CHECK(c.validation_count() == 6);
    text_batch const v = c.validation(0, 6);
    CHECK(letters.decode(v.tokens) == std::string(96, 'j')); // the last tenth
    bool first = false, last = false;
    for (std::uint64_t step = 0; step < 300; ++step) {
        for (token_id const t : c.training(1, step, 4).tokens) {
            REQUIRE(letters.name(t) != "j");
            first = first || letters.name(t) == "a";
            last = last || letters.name(t) == "i";
        }
    }
    CHECK((first && last));
    CHECK(c.training(1, 2, 4).prompt == std::vector<index_t>(4, 0));
    CHECK(has(complaint([&] { c.validation(4, 3); }), "validation has 6 texts, not 7"));
    CHECK(has(complaint([&] { corpus::from_text("short", letters, 16); }),
              "has 5 tokens; windows of 16 need at least 160"));
}

TEST_CASE("text files") {
    folder const f("text");
    std::ofstream(f / "a") << std::string(200000, 'x');
    CHECK(read_text(f / "a").size() == 200000);
    CHECK(complaint([&] { read_text(f / "b"); }) == (f / "b") + " cannot be read: No such file or directory");
    CHECK(complaint([&] { read_text(f.path.string()); }) == f.path.string() + " cannot be read: Is a directory");
}
