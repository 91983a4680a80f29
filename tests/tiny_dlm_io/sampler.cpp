// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#if defined(BASIN_TEST_EIGEN) // the sampler looks at logits through Eigen's arrays
#include "support.hpp"

#include "../../examples/tiny_dlm/sampler.hpp"

#include <set>

using namespace tiny_dlm;
using namespace io_test;

namespace {

constexpr index_t vocabulary = 8; // four special tokens, and 4 ... 7
constexpr auto nobody = [](sampling_step const&) {};

/// Logits of positions, each given as the logits of tokens 4 ... 7; special tokens have a huge one, which must not matter.
struct table_of_logits {
    std::vector<std::vector<float>> rows;
    std::vector<float> operator()(std::vector<token_id> const& tokens) const {
        std::vector<float> all;
        for (std::size_t i = 0; i < tokens.size(); ++i) {
            all.insert(all.end(), {99, -20, 99, 99});
            auto const& row = rows[i % rows.size()];
            all.insert(all.end(), row.begin(), row.end());
        }
        return all;
    }
};
/// The steps at which positions are decided.
std::vector<index_t> steps_of(std::vector<token_id> tokens, table_of_logits const& logits, sampling const& how) {
    std::vector<index_t> when(tokens.size(), -1);
    denoise(tokens, 1, vocabulary, how, logits, [&](sampling_step const& s) {
        for (std::size_t i = 0; i < s.fresh.size(); ++i) {
            if (s.fresh[i] != 0) when[i] = s.step;
        }
    });
    for (token_id const t : tokens) CHECK(t != tokenizer::mask);
    return when;
}

// Position 0: sure of token 4 but with a rival; 1: quite sure, no rival; 2: torn between two; 3: a flat distribution.
//              probabilities  .60 .38 .01 .01   .58 .14 .14 .14   .50 .50 0 0   .28 .24 .24 .24
table_of_logits const four{{{std::log(.60F), std::log(.38F), std::log(.01F), std::log(.01F)},
                            {std::log(.58F), std::log(.14F), std::log(.14F), std::log(.14F)},
                            {std::log(.501F), std::log(.499F), -40, -40},
                            {std::log(.28F), std::log(.24F), std::log(.24F), std::log(.24F)}}};

} // namespace

TEST_CASE("confidence, entropy and margin decide in their own orders") {
    std::vector<token_id> const masked(4, tokenizer::mask);
    using order = std::vector<index_t>;
    CHECK(steps_of(masked, four, {.order = commit_order::confidence, .steps = 4}) == order{0, 1, 2, 3});
    // entropies .78, 1.14, .69, 1.38: the LOWEST is committed first
    CHECK(steps_of(masked, four, {.order = commit_order::entropy, .steps = 4}) == order{1, 2, 0, 3});
    // margins .22, .44, .002, .04
    CHECK(steps_of(masked, four, {.order = commit_order::margin, .steps = 4}) == order{1, 0, 3, 2});
}

TEST_CASE("steps share positions evenly, more at first, and never more steps than positions") {
    std::vector<token_id> const masked(4, tokenizer::mask);
    using order = std::vector<index_t>;
    CHECK(steps_of(masked, four, {.steps = 1}) == order{0, 0, 0, 0});
    CHECK(steps_of(masked, four, {.steps = 2}) == order{0, 0, 1, 1});
    CHECK(steps_of(masked, four, {.steps = 3}) == order{0, 0, 1, 2});
    CHECK(steps_of(masked, four, {.steps = 1000}) == order{0, 1, 2, 3});
    CHECK(steps_of({4, 0, 5, 0}, four, {.steps = 2}) == order{-1, 0, -1, 1}); // what is given stays
    CHECK(steps_of({4, 4, 5, 6}, four, {.steps = 2}) == order{-1, -1, -1, -1});
}

TEST_CASE("a confidence threshold decides several positions at once, and always one") {
    std::vector<token_id> const masked(4, tokenizer::mask);
    using order = std::vector<index_t>;
    CHECK(steps_of(masked, four, {.steps = 1, .threshold = 0.55}) == order{0, 0, 1, 2});
    CHECK(steps_of(masked, four, {.steps = 1, .threshold = 0.99}) == order{0, 1, 2, 3});
    CHECK(steps_of(masked, four, {.steps = 4, .threshold = 0.2}) == order{0, 0, 0, 0});
    CHECK(steps_of(masked, four, {.order = commit_order::entropy, .threshold = 0.55}) == order{0, 0, 0, 1});
}

