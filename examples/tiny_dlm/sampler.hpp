// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include "random.hpp"
#include "tokenizer.hpp"

#include <basin/core/site.hpp>

#include <Eigen/Core>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

// Writing a text with a model that gives logits: denoising in any order, or from left to right.
namespace tiny_dlm {

using basin::index_t;

/// Which masked position is decided first.
enum class commit_order : std::uint8_t {
    confidence, ///< the highest probability of the chosen token (low-confidence remasking)
    entropy,    ///< the LOWEST entropy
    margin,     ///< the largest distance between the probabilities of the two best tokens
    random,
};

/// How a text is written.
struct sampling {
    commit_order order = commit_order::confidence;
    index_t steps = 32;     ///< denoising steps over the whole text; never more than there are masked positions
    double threshold = 0;   ///< above 0: each step decides all positions whose probability reaches it, at least one
    index_t block = 0;      ///< above 0: blocks of so many positions are finished from left to right
    double temperature = 0; ///< 0: always the best token
    std::uint64_t seed = 0;
};

/// What a step did, for all texts of the batch.
struct sampling_step {
    index_t step, batch, length;
    std::span<token_id const> before;    ///< (batch, length) what the model saw
    std::span<token_id const> tokens;    ///< (batch, length) after the step
    std::span<std::uint8_t const> fresh; ///< (batch, length) 1 where this step decided a position
    std::span<float const> confidence;   ///< (batch, length) of the best token where it was masked, 1 elsewhere
};

namespace detail {

/// What the model thinks of one position.
struct opinion {
    token_id choice = 0;
    float probability = 0; ///< of the choice
    double urgency = 0;    ///< the highest is decided first
};

/// Special tokens except [EOS] are never written: they leave the distribution. Ties go to the lower token.
template <class T>
opinion judge(T const* logits, index_t vocabulary, sampling const& how, index_t step, index_t text, index_t position) {
    static_assert(tokenizer::eos < tokenizer::specials);
    index_t const count = vocabulary - tokenizer::specials;
    Eigen::Map<Eigen::Array<T, Eigen::Dynamic, 1> const> const words(logits + tokenizer::specials, count);
    T const eos = logits[tokenizer::eos], high = std::max(eos, words.maxCoeff());
    int unknown = eos != eos ? 1 : 0; // a plain loop without a way out: compilers test many at once
    for (index_t i = 0; i < count; ++i) unknown |= words[i] != words[i] ? 1 : 0;
    if (unknown != 0 || std::isinf(high))
        throw std::runtime_error("the model gave logits that are not numbers at position " + std::to_string(position) +
                                 "; its weights are damaged");

    random_numbers const random{{how.seed}};
    token_id choice = tokenizer::eos;
    if (how.temperature > 0) {
        double best = -std::numeric_limits<double>::infinity();
        for (token_id t = tokenizer::eos; t < vocabulary; t = t == tokenizer::eos ? tokenizer::specials : t + 1) {
            double const noisy =
                static_cast<double>(logits[t]) / how.temperature + random.gumbel(1, step, text, position, t);
            if (noisy <= best) continue;
            best = noisy;
            choice = t;
        }
    } else if (eos != high) {
        choice = static_cast<token_id>(std::find(words.data(), words.data() + count, high) - logits);
    }

    auto const below = words - high; // the distribution is exp(below) / sum
    auto const sum = static_cast<double>(std::exp(eos - high) + below.exp().sum());
    double const chosen = std::exp(static_cast<double>(logits[choice]) - static_cast<double>(high)) / sum;
    opinion result{choice, static_cast<float>(chosen), chosen};
    if (how.order == commit_order::entropy) { // minus the entropy; what is too small to matter may be -inf
        auto const term = [](auto const& x) { return x.exp() * x.max(T(-80)); };
        Eigen::Array<T, 1, 1> const last(eos - high);
        result.urgency = static_cast<double>(term(below).sum() + term(last).sum()) / sum - std::log(sum);
    }
    if (how.order == commit_order::margin) {
        std::array<T, 2> two{eos, -std::numeric_limits<T>::infinity()}; // the best and the next
        for (index_t i = 0; i < count; ++i) {
            T const x = words[i];
            two = x > two[0] ? std::array{x, two[0]} : std::array{two[0], std::max(two[1], x)};
        }
        result.urgency = (1 - static_cast<double>(std::exp(two[1] - high))) / sum;
    }
    if (how.order == commit_order::random) result.urgency = random.unit(2, step, text, position);
    return result;
}

inline void check_sampling(std::vector<token_id> const& tokens, index_t batch, index_t vocabulary,
                           sampling const& how) {
    auto const refuse = [](char const* why) { throw std::invalid_argument(why); };
    if (batch < 1 || tokens.size() % static_cast<std::size_t>(batch) != 0)
        refuse("sampling: the tokens are not a number of texts of one length");
    if (vocabulary <= tokenizer::specials) refuse("sampling: the vocabulary has special tokens alone");
    if (how.steps < 1) refuse("sampling: at least one step is needed");
    if (how.block < 0) refuse("sampling: a block has at least one position, or 0 for none");
    if (!(how.threshold >= 0 && how.threshold <= 1)) refuse("sampling: the threshold is a probability");
    if (!(how.temperature >= 0 && how.temperature < 1e6)) refuse("sampling: the temperature is 0 or more");
    for (token_id const t : tokens) {
        if (t < 0 || t >= vocabulary) refuse("sampling: a token is not in the vocabulary");
    }
}

/// One step at work: what was seen, decided and reported.
struct sampling_state {
    std::vector<token_id>& tokens;
    index_t batch, length, vocabulary;
    sampling const& how;
    index_t step = 0;
    std::vector<token_id> before{};
    std::vector<std::uint8_t> fresh{};
    std::vector<float> confidence{};

