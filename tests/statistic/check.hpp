// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include <support/problem.hpp>

namespace basin_test {

/// Arrays for all statistics of a call.
template <class T>
struct statistics {
    using A = basin::accumulation_t<T>;
    array<A> lse, entropy, escaped, favourite_p;
    array<index_t> favourite;
    array<A> received, peak, votes, received_value, seen;

    explicit statistics(shape const& s)
        : lse(s.batch, s.heads, 1, s.queries, s.lies), entropy(s.batch, s.heads, 1, s.queries, s.lies),
          escaped(s.batch, s.heads, 1, s.queries, s.lies), favourite_p(s.batch, s.heads, 1, s.queries, s.lies),
          favourite(s.batch, s.heads, 1, s.queries, s.lies), received(s.batch, s.heads, s.group_count, s.keys, s.lies),
          peak(s.batch, s.heads, s.group_count, s.keys, s.lies), votes(s.batch, s.heads, s.group_count, s.keys, s.lies),
          received_value(s.batch, s.heads, s.group_count, s.keys, s.lies),
          seen(s.batch, s.heads, s.group_count, s.keys, s.lies) {}
};

/// f(every statistic that needs no values...): what a call is asked for.
template <class T, class F>
void ask_all(statistics<T>& s, F const& f) {
    f(basin::lse{s.lse.flat()}, basin::entropy{s.entropy.flat()}, basin::escaped{s.escaped.flat()},
      basin::favourite{s.favourite.flat(), s.favourite_p.flat()}, basin::received{s.received.flat()},
      basin::peak{s.peak.flat()}, basin::votes{s.votes.flat()}, basin::seen{s.seen.flat()});
}

inline std::vector<double> as_numbers(std::vector<int> const& x) { return {x.begin(), x.end()}; }

/// All differences from the oracle; `with_values`: received_value was asked for.
template <class T>
std::vector<std::string> differences(statistics<T> const& s, checker<T> const& c, bool with_values = true) {
    auto const& want = c.want;
    std::vector<std::string> words = {
        c.by_query("lse", s.lse.numbers(), want.lse),
        c.by_query("entropy", s.entropy.numbers(), want.entropy),
        c.by_query("escaped", s.escaped.numbers(), want.escaped),
        c.by_query("favourite's probability", s.favourite_p.numbers(), want.favourite_p),
        c.by_key("received", s.received.numbers(), want.received),
        c.by_key("peak", s.peak.numbers(), want.peak),
        c.exact("seen", s.seen.numbers(), want.seen),
    };
    if (with_values) words.push_back(c.by_key("received_value", s.received_value.numbers(), want.received_value));
    // A favourite may be any key whose score is within rounding of the largest.
    auto const favourite = s.favourite.numbers();
    for (std::size_t i = 0; i < favourite.size(); ++i) {
        auto const& rivals = want.rivals[i];
        bool const found = rivals.empty()
                               ? favourite[i] == -1
                               : std::count(rivals.begin(), rivals.end(), static_cast<int>(favourite[i])) == 1;
        if (!found)
            words.push_back("favourite[" + std::to_string(i) + "] is " + std::to_string(favourite[i]) + ", expected " +
                            std::to_string(want.favourite[i]));
    }
    auto const votes = s.votes.numbers();
    double cast = 0, voters = 0;
    for (std::size_t i = 0; i < votes.size(); ++i) {
        if (votes[i] < want.votes[i] || votes[i] > want.votes_most[i])
            words.push_back("votes[" + std::to_string(i) + "] is " + std::to_string(votes[i]) + ", expected " +
                            std::to_string(want.votes[i]));
        cast += votes[i];
    }
    for (int const key : want.favourite) voters += key >= 0 ? 1 : 0;
    if (cast != voters) words.push_back("votes: " + std::to_string(cast) + " were cast by " + std::to_string(voters));
    for (bool const intact :
         {s.lse.intact(), s.entropy.intact(), s.escaped.intact(), s.favourite_p.intact(), s.favourite.intact(),
          s.received.intact(), s.peak.intact(), s.votes.intact(), s.received_value.intact(), s.seen.intact()})
        if (!intact) words.emplace_back("something was written between the elements of a statistic");
    return words;
}

/// Shapes for statistics: all lengths, groups, padding, packing, grouped heads, strides.
inline std::vector<shape> statistic_shapes() {
    std::vector<shape> list;
    for (int const n : {0, 1, 2, 3, 7, 8, 15, 16, 17, 31, 33, 64, 65, 127, 257})
        list.push_back({.queries = n, .keys = n, .channels = 8 + n % 5, .values = 3 + n % 4});
    list.push_back({.queries = 9, .keys = 40, .heads = 2, .first_query = 31});
    list.push_back({.queries = 6, .keys = 33, .query_positions = {3, 0, 17, 32, 8, 9}});
    list.push_back({.queries = 5, .keys = 0});
    list.push_back({.queries = 17, .keys = 17, .batch = 2, .heads = 4, .kv_heads = 2, .lies = memory::gaps});
    list.push_back({.queries = 70, .keys = 18, .heads = 2, .lies = memory::transposed});
    list.push_back(
        {.queries = 12, .keys = 20, .batch = 3, .heads = 2, .query_lengths = {12, 0, 7}, .key_lengths = {20, 9, 0}});
    list.push_back(
        {.queries = 23, .keys = 23, .heads = 2, .query_offsets = {0, 5, 5, 20}, .key_offsets = {0, 6, 8, 23}});
    return list;
}

/// The policy of these tests: causal, a soft cap, a sink; and the same in formulas.
inline auto const statistic_policy = basin::all_of(basin::causal{}, basin::softcap{3.0}, basin::sink_logit{0.25});
inline formulas statistic_formulas(shape const& s) {
    return {.sees = [](place x) { return x.key <= x.query; },
            .score = [](double x, place) { return 3 * std::tanh(x / 3); },
            .logits = std::vector<std::vector<double>>(static_cast<std::size_t>(s.heads), {0.25})};
}

} // namespace basin_test
