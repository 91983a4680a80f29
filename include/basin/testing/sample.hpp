// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include <basin/attention.hpp>
#include <basin/statistic/entropy.hpp>
#include <basin/statistic/escaped.hpp>
#include <basin/statistic/lse.hpp>
#include <basin/statistic/received.hpp>
#include <basin/testing/random.hpp>
#include <basin/testing/report.hpp>

#include <vector>

namespace basin::testing {

/// The shape that laws are tried on, for policies that own data of a fixed size (slopes per head, bits per pair), and how
/// close is close enough.
struct check_options {
    index_t batch = 2, heads = 2, key_value_heads = 1, queries = 19, keys = 23, channels = 6, value_channels = 3;
    std::uint64_t seed = 1;
    double tolerance = 2e-5; ///< of one backend against another, in float
    double ulps = 4;         ///< of a score in lanes against the same score alone
    /// What check_statistic combines, beside results of the statistic itself: some that it may meet, 1/8 ... 5 if there are
    /// none. One that is only meant for probabilities says so: {.numbers = {0, 0.1f, 0.25f, 0.5f, 1}}.
    std::vector<float> numbers{};
};

namespace inner {

inline shape_facts facts_of(check_options const& o) {
    return {o.batch, o.heads, o.key_value_heads, o.queries, o.keys, o.channels, o.value_channels};
}

inline std::string words(site const& s) {
    return "(batch " + std::to_string(s.batch) + ", head " + std::to_string(s.head) + ", query " +
           std::to_string(s.query) + ", key " + std::to_string(s.key) + ")";
}
inline std::string words(tile const& t) {
    return "(batch " + std::to_string(t.batch) + ", head " + std::to_string(t.head) + ", queries " +
           std::to_string(t.query_begin) + " to " + std::to_string(t.query_end - 1) + ", keys " +
           std::to_string(t.key_begin) + " to " + std::to_string(t.key_end - 1) + ")";
}
inline std::string words(coverage c) { return c == coverage::none ? "none" : c == coverage::all ? "all" : "some"; }

template <class F>
void for_each_head(shape_facts const& f, F const& run) {
    for (index_t b = 0; b < f.batch; ++b)
        for (index_t h = 0; h < f.heads; ++h) run(b, h);
}
template <class F>
void for_each_site(shape_facts const& f, F const& run) {
    for_each_head(f, [&](index_t b, index_t h) {
        for (index_t query = 0; query < f.queries; ++query)
            for (index_t key = 0; key < f.keys; ++key) run(site{b, h, query, key});
    });
}

} // namespace inner

/// Equal up to rounding: infinities and NaN only equal themselves.
inline bool close(double a, double b, double tolerance) {
    if (a != a || b != b) return a != a && b != b;
    return a == b || math::abs(a - b) <= tolerance * (1 + math::max(math::abs(a), math::abs(b)));
}

/// A random array; see random_element.
template <class T>
buffer<T, 4> random_array(std::uint64_t seed, index_t batch, index_t heads, index_t tokens, index_t channels) {
    buffer<T, 4> x(batch, heads, tokens, channels);
    for (index_t b = 0; b < batch; ++b)
        for (index_t h = 0; h < heads; ++h)
            for (index_t i = 0; i < tokens; ++i)
                for (index_t c = 0; c < channels; ++c)
                    x(b, h, i, c) = static_cast<T>(static_cast<accumulation_t<T>>(random_element(seed, b, h, i, c)));
    return x;
}

/// Random q, k, v.
template <class T>
struct sample {
    buffer<T, 4> q, k, v;
    explicit sample(check_options const& o)
        : q(random_array<T>(3 * o.seed, o.batch, o.heads, o.queries, o.channels)),
          k(random_array<T>(3 * o.seed + 1, o.batch, o.key_value_heads, o.keys, o.channels)),
          v(random_array<T>(3 * o.seed + 2, o.batch, o.key_value_heads, o.keys, o.value_channels)) {}
};

/// What one call of attention gives: the output, and everything else that is needed to judge it. `p` is the whole
/// matrix of probabilities: `received` with one group per query. Tests are small enough for that.
template <class T>
struct measured {
    /// What statistics are kept in.
    using A = accumulation_t<T>;
    buffer<T, 4> out;
    /// The probability of each pair, after sinks.
    buffer<A, 4> p; // (batch, head, query, key)
    /// The statistics of these names.
    buffer<A, 3> received, lse, escaped, entropy;
};

template <class T, class Backend, class Policy>
measured<T> measure(Backend const& backend, sample<T> const& x, Policy const& policy, options const& o = {}) {
    using A = accumulation_t<T>;
    index_t const batch = x.q.extent(0), heads = x.q.extent(1), queries = x.q.extent(2), keys = x.k.extent(2);
    measured<T> m{buffer<T, 4>(batch, heads, queries, x.v.extent(3)),
                  buffer<A, 4>(batch, heads, math::max(queries, 1), keys),
                  buffer<A, 3>(batch, heads, keys),
                  buffer<A, 3>(batch, heads, queries),
                  buffer<A, 3>(batch, heads, queries),
                  buffer<A, 3>(batch, heads, queries)};
    buffer<index_t, 1> rows(queries);
    for (index_t i = 0; i < queries; ++i) rows(i) = i;
    attention(backend, x.q, x.k, x.v, m.out, policy, o, received{m.p, by_group(rows, math::max(queries, 1))},
              received{m.received}, lse{m.lse}, escaped{m.escaped}, entropy{m.entropy});
    return m;
}

/// Compares two results element by element; a negative tolerance asks for the same bits (NaN equal NaN).
template <class T, std::size_t R>
void compare(report& r, std::string const& what, buffer<T, R> const& got, buffer<T, R> const& expected,
             double tolerance) {
    for (std::ptrdiff_t i = 0; i < expected.size(); ++i) {
        auto const a = static_cast<double>(got.data()[i]), b = static_cast<double>(expected.data()[i]);
        bool const same = tolerance < 0 ? a == b || (a != a && b != b) : close(a, b, tolerance);
        if (same) continue;
        r.expect(false, [&] {
            std::string place;
            std::ptrdiff_t rest = i;
            for (std::size_t axis = R; axis-- > 0; rest /= expected.extent(axis)) {
                if (!place.empty()) place.insert(0, ", ");
                place.insert(0, std::to_string(rest % expected.extent(axis)));
            }
            return (what + " at (")
                .append(place)
                .append(") is ")
                .append(std::to_string(a))
                .append(", expected ")
                .append(std::to_string(b));
        });
        return; // the first difference tells enough
    }
    r.expect(true, [] { return std::string{}; });
}

template <class T>
void compare(report& r, std::string const& what, measured<T> const& got, measured<T> const& expected,
             double tolerance) {
    // 16-bit outputs are rounded to storage at the end: one unit in the last place of that may differ
    double const stored = tolerance < 0 || sizeof(T) != 2 ? tolerance : math::max(tolerance, 1e-2);
    compare(r, what + ": out", got.out, expected.out, stored);
    compare(r, what + ": probabilities", got.p, expected.p, tolerance);
    compare(r, what + ": received", got.received, expected.received, tolerance);
    compare(r, what + ": lse", got.lse, expected.lse, tolerance);
    compare(r, what + ": escaped", got.escaped, expected.escaped, tolerance);
    compare(r, what + ": entropy", got.entropy, expected.entropy, tolerance);
}

} // namespace basin::testing
