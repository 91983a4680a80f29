// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include <support/arrays.hpp>
#include <support/backends.hpp>
#include <support/compare.hpp>
#include <support/oracle.hpp>

#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <vector>

// One call of attention, described without the library: the extents, where the tokens stand, and in plain formulas who
// sees whom. `expect` makes the oracle's answer from it, `problem` the arrays for the library.
namespace basin_test {

struct shape {
    int queries = 0, keys = 0;
    int batch = 1, heads = 1, kv_heads = 1, channels = 16, values = 16;
    memory lies = memory::dense;
    int first_query = 0;                   // position of the first query
    std::vector<int> query_positions = {}; // or a position for each
    std::vector<int> key_positions = {};
    std::vector<int> query_lengths = {}, key_lengths = {}, query_offsets = {}, key_offsets = {};
    std::vector<int> groups = {};
    int group_count = 1;
    double scale = std::nan("");

    std::string text() const {
        char words[160];
        std::snprintf(words, sizeof words,
                      "batch %d, heads %d:%d, queries %d, keys %d, channels %d, values %d, memory %d, first query %d",
                      batch, heads, kv_heads, queries, keys, channels, values, static_cast<int>(lies), first_query);
        return words;
    }
    int query_at(int i) const {
        if (!query_positions.empty()) return query_positions[static_cast<std::size_t>(i)];
        return first_query + i - begin(query_offsets, i);
    }
    int key_at(int j) const {
        if (!key_positions.empty()) return key_positions[static_cast<std::size_t>(j)];
        return j - begin(key_offsets, j);
    }
    /// What a policy calls the batch: the entry, or the number of the packed text.
    int text_of(int entry, int query) const { return query_offsets.empty() ? entry : number(query_offsets, query); }
    int texts() const { return query_offsets.empty() ? batch : static_cast<int>(query_offsets.size()) - 1; }
    /// One more than the largest position of queries and keys.
    int limit() const {
        int n = 1;
        for (int i = 0; i < queries; ++i) n = std::max(n, query_at(i) + 1);
        for (int j = 0; j < keys; ++j) n = std::max(n, key_at(j) + 1);
        return n;
    }

private:
    static int number(std::vector<int> const& offsets, int i) {
        int n = 0;
        while (n + 1 < static_cast<int>(offsets.size()) && i >= offsets[static_cast<std::size_t>(n) + 1]) ++n;
        return n;
    }
    static int begin(std::vector<int> const& offsets, int i) {
        return offsets.empty() ? 0 : offsets[static_cast<std::size_t>(number(offsets, i))];
    }
};

/// A policy in formulas of positions, written by a test without the library. Absent ones change nothing.
struct formulas {
    std::function<bool(place)> sees = {};
    std::function<double(double, place)> score = {};
    std::function<double(double, place)> weight = {};
    std::function<double(double, int head, int key, int channel)> value = {};
    std::vector<std::vector<double>> logits = {};
    std::vector<std::vector<sink_row>> kv_sinks = {};
};

/// The arrays of a call.
template <class T>
struct problem {
    using A = basin::accumulation_t<T>;
    shape is;
    array<T> q, k, v, out;
    array<A> lse, received, escaped;

    explicit problem(shape const& s, std::uint64_t seed = 1)
        : is(s), q(s.batch, s.heads, s.queries, s.channels, s.lies), k(s.batch, s.kv_heads, s.keys, s.channels, s.lies),
          v(s.batch, s.kv_heads, s.keys, s.values, s.lies), out(s.batch, s.heads, s.queries, s.values, s.lies),
          lse(s.batch, s.heads, 1, s.queries, s.lies), received(s.batch, s.heads, s.group_count, s.keys, s.lies),
          escaped(s.batch, s.heads, 1, s.queries, s.lies) {
        q.fill_random({seed, 0}, -2, 2);
        k.fill_random({seed, 1U << 20U}, -2, 2);
        v.fill_random({seed, 2U << 20U}, -1, 1);
    }
    void blank() {
        out.blank();
        lse.blank();
        received.blank();
        escaped.blank();
    }
    basin::view<T const, 4> query() const { return q.view(); }
    basin::view<T const, 4> key() const { return k.view(); }
    basin::view<T const, 4> value() const { return v.view(); }
    /// The options of the call; they borrow the lists of `is`.
    basin::options options() const {
        basin::options o;
        o.scale = is.scale;
        if (!is.query_lengths.empty()) o.query_lengths = is.query_lengths;
        if (!is.key_lengths.empty()) o.key_lengths = is.key_lengths;
        if (!is.query_offsets.empty()) o.query_offsets = is.query_offsets;
        if (!is.key_offsets.empty()) o.key_offsets = is.key_offsets;
        o.query_position = is.first_query;
        if (!is.query_positions.empty()) o.query_position = is.query_positions;
        if (!is.key_positions.empty()) o.key_position = is.key_positions;
        return o;
    }
};

template <class T>
oracle_input describe(problem<T> const& p, formulas const& f) {
    shape const& s = p.is;
    oracle_input in;
    in.batch = s.batch;
    in.heads = s.heads;
    in.kv_heads = s.kv_heads;
    in.queries = s.queries;
    in.keys = s.keys;
    in.channels = s.channels;
    in.values = s.values;
    in.q = p.q.numbers();
    in.k = p.k.numbers();
    in.v = p.v.numbers();
    in.scale = s.scale == s.scale ? s.scale : 1 / std::sqrt(static_cast<double>(s.channels));
    auto const at = [s](int b, int h, int i, int j) { return place{s.text_of(b, i), h, s.query_at(i), s.key_at(j)}; };
    if (f.sees) {
        for (int b = 0; b < s.batch; ++b)
            for (int h = 0; h < s.heads; ++h)
                for (int i = 0; i < s.queries; ++i)
                    for (int j = 0; j < s.keys; ++j) in.mask.push_back(f.sees(at(b, h, i, j)));
    }
    if (f.score) in.score = [=](double x, int b, int h, int i, int j) { return f.score(x, at(b, h, i, j)); };
    if (f.weight) in.weight = [=](double x, int b, int h, int i, int j) { return f.weight(x, at(b, h, i, j)); };
    if (f.value) in.value = [=](double x, int, int h, int j, int c) { return f.value(x, h, s.key_at(j), c); };
    in.logits = f.logits;
    in.kv_sinks = f.kv_sinks;
    in.query_lengths = s.query_lengths;
    in.key_lengths = s.key_lengths;
    in.query_offsets = s.query_offsets;
    in.key_offsets = s.key_offsets;
    in.groups = s.groups;
    in.group_count = s.group_count;
    return in;
}

/// Differences between arrays of the library and the oracle, in words; "" where there are none.
template <class T>
struct checker {
    oracle_result want;
    std::size_t values = 1;
    double queries = 0;

