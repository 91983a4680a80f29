// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>
#include <cstddef>
#include <functional>
#include <limits>
#include <vector>

// Attention by plain loops in double, without a line of the library: the mask is a matrix, changes of scores are a
// function, sinks, lengths and borders are lists. Everything is (batch, head, token, channel), row-major.
namespace basin_test {

inline constexpr double infinity = std::numeric_limits<double>::infinity();

/// Where a query meets a key, in positions.
struct place {
    int batch, head, query, key;
};

struct sink_row {
    std::vector<double> key, value; // without a value it adds nothing
};

struct oracle_input {
    int batch = 1, heads = 1, kv_heads = 1, queries = 0, keys = 0, channels = 1, values = 1;
    std::vector<double> q, k, v;
    double scale = 1;
    std::vector<bool> mask;                                                  // (batch, head, query, key)
    std::function<double(double, int b, int h, int i, int j)> score;         // indices, not positions
    std::function<double(double, int b, int h, int i, int j)> weight;        // of a probability, after the softmax
    std::function<double(double, int b, int h, int j, int c)> value;         // of an element of a value
    std::vector<std::vector<double>> logits;                                 // per head
    std::vector<std::vector<sink_row>> kv_sinks;                             // per key-value head
    std::vector<int> query_lengths, key_lengths, query_offsets, key_offsets; // empty: not given
    std::vector<int> groups;                                                 // (batch, query); empty: one group
    int group_count = 1;

