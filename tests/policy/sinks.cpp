// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#include "shapes.hpp"

#include <algorithm>

using namespace basin_test;

TEST_CASE("sink_masked against the oracle") {
    // Variants: sets per batch entry and head, or shared; hidden from all, or from all but the key itself.
    check_against_oracle(
        [](shape const& s, auto, int variant) {
            bool const shared = variant % 2 == 1, itself = variant >= 2;
            int const n = s.limit();
            auto const is_sink = [=](int b, int h, int key) {
                return shared
                           ? key % 4 == 0
                           : random_numbers::bits(40U + static_cast<unsigned>(b * 9 + h), static_cast<unsigned>(key)) %
                                     3 ==
                                 0;
            };
            basin::key_set set(shared ? 1 : s.texts(), shared ? 1 : s.heads, n);
            for (int b = 0; b < set.batch(); ++b)
                for (int h = 0; h < set.heads(); ++h)
                    for (int j = 0; j < n; ++j)
                        if (is_sink(b, h, j)) set.insert(b, h, j);
            return made{
                itself ? basin::sink_masked(set, basin::sink_masked::except_itself) : basin::sink_masked(set),
                {.sees = [=](place x) { return !is_sink(x.batch, x.head, x.key) || (itself && x.key == x.query); }}};
        },
        4);
}

TEST_CASE("sink_masked hiding every key against the oracle") {
    check_against_oracle([](shape const& s, auto, int) {
        basin::key_set set(1, 1, s.limit());
        for (int j = 0; j < s.limit(); ++j) set.insert(0, 0, j);
        return made{basin::sink_masked(set), {.sees = [](place) { return false; }}};
    });
}

namespace {
/// Who sees whom with sink tokens over a base, by the words of the definition.
std::function<bool(place)> with_tokens(std::vector<int> const& tokens, bool mutual,
                                       std::function<bool(place)> const& base) {
    return [=](place x) {
        bool const query_is_sink = std::count(tokens.begin(), tokens.end(), x.query) > 0;
        bool const key_is_sink = std::count(tokens.begin(), tokens.end(), x.key) > 0;
        if (query_is_sink) return x.key == x.query || (mutual && key_is_sink);
        return key_is_sink || base(x);
    };
}
} // namespace

TEST_CASE("sink_token over full against the oracle") {
    check_against_oracle(
        [](shape const&, auto, int variant) {
            auto const everything = [](place) { return true; };
            if (variant == 0) return made{basin::sink_token{0}, {.sees = with_tokens({0}, false, everything)}};
            bool const mutual = variant == 2;
            return made{basin::sink_token{{7, 0, 16}, basin::full{}, mutual},
                        {.sees = with_tokens({0, 7, 16}, mutual, everything)}};
        },
        3);
}

TEST_CASE("sink_token over a window against the oracle") {
    check_against_oracle(
        [](shape const&, auto, int variant) {
            bool const mutual = variant == 1;
            auto const near = [](place x) { return x.key >= x.query - 2 && x.key <= x.query + 1; };
            return made{basin::sink_token{{2, 5, 33, 2}, basin::window{2, 1}, mutual},
                        {.sees = with_tokens({2, 5, 33}, mutual, near)}};
        },
        2);
}

TEST_CASE("sink_token over masked sinks, a soft cap and a sink logit against the oracle") {
    check_against_oracle([](shape const& s, auto, int) {
        basin::key_set set(1, 1, s.limit());
        for (int j = 0; j < s.limit(); j += 2) set.insert(0, 0, j);
        auto const base = basin::all_of(basin::sink_masked(set), basin::softcap{2.0}, basin::sink_logit{-0.5});
        return made{basin::sink_token{{4, 1}, base},
                    {.sees = with_tokens({4, 1}, false, [](place x) { return x.key % 2 != 0; }),
                     .score = [](double x, place) { return 2 * std::tanh(x / 2); },
                     .logits = std::vector<std::vector<double>>(static_cast<std::size_t>(s.heads), {-0.5})}};
    });
}

