// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include "any_policy.hpp"

#include <support/problem.hpp>

#include <deque>

namespace basin_test {

/// What a policy of a test learns: numbers, and the gradient that the backward pass finds for them.
struct trained {
    std::string name;
    std::vector<double> value, gradient;

    trained(std::string n, std::size_t size, std::uint64_t seed, double low = -1, double high = 1)
        : name(std::move(n)), value(size), gradient(size) {
        random_numbers random{seed};
        for (double& x : value) x = random.uniform(low, high);
    }
    basin::view<double, 3> sinks(index_t heads, index_t n, index_t channels) {
        return {value.data(), {{heads, n, channels}}};
    }
    basin::view<double, 3> sinks_gradient(index_t heads, index_t n, index_t channels) {
        return {gradient.data(), {{heads, n, channels}}};
    }
};
using parameters = std::deque<trained>; // addresses stay

/// A call forwards and backwards.
template <class T>
struct training : problem<T> {
    using A = basin::accumulation_t<T>;
    array<A> entropy, d_out, d_lse, d_received, d_entropy, d_q, d_k, d_v;

    explicit training(shape const& s, std::uint64_t seed = 1)
        : problem<T>(s, seed), entropy(s.batch, s.heads, 1, s.queries, s.lies),
          d_out(s.batch, s.heads, s.queries, s.values, s.lies), d_lse(s.batch, s.heads, 1, s.queries, s.lies),
          d_received(s.batch, s.heads, s.group_count, s.keys, s.lies),
          d_entropy(s.batch, s.heads, 1, s.queries, s.lies), d_q(s.batch, s.heads, s.queries, s.channels, s.lies),
          d_k(s.batch, s.kv_heads, s.keys, s.channels, s.lies), d_v(s.batch, s.kv_heads, s.keys, s.values, s.lies) {
        d_out.fill_random({seed, 3U << 20U}, -1, 1);
        d_lse.fill_random({seed, 4U << 20U}, -1, 1);
        d_received.fill_random({seed, 5U << 20U}, -1, 1);
        d_entropy.fill_random({seed, 6U << 20U}, -1, 1);
        // What belongs to no text must not be read.
        for (int b = 0; b < s.batch; ++b)
            for (int i = 0; i < s.queries; ++i)
                if (!in_a_text(b, i)) spoil(b, i);
    }
    bool in_a_text(int b, int i) const {
        shape const& s = this->is;
        if (!s.query_lengths.empty()) return i < s.query_lengths[static_cast<std::size_t>(b)];
        return s.query_offsets.empty() || i < s.query_offsets.back();
    }
    void blank_gradients() {
        d_q.blank();
        d_k.blank();
        d_v.blank();
    }
    basin::query_groups groups() const {
        if (this->is.groups.empty()) return {};
        return basin::by_group(
            basin::view<index_t const, 2>{this->is.groups.data(), {{this->is.batch, this->is.queries}}},
            this->is.group_count);
    }
    /// The loss whose gradient is asked for. `terms`: also through the statistics.
    double loss(bool terms) const {
        double sum = dot(this->out.numbers(), d_out.numbers());
        if (!terms) return sum;
        sum += dot(this->lse.numbers(), d_lse.numbers());
        sum += dot(this->received.numbers(), d_received.numbers());
        return sum + dot(entropy.numbers(), d_entropy.numbers());
    }

private:
    void spoil(int b, int i) {
        for (int h = 0; h < this->is.heads; ++h) {
            d_lse(b, h, 0, i) = d_entropy(b, h, 0, i) = static_cast<A>(std::nan(""));
            for (int c = 0; c < this->is.values; ++c) d_out(b, h, i, c) = static_cast<A>(std::nan(""));
        }
    }
    /// Rows that saw nothing or are padding (an lse of -inf) and what belongs to no text count nothing.
    static double dot(std::vector<double> const& x, std::vector<double> const& d) {
        double sum = 0;
        for (std::size_t i = 0; i < x.size(); ++i)
            if (std::isfinite(x[i]) && std::isfinite(d[i])) sum += x[i] * d[i];
        return sum;
    }
};

// In kernels_*.cpp: compiled once for all policies.
/// The reference forwards: out and the statistics.
template <class T, bool Weighs>
void run_forward(training<T>& t, any_policy<basin::accumulation_t<T>, Weighs> const& policy);

template <class T, bool Weighs>
struct backward_run {
    char const* backend;
    void (*run)(training<T>&, any_policy<basin::accumulation_t<T>, Weighs> const&, bool terms);
};
/// Every backend backwards, from what run_forward left.
template <class T, bool Weighs>
std::vector<backward_run<T, Weighs>> backward_runs();

/// The calls on which gradients are tested.
inline std::vector<shape> backward_shapes() {
    std::vector<shape> list;
    list.push_back({.queries = 5, .keys = 5, .heads = 2, .kv_heads = 2, .channels = 3, .values = 3});
    list.push_back({.queries = 1, .keys = 1, .channels = 1, .values = 1});
    list.push_back({.queries = 3,
                    .keys = 7,
                    .batch = 2,
                    .heads = 4,
                    .kv_heads = 2,
                    .channels = 3,
                    .values = 2,
                    .lies = memory::token_major});
    list.push_back({.queries = 7,
                    .keys = 3,
                    .heads = 3,
                    .kv_heads = 1,
                    .channels = 2,
                    .values = 5,
                    .lies = memory::gaps,
                    .scale = 0.7});
    list.push_back({.queries = 3,
                    .keys = 9,
                    .heads = 2,
                    .kv_heads = 1,
                    .channels = 4,
                    .values = 3,
                    .lies = memory::transposed,
                    .first_query = 5});
    list.push_back({.queries = 4,
                    .keys = 5,
                    .batch = 3,
                    .heads = 2,
                    .kv_heads = 1,
                    .channels = 2,
                    .values = 2,
                    .query_lengths = {4, 0, 2},
                    .key_lengths = {5, 3, 0}});
    list.push_back({.queries = 7,
                    .keys = 8,
                    .heads = 2,
                    .kv_heads = 2,
                    .channels = 2,
                    .values = 3,
                    .query_offsets = {0, 3, 3, 6},
                    .key_offsets = {0, 2, 4, 7}});
    list.push_back({.queries = 4,
                    .keys = 6,
                    .heads = 2,
                    .kv_heads = 1,
                    .channels = 3,
                    .values = 2,
                    .query_positions = {6, 1, 1, 3},
                    .key_positions = {2, 0, 7, 1, 3, 5}});
    list.push_back({.queries = 6,
                    .keys = 4,
                    .batch = 2,
                    .heads = 2,
                    .kv_heads = 2,
                    .channels = 2,
                    .values = 2,
                    .groups = {0, 1, 1, 0, 2, 1, 2, 2, 0, 1, 0, 0},
                    .group_count = 3});
    return list;
}

} // namespace basin_test