    std::size_t at(index_t text, index_t position) const {
        return static_cast<std::size_t>(text) * static_cast<std::size_t>(length) + static_cast<std::size_t>(position);
    }
    bool masked(index_t text, index_t position) const { return tokens[at(text, position)] == tokenizer::mask; }
    void begin() {
        before = tokens;
        fresh.assign(tokens.size(), 0);
        confidence.assign(tokens.size(), 1);
    }
    void decide(index_t text, index_t position, token_id choice) {
        tokens[at(text, position)] = choice;
        fresh[at(text, position)] = 1;
    }
    template <class OnStep>
    void end(OnStep&& on_step) {
        on_step(sampling_step{step, batch, length, before, tokens, fresh, confidence});
        ++step;
    }
};

/// How many of `masked` positions the step decides when `left` steps remain: as even as possible, more at first.
inline index_t share_of(index_t masked, index_t left) { return (masked + left - 1) / left; }

/// Decides positions of one text inside [begin, end).
template <class T>
void commit(sampling_state& s, T const* logits, index_t text, index_t begin, index_t end, index_t left) {
    struct candidate {
        index_t position;
        opinion view;
    };
    std::vector<candidate> open;
    for (index_t p = begin; p < end; ++p) {
        if (!s.masked(text, p)) continue;
        open.push_back({p, judge(logits + s.at(text, p) * static_cast<std::size_t>(s.vocabulary), s.vocabulary, s.how,
                                 s.step, text, p)});
        s.confidence[s.at(text, p)] = open.back().view.probability;
    }
    std::sort(open.begin(), open.end(), [](candidate const& a, candidate const& b) {
        // of equals the first position
        return a.view.urgency != b.view.urgency ? a.view.urgency > b.view.urgency : a.position < b.position;
    });
    auto const most = static_cast<std::size_t>(share_of(static_cast<index_t>(open.size()), left));
    for (std::size_t i = 0; i < open.size(); ++i) {
        bool const now = s.how.threshold > 0 ? i == 0 || open[i].view.probability >= s.how.threshold : i < most;
        if (now) s.decide(text, open[i].position, open[i].view.choice);
    }
}

struct in_order {
    template <class F>
    void operator()(index_t n, F const& f) const {
        for (index_t i = 0; i < n; ++i) f(i);
    }
};

} // namespace detail

/// Replaces every [MASK] of `tokens` (batch, length) step by step. `logits(tokens)` is called once per step and gives an array
/// with data(): (batch, length, vocabulary), row i for position i. `on_step(sampling_step)` sees what happened. Special tokens
/// except [EOS] are never written. Deterministic; the texts of a batch do not see each other, and `execute(n, f)`, which runs
/// f(0) ... f(n - 1), may be a basin::thread_pool.
template <class Logits, class OnStep, class Execute = detail::in_order>
void denoise(std::vector<token_id>& tokens, index_t batch, index_t vocabulary, sampling const& how, Logits&& logits,
             OnStep&& on_step, Execute&& execute = {}) {
    detail::check_sampling(tokens, batch, vocabulary, how);
    detail::sampling_state s{tokens, batch, static_cast<index_t>(tokens.size()) / batch, vocabulary, how};
    index_t const width = how.block > 0 ? how.block : std::max<index_t>(1, s.length);
    auto const most_masked = [&](index_t begin) {
        index_t most = 0;
        for (index_t text = 0; text < batch; ++text) {
            index_t count = 0;
            for (index_t p = begin; p < std::min(begin + width, s.length); ++p) count += s.masked(text, p) ? 1 : 0;
            most = std::max(most, count);
        }
        return most;
    };
    index_t blocks = 0, block = 0;
    for (index_t begin = 0; begin < s.length; begin += width) blocks += most_masked(begin) > 0 ? 1 : 0;

    for (index_t begin = 0; begin < s.length; begin += width) {
        index_t const masked = most_masked(begin);
        if (masked == 0) continue;
        index_t const share = how.steps / blocks + (block++ < how.steps % blocks ? 1 : 0);
        index_t left = std::clamp<index_t>(share, 1, masked);
        for (; most_masked(begin) > 0; left = std::max<index_t>(1, left - 1)) {
            s.begin();
            auto const& scores = logits(std::as_const(tokens));
            execute(batch, [&](index_t text) {
                detail::commit(s, scores.data(), text, begin, std::min(begin + width, s.length), left);
            });
            s.end(on_step);
        }
    }
}

/// The same for the autoregressive twin, left to right, one position per step: row i of the logits is for position i + 1, so the
/// first token of a text must be given. Order, steps, threshold and block mean nothing here.
template <class Logits, class OnStep>
void continue_text(std::vector<token_id>& tokens, index_t batch, index_t vocabulary, sampling const& how,
                   Logits&& logits, OnStep&& on_step) {
    detail::check_sampling(tokens, batch, vocabulary, how);
    detail::sampling_state s{tokens, batch, static_cast<index_t>(tokens.size()) / batch, vocabulary, how};
    for (index_t text = 0; text < batch; ++text) {
        if (s.length > 0 && s.masked(text, 0))
            throw std::invalid_argument("continuing a text from left to right needs a first token");
    }
    for (index_t p = 1; p < s.length; ++p) {
        bool any = false;
        for (index_t text = 0; text < batch; ++text) any = any || s.masked(text, p);
        if (!any) continue;
        s.begin();
        auto const& scores = logits(std::as_const(tokens));
        for (index_t text = 0; text < batch; ++text) {
            if (!s.masked(text, p)) continue;
            auto const view = detail::judge(scores.data() + s.at(text, p - 1) * static_cast<std::size_t>(vocabulary),
                                            vocabulary, how, s.step, text, p);
            s.confidence[s.at(text, p)] = view.probability;
            s.decide(text, p, view.choice);
        }
        s.end(on_step);
    }
}

} // namespace tiny_dlm