TEST_CASE("sink_logit against the oracle") {
    check_against_oracle(
        [](shape const& s, auto, int variant) {
            std::vector<std::vector<double>> each(static_cast<std::size_t>(s.heads), {0.0});
            if (variant == 0) return made{basin::sink_logit{0}, {.logits = each}};
            std::vector<double> list;
            for (int h = 0; h < s.heads; ++h) {
                list.push_back(variant == 1 ? 1.5 - h : -infinity);
                each[static_cast<std::size_t>(h)] = {list.back()};
            }
            return made{basin::sink_logit{list}, {.logits = each}};
        },
        3);
}

TEST_CASE("two sink logits under a causal mask against the oracle") {
    check_against_oracle([](shape const& s, auto, int) {
        return made{
            basin::all_of(basin::sink_logit{3.0}, basin::causal{}, basin::temperature{2.0}, basin::sink_logit{2.0}),
            {.sees = [](place x) { return x.key <= x.query; },
             .score = [](double x, place) { return x / 2; }, // never touches the sinks
             .logits = std::vector<std::vector<double>>(static_cast<std::size_t>(s.heads), {3.0, 2.0})}};
    });
}

namespace {
/// The arrays of a kv_sink, which borrows, and the same numbers for the oracle.
template <class T>
struct sink_arrays {
    basin::buffer<T, 3> keys, values;
    std::vector<std::vector<sink_row>> rows;

    sink_arrays(int heads, int kv_heads, int n, int channels, int value_channels, bool with_values)
        : keys(heads, n, channels), values(heads, n, value_channels), rows(static_cast<std::size_t>(kv_heads)) {
        random_numbers r{17, 0};
        for (T& x : keys) x = array<T>::make(r.uniform(-2, 2));
        for (T& x : values) x = array<T>::make(r.uniform(-1, 1));
        for (int h = 0; h < kv_heads; ++h)
            for (int i = 0; i < n; ++i) {
                sink_row row;
                int const from = heads == 1 ? 0 : h;
                for (int c = 0; c < channels; ++c) row.key.push_back(static_cast<double>(keys(from, i, c)));
                for (int c = 0; c < value_channels && with_values; ++c)
                    row.value.push_back(static_cast<double>(values(from, i, c)));
                rows[static_cast<std::size_t>(h)].push_back(row);
            }
    }
};
} // namespace

TEST_CASE("kv_sink against the oracle") {
    // Variants: with values per head, shared by the heads, without values, none at all.
    check_against_oracle(
        []<class T>(shape const& s, T, int variant) {
            static std::unique_ptr<sink_arrays<T>> kept; // a kv_sink borrows
            kept = std::make_unique<sink_arrays<T>>(variant == 1 ? 1 : s.kv_heads, s.kv_heads,
                                                    variant == 3 ? 0 : 2 + variant, s.channels, s.values, variant != 2);
            if (variant == 2) return made{basin::kv_sink{kept->keys}, {.kv_sinks = kept->rows}};
            return made{basin::kv_sink{kept->keys, kept->values}, {.kv_sinks = kept->rows}};
        },
        4);
}

TEST_CASE("kv_sink, sink_logit, a soft cap and a mask together against the oracle") {
    check_against_oracle([]<class T>(shape const& s, T, int) {
        static std::unique_ptr<sink_arrays<T>> kept;
        kept = std::make_unique<sink_arrays<T>>(s.kv_heads, s.kv_heads, 2, s.channels, s.values, true);
        return made{basin::all_of(basin::kv_sink{kept->keys, kept->values}, basin::prefix{5}, basin::softcap{1.0},
                                  basin::sink_logit{0.25}),
                    {.sees = [](place x) { return x.key < 5; },
                     .score = [](double x, place) { return std::tanh(x); },
                     .logits = std::vector<std::vector<double>>(static_cast<std::size_t>(s.heads), {0.25}),
                     .kv_sinks = kept->rows}};
    });
}