    static constexpr double eps = rounding<T>;
    double row(std::size_t i) const { return eps * (1 + 0.1 * want.largest_score[i]); }

    std::string out(std::vector<double> const& got) const {
        return difference("out", got, want.out, [&](std::size_t i) { return row(i / values); }, storing<T>);
    }
    std::string by_query(char const* name, std::vector<double> const& got, std::vector<double> const& expected) const {
        return difference(name, got, expected, [&](std::size_t i) { return row(i); }, eps);
    }
    std::string by_key(char const* name, std::vector<double> const& got, std::vector<double> const& expected) const {
        return difference(name, got, expected, [&](std::size_t) { return eps; }, 2 * eps);
    }
    std::string exact(char const* name, std::vector<double> const& got, std::vector<double> const& expected) const {
        return difference(name, got, expected, [](std::size_t) { return 0.0; });
    }
};

template <class T>
checker<T> expect(problem<T> const& p, formulas const& f) {
    return {oracle(describe(p, f)), static_cast<std::size_t>(p.is.values), static_cast<double>(p.is.queries)};
}

/// Fails the running test case with the words, unless they are empty.
inline void check_none(std::string const& words, char const* backend, char const* scalar, shape const& s) {
    if (words.empty()) return;
    FAIL_CHECK(backend << ", " << scalar << ", " << s.text() << ": " << words);
}

/// Compares the output, lse, received and escaped of one call with the oracle.
template <class T>
void compare(problem<T>& p, checker<T> const& c, char const* backend) {
    for (std::string const& words :
         {c.out(p.out.numbers()), c.by_query("lse", p.lse.numbers(), c.want.lse),
          c.by_query("escaped", p.escaped.numbers(), c.want.escaped),
          c.by_key("received", p.received.numbers(), c.want.received),
          std::string(p.out.intact() && p.lse.intact() && p.received.intact() && p.escaped.intact()
                          ? ""
                          : "something was written between the elements")})
        check_none(words, backend, name_of<T>, p.is);
}

/// What a backend does with a problem under a policy, as a function that does not know the policy's type.
template <class T>
using solver = std::function<void(problem<T>&)>;
template <class T>
struct named_solver {
    char const* backend;
    solver<T> solve;
};

template <class T>
void run_and_compare(problem<T>& p, formulas const& f, std::vector<named_solver<T>> const& solvers) {
    auto const c = expect(p, f);
    for (auto const& [backend, solve] : solvers) {
        p.blank();
        solve(p);
        compare(p, c, backend);
    }
    CHECK(!solvers.empty());
}

/// One solver for each backend. The policy must outlive them.
template <class T, class Policy>
std::vector<named_solver<T>> solvers_of(Policy const& policy) {
    std::vector<named_solver<T>> result;
    for_each_backend([&]<class Backend>() {
        result.push_back({name_of<Backend>, [&policy](problem<T>& p) {
                              basin::attention(Backend{}, p.query(), p.key(), p.value(), p.out.view(), policy,
                                               p.options(), basin::lse{p.lse.flat()},
                                               basin::received{p.received.flat()}, basin::escaped{p.escaped.flat()});
                          }});
    });
    return result;
}

} // namespace basin_test