TEST_CASE("blocks are finished from left to right") {
    std::vector<token_id> const masked(8, tokenizer::mask);
    using order = std::vector<index_t>;
    CHECK(steps_of(masked, four, {.order = commit_order::margin, .steps = 8, .block = 2}) ==
          order{1, 0, 3, 2, 5, 4, 7, 6});
    CHECK(steps_of(masked, four, {.order = commit_order::margin, .steps = 2, .block = 4}) ==
          order{0, 0, 0, 0, 1, 1, 1, 1});
    CHECK(steps_of(masked, four, {.steps = 1, .block = 3}) == order{0, 0, 0, 1, 1, 1, 2, 2}); // one step each at least
    // Blocks stand at multiples of their width, as the block-diffusion model sees them; full ones take no step.
    CHECK(steps_of({4, 4, 4, 0, 0, 0, 0, 0}, four, {.steps = 4, .block = 4}) == order{-1, -1, -1, 0, 1, 1, 2, 2});
}

TEST_CASE("the best token is written, special tokens never, ties go to the lower one") {
    table_of_logits const logits{{{0, 3, 1, 2}, {5, 5, 5, 5}, {-30, -30, -30, -30}}};
    std::vector<token_id> tokens(3, tokenizer::mask);
    denoise(tokens, 1, vocabulary, {}, logits, nobody);
    CHECK(tokens == std::vector<token_id>{5, 4, tokenizer::eos}); // [EOS] has -20
}

TEST_CASE("what a step reports") {
    std::vector<token_id> tokens{4, 0, 0};
    index_t calls = 0;
    denoise(tokens, 1, vocabulary, {.steps = 2}, four, [&](sampling_step const& s) {
        CHECK(s.step == calls++);
        CHECK(s.batch == 1);
        CHECK(s.length == 3);
        if (s.step == 0) {
            CHECK(std::ranges::equal(s.before, std::vector<token_id>{4, 0, 0}));
            CHECK(std::ranges::equal(s.tokens, std::vector<token_id>{4, 4, 0}));
            CHECK(std::ranges::equal(s.fresh, std::vector<std::uint8_t>{0, 1, 0}));
            CHECK(s.confidence[0] == 1);
            CHECK(s.confidence[1] == doctest::Approx(.58));
            CHECK(s.confidence[2] == doctest::Approx(.501));
        }
    });
    CHECK(calls == 2);
}

TEST_CASE("texts of a batch do not see each other") {
    table_of_logits const logits{{{0, 1, 2, 3}, {9, 1, 0, 0}, {0, 0, 5, 1}, {1, 0, 0, 7}, {2, 2, 1, 0}}};
    for (commit_order const order :
         {commit_order::confidence, commit_order::entropy, commit_order::margin, commit_order::random}) {
        sampling const how{.order = order, .steps = 3, .seed = 5};
        std::vector<token_id> both(10, tokenizer::mask), first(5, tokenizer::mask);
        denoise(both, 2, vocabulary, how, logits, nobody);
        denoise(first, 1, vocabulary, how, logits, nobody);
        both.resize(5);
        CHECK(both == first);
    }
}

TEST_CASE("random order and temperature come from the seed") {
    std::vector<token_id> const masked(8, tokenizer::mask);
    std::set<std::vector<index_t>> orders;
    std::set<std::vector<token_id>> texts;
    int counts[4] = {};
    for (std::uint64_t seed = 0; seed < 500; ++seed) {
        sampling const shuffled{.order = commit_order::random, .steps = 8, .seed = seed};
        auto const when = steps_of(masked, four, shuffled);
        CHECK(when == steps_of(masked, four, shuffled));
        orders.insert(when);
        std::vector<token_id> a = masked, b = masked;
        sampling const warm{.steps = 1, .temperature = 1, .seed = seed}; // more steps prefer what is likely
        denoise(a, 1, vocabulary, warm, four, nobody);
        denoise(b, 1, vocabulary, warm, four, nobody);
        CHECK(a == b);
        texts.insert(a);
        ++counts[a[1] - 4];
    }
    CHECK(orders.size() > 450);
    CHECK(texts.size() > 200);
    for (int i = 0; i < 4; ++i) // the softmax itself: .58 .14 .14 .14
        CHECK(std::abs(counts[i] / 500.0 - (i == 0 ? .58 : .14)) < 0.06);
    std::vector<token_id> cold = masked, best = masked;
    denoise(cold, 1, vocabulary, {.temperature = 1e-3, .seed = 3}, table_of_logits{{{0, 1, 0, 0}}}, nobody);
    denoise(best, 1, vocabulary, {}, table_of_logits{{{0, 1, 0, 0}}}, nobody);
    CHECK(cold == best);
}