    std::size_t query_index(int b, int h, int i) const {
        return (static_cast<std::size_t>(b) * static_cast<std::size_t>(heads) + static_cast<std::size_t>(h)) *
                   static_cast<std::size_t>(queries) +
               static_cast<std::size_t>(i);
    }
    std::size_t pair_index(int b, int h, int i, int j) const {
        return query_index(b, h, i) * static_cast<std::size_t>(keys) + static_cast<std::size_t>(j);
    }
    std::size_t key_index(int b, int h, int group, int j) const {
        return ((static_cast<std::size_t>(b) * static_cast<std::size_t>(heads) + static_cast<std::size_t>(h)) *
                    static_cast<std::size_t>(group_count) +
                static_cast<std::size_t>(group)) *
                   static_cast<std::size_t>(keys) +
               static_cast<std::size_t>(j);
    }
};

struct oracle_result {
    std::vector<double> out;                                               // (batch, head, query, value channel)
    std::vector<double> lse, entropy, escaped, favourite_p, largest_score; // (batch, head, query)
    std::vector<int> favourite;
    std::vector<std::vector<int>> rivals;                            // keys within a hair of the favourite
    std::vector<double> received, peak, votes, received_value, seen; // (batch, head, group, key)
    std::vector<double> votes_most;                                  // with every rival counted
};

inline oracle_result oracle(oracle_input const& in) {
    auto const size = [](auto... n) { return (static_cast<std::size_t>(n) * ...); };
    oracle_result r;
    std::size_t const rows = size(in.batch, in.heads, in.queries);
    std::size_t const columns = size(in.batch, in.heads, in.group_count, in.keys);
    r.out.assign(rows * size(in.values), 0);
    r.lse.assign(rows, -infinity);
    for (auto* x : {&r.entropy, &r.escaped, &r.favourite_p, &r.largest_score}) x->assign(rows, 0);
    r.favourite.assign(rows, -1);
    r.rivals.assign(rows, {});
    for (auto* x : {&r.received, &r.peak, &r.votes, &r.votes_most, &r.received_value, &r.seen}) x->assign(columns, 0);

    struct term {
        int key; // -1: a sink
        double score;
        std::vector<double> const* sink_value;
    };
    auto const kv_at = [&](std::vector<double> const& x, int b, int head, int token, int c, int width) {
        return x[((size(b) * size(in.kv_heads) + size(head)) * size(in.keys) + size(token)) * size(width) + size(c)];
    };
    std::vector<term> terms;
    for (int b = 0; b < in.batch; ++b)
        for (int h = 0; h < in.heads; ++h)
            for (int i = 0; i < in.queries; ++i) {
                int const kv = h / (in.heads / in.kv_heads);
                // Which keys belong to the text of this query?
                int begin = 0, end = in.keys;
                if (!in.query_lengths.empty() && i >= in.query_lengths[size(b)]) continue;
                if (!in.key_lengths.empty()) end = in.key_lengths[size(b)];
                if (!in.query_offsets.empty()) {
                    std::size_t text = 0;
                    while (text + 1 < in.query_offsets.size() && i >= in.query_offsets[text + 1]) ++text;
                    if (text + 1 == in.query_offsets.size()) continue;
                    begin = in.key_offsets[text];
                    end = in.key_offsets[text + 1];
                }
                double const* const query = &in.q[in.query_index(b, h, i) * size(in.channels)];
                terms.clear();
                if (!in.logits.empty())
                    for (double const logit : in.logits[size(h)]) terms.push_back({-1, logit, nullptr});
                if (!in.kv_sinks.empty())
                    for (sink_row const& s : in.kv_sinks[size(kv)]) {
                        double dot = 0;
                        for (int c = 0; c < in.channels; ++c) dot += query[c] * s.key[size(c)];
                        terms.push_back({-1, dot * in.scale, s.value.empty() ? nullptr : &s.value});
                    }
                for (int j = begin; j < end; ++j) {
                    if (!in.mask.empty() && !in.mask[in.pair_index(b, h, i, j)]) continue;
                    double x = 0;
                    for (int c = 0; c < in.channels; ++c) x += query[c] * kv_at(in.k, b, kv, j, c, in.channels);
                    x *= in.scale;
                    if (in.score) x = in.score(x, b, h, i, j);
                    if (x != -infinity) terms.push_back({j, x, nullptr});
                }
                double high = -infinity;
                for (term const& t : terms) high = std::max(high, t.score);
                if (high == -infinity) continue; // nobody there
                double sum = 0;
                for (term const& t : terms) sum += std::exp(t.score - high);
                std::size_t const row = in.query_index(b, h, i);
                int const group = in.groups.empty() ? 0 : in.groups[size(b) * size(in.queries) + size(i)];
                r.lse[row] = high + std::log(sum);
                double best = -infinity;
                for (term const& t : terms) {
                    double const p = std::exp(t.score - high) / sum;
                    r.largest_score[row] = std::max(r.largest_score[row], std::abs(t.score));
                    if (t.key < 0) {
                        r.escaped[row] += p;
                        for (int c = 0; t.sink_value != nullptr && c < in.values; ++c)
                            r.out[row * size(in.values) + size(c)] += p * (*t.sink_value)[size(c)];
                        continue;
                    }
                    double const w = in.weight ? in.weight(p, b, h, i, t.key) : p;
                    double norm = 0;
                    for (int c = 0; c < in.values; ++c) {
                        double x = kv_at(in.v, b, kv, t.key, c, in.values);
                        if (in.value) x = in.value(x, b, h, t.key, c);
                        r.out[row * size(in.values) + size(c)] += w * x;
                        norm += x * x;
                    }
                    std::size_t const column = in.key_index(b, h, group, t.key);
                    r.received[column] += p;
                    r.peak[column] = std::max(r.peak[column], p);
                    r.received_value[column] += p * std::sqrt(norm);
                    r.seen[column] += 1;
                    if (p > 0) r.entropy[row] -= p * std::log(p);
                    if (t.score > best) {
                        best = t.score;
                        r.favourite[row] = t.key;
                        r.favourite_p[row] = p;
                    }
                }
                for (term const& t : terms)
                    if (t.key >= 0 && t.score > best - 1e-5 * (1 + std::abs(best))) r.rivals[row].push_back(t.key);
                for (int const key : r.rivals[row]) {
                    r.votes_most[in.key_index(b, h, group, key)] += 1;
                    if (r.rivals[row].size() == 1) r.votes[in.key_index(b, h, group, key)] += 1;
                }
            }
    return r;
}

} // namespace basin_test
