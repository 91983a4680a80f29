// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include "runner.hpp"

#include <cmath>
#include <limits>

// The same answers once more, in textbook form and in double, without the library's policies, layout or kernels.
namespace laws {

inline constexpr double infinite = std::numeric_limits<double>::infinity();

inline bool leaf_sees(program::node const& n, index_t b, index_t h, index_t q, index_t k) {
    using op = program::op;
    index_t const x = n.a, y = n.b;
    switch (n.what) {
    case op::full:
        return true;
    case op::causal:
        return k <= q;
    case op::window:
        return k >= q - x && k <= q + y;
    case op::prefix:
        return k < x;
    case op::blocks:
        return k / x == q / x;
    case op::block_causal:
        return k / x <= q / x;
    case op::block_diffusion:
        if (q < y) return k < y ? k / x == q / x : (k - y) / x < q / x;
        return k >= y && (k - y) / x <= (q - y) / x;
    case op::comb:
        return k % x != y;
    case op::stripe:
        return (q + k + h + 2 * b) % x != y;
    default:
        return false;
    }
}

inline bool sees(program const& p, index_t b, index_t h, index_t q, index_t k) {
    using op = program::op;
    std::vector<bool> stack{true};
    for (int i = 0; i < p.count; ++i) {
        program::node const& n = p.nodes[i];
        bool const top = stack.back();
        if (n.what == op::none_of)
            stack.back() = !top;
        else if (n.what == op::sink_token)
            stack.back() = q == n.a ? k == q : top || k == n.a;
        else if (n.what == op::all_of || n.what == op::any_of) {
            stack.pop_back();
            stack.back() = n.what == op::all_of ? stack.back() && top : stack.back() || top;
        } else
            stack.push_back(leaf_sees(n, b, h, q, k));
    }
    return stack.back();
}

/// -infinity where the policy hides the key, by mask or by score.
inline double changed(program const& p, double x, index_t b, index_t h, index_t q, index_t k) {
    using change = program::change;
    if (!sees(p, b, h, q, k)) return -infinite;
    for (int i = 0; i < p.score_count; ++i) {
        program::score_node const& n = p.score_nodes[i];
        if (!leaf_sees(n.where, b, h, q, k) || x == -infinite) continue; // hidden for good
        if (n.what == change::temperature) x = x / n.x;
        if (n.what == change::softcap) x = n.x * std::tanh(x / n.x);
        if (n.what == change::slope) x = x - n.x * std::abs(q - k);
        if (n.what == change::shift) x = x + n.x;
        if (n.what == change::forbid) x = -infinite;
    }
    return x;
}

/// Empty outcome: zero everywhere, lse -infinity, no favourite.
inline outcome blank(problem const& x) {
    index_t const b = x.batch(), h = x.heads(), q = x.queries(), k = x.keys();
    auto const by_keys = [&] { return buffer<double, 3>(b, h, k); };
    auto const by_queries = [&] { return buffer<double, 3>(b, h, q); };
    outcome o{buffer<double, 4>(b, h, q, x.v.extent(3)),
              buffer<double, 4>(b, h, math::max(q, 1), k),
              by_keys(),
              by_keys(),
              by_keys(),
              by_keys(),
              by_keys(),
              by_queries(),
              by_queries(),
              by_queries(),
              by_queries(),
              by_queries()};
    o.lse.fill(-infinite);
    o.favourite.fill(-1);
    if (b == 0 || h == 0 || q == 0) { // the contract: nothing is touched, and runners begin with 7 everywhere
        for (auto* const untouched : {&o.received, &o.received_value, &o.peak, &o.votes, &o.seen}) untouched->fill(7);
        o.p.fill(7);
    }
    return o;
}

/// Without kv sinks.
inline outcome oracle(problem const& x, program const& policy) {
    outcome o = blank(x);
    double const scale = x.scale != 0 ? x.scale : 1 / std::sqrt(static_cast<double>(x.q.extent(3)));
    for (auto const& t : x.texts())
        for (index_t h = 0; h < x.heads(); ++h)
            for (index_t i = t.query_begin; i < t.query_end; ++i) {
                index_t const e = t.entry, kv = h / x.group();
                double const logit = policy.sink_base == -infinite ? -infinite : policy.sink_base + 0.25 * h;
                std::vector<double> scores;
                double high = logit;
                for (index_t j = t.key_begin; j < t.key_end; ++j) {
                    double dot = 0;
                    for (index_t c = 0; c < x.q.extent(3); ++c) dot += x.q(e, h, i, c) * x.k(e, kv, j, c);
                    scores.push_back(
                        changed(policy, dot * scale, t.number, h, x.query_position(t, i), x.key_position(t, j)));
                    high = std::fmax(high, scores.back());
                }
                if (high == -infinite) continue;
                double sum = std::exp(logit - high);
                for (double const s : scores) sum += std::exp(s - high);
                double const lse = high + std::log(sum);
                o.lse(e, h, i) = lse;
                o.escaped(e, h, i) = std::exp(logit - high) / sum;
                for (index_t j = t.key_begin; j < t.key_end; ++j) {
                    double const s = scores[static_cast<std::size_t>(j - t.key_begin)];
                    if (s == -infinite) continue;
                    double const p = std::exp(s - high) / sum;
                    o.p(e, h, i, j) = p;
                    o.received(e, h, j) += p;
                    o.peak(e, h, j) = std::fmax(o.peak(e, h, j), p);
                    o.seen(e, h, j) += 1;
                    o.entropy(e, h, i) += p == 0 ? 0 : p * (lse - s);
                    double norm = 0;
                    for (index_t c = 0; c < x.v.extent(3); ++c) {
                        o.out(e, h, i, c) += p * x.v(e, kv, j, c);
                        norm += x.v(e, kv, j, c) * x.v(e, kv, j, c);
                    }
                    o.received_value(e, h, j) += p * std::sqrt(norm);
                    index_t const best = static_cast<index_t>(o.favourite(e, h, i));
                    if (best < 0 || s > scores[static_cast<std::size_t>(best - t.key_begin)]) {
                        o.favourite(e, h, i) = j;
                        o.favourite_p(e, h, i) = p;
                    }
                }
            }
    return o;
}

} // namespace laws