TEST_CASE("a fixed seed writes a fixed text") {
    std::vector<token_id> tokens(16, tokenizer::mask);
    denoise(tokens, 1, vocabulary, {.order = commit_order::random, .steps = 5, .temperature = 1, .seed = 42}, four,
            nobody);
    std::string text;
    for (token_id const t : tokens) text += static_cast<char>('0' + t);
    CHECK(text == "5654445444575747");
}

TEST_CASE("the autoregressive twin goes from left to right") {
    table_of_logits const logits{{{0, 9, 0, 0}, {0, 0, 9, 0}, {0, 0, 0, 9}, {9, 0, 0, 0}}};
    std::vector<token_id> tokens{4, 0, 0, 0, 5, 6, 0, 0}; // a second text has a longer prompt
    std::vector<index_t> when(8, -1);
    continue_text(tokens, 2, vocabulary, {}, logits, [&](sampling_step const& s) {
        for (std::size_t i = 0; i < 8; ++i) {
            if (s.fresh[i] != 0) when[i] = s.step;
        }
    });
    CHECK(tokens == std::vector<token_id>{4, 5, 6, 7, 5, 6, 6, 7}); // row i is about position i + 1
    CHECK(when == std::vector<index_t>{-1, 0, 1, 2, -1, -1, 1, 2});
    std::vector<token_id> warm(32, tokenizer::mask);
    warm[0] = 4;
    auto other = warm, again = warm;
    continue_text(warm, 1, vocabulary, {.temperature = 1, .seed = 1}, four, nobody);
    continue_text(again, 1, vocabulary, {.temperature = 1, .seed = 1}, four, nobody);
    continue_text(other, 1, vocabulary, {.temperature = 1, .seed = 2}, four, nobody);
    CHECK(warm == again);
    CHECK(warm != other);
}

TEST_CASE("wrong questions to a sampler are refused") {
    std::vector<token_id> const masked(4, tokenizer::mask);
    auto const why = [&](std::vector<token_id> tokens, index_t batch, index_t size, sampling const& how) {
        return complaint([&] { denoise(tokens, batch, size, how, four, nobody); });
    };
    CHECK(has(why(masked, 3, 8, {}), "not a number of texts"));
    CHECK(has(why(masked, 0, 8, {}), "not a number of texts"));
    CHECK(has(why(masked, 1, 4, {}), "special tokens alone"));
    CHECK(has(why(masked, 1, 8, {.steps = 0}), "at least one step"));
    CHECK(has(why(masked, 1, 8, {.threshold = 1.5}), "the threshold is a probability"));
    CHECK(has(why(masked, 1, 8, {.block = -1}), "a block has at least one position"));
    CHECK(has(why(masked, 1, 8, {.temperature = -1}), "the temperature is 0 or more"));
    CHECK(has(why({8}, 1, 8, {}), "a token is not in the vocabulary"));
    table_of_logits const broken{{{0, 0, std::nanf(""), 0}}}, infinite{{{0, HUGE_VALF, 0, 0}}};
    std::vector<token_id> tokens = masked;
    CHECK(has(complaint([&] { denoise(tokens, 1, vocabulary, {}, broken, nobody); }), "logits that are not numbers"));
    CHECK(has(complaint([&] { denoise(tokens, 1, vocabulary, {}, infinite, nobody); }), "logits that are not numbers"));
    CHECK(has(complaint([&] { continue_text(tokens, 1, vocabulary, {}, four, nobody); }), "needs a first token"));
}
#endif
