// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include <basin/backend/reference.hpp>
#include <basin/policy/compose.hpp>
#include <basin/policy/kv_sink.hpp>
#include <basin/testing/program.hpp>
#include <basin/testing/sample.hpp>

namespace basin::testing {
namespace inner {

/// A policy with the two facets that program lacks, key by key.
struct fading {
    template <class X>
    X weight(X p, site const& s) const {
        return s.key % 3 == 0 ? p * X(0.5) : p;
    }
    template <class X>
    X value(X x, value_site const& s) const {
        return s.channel % 2 == 0 ? x + X(s.key) * X(0.125) : x;
    }
};

template <class T, class Backend>
void against_reference(report& r, Backend const& backend, program const& p, check_options const& o, double tolerance) {
    sample<T> const x(o);
    std::string const what =
        p.text() + " with " + std::to_string(o.queries) + " queries, " + std::to_string(o.keys) + " keys";
    compare(r, what, measure(backend, x, p), measure(reference_backend{}, x, p), tolerance);
}

template <class Backend>
void check_contracts(report& r, Backend const& backend, double tolerance) {
    double const inf = math::infinity<double>, nan = __builtin_nan("");
    auto const expect = [&](bool holds, char const* words) { r.expect(holds, [&] { return std::string(words); }); };
    check_options o;
    o.batch = o.heads = 1;
    sample<float> const x(o);

    // nobody is seen by the first five queries, nor by the first block of keys
    auto hidden = program{}.window(0, 0).none_of().prefix(18).none_of().all_of();
    for (double const logit : {-inf, -2.0, 0.5, inf, nan}) {
        auto p = program{}.window(4, 0).prefix(5).none_of().all_of();
        p.sink(logit);
        auto const got = measure(backend, x, p);
        std::string const sink = "sink logit " + std::to_string(logit);
        r.expect(close(static_cast<double>(got.lse(0, 0, 0)), logit, 1e-6),
                 [&] { return sink + ": the lse of an empty row is not the logit"; });
        r.expect(logit != logit || (got.out(0, 0, 0, 0) == 0 && got.entropy(0, 0, 0) == 0),
                 [&] { return sink + ": an empty row has an output"; });
        r.expect(logit != logit || got.escaped(0, 0, 0) == (logit == -inf ? 0.0F : 1.0F),
                 [&] { return sink + ": the escaped mass of an empty row is wrong"; });
        if (logit != logit) {
            bool all = true;
            for (float const y : got.out) all = all && y != y;
            for (float const y : got.lse) all = all && y != y;
            expect(all, "a sink logit of NaN makes its head NaN");
        }
        if (logit == inf) {
            bool all = true;
            for (float const y : got.out) all = all && y == 0;
            for (float const y : got.escaped) all = all && y == 1;
            expect(all, "a sink logit of +inf takes everything: output 0, escaped 1");
        }
        if (logit == logit) compare(r, sink, got, measure(reference_backend{}, x, p), tolerance);
    }
    compare(r, "first block hidden", measure(backend, x, hidden), measure(reference_backend{}, x, hidden), tolerance);

    // what is not finite reaches the rows that may see it, and no other
    auto const p = program{}.window(3, 2);
    auto const clean = measure(backend, x, p);
    for (int which = 0; which < 4; ++which) {
        sample<float> y(o);
        index_t const bad = 9;
        if (which == 0) y.q(0, 0, bad, 1) = static_cast<float>(nan);
        if (which == 1) y.k(0, 0, bad, 1) = static_cast<float>(nan);
        if (which == 2) y.v(0, 0, bad, 1) = static_cast<float>(nan);
        if (which == 3)
            for (index_t c = 0; c < o.channels; ++c)
                y.q(0, 0, bad, c) = 1e38F, y.k(0, 0, bad, c) = 1e38F; // overflows to +inf
        auto const got = measure(backend, y, p);
        bool right = true;
        for (index_t i = 0; i < o.queries; ++i) {
            bool const sees = which == 0 || which == 3 ? i == bad : p.visible(site{0, 0, i, bad});
            if (which == 3 && i != bad && p.visible(site{0, 0, i, bad}))
                continue; // a huge but finite score, or an infinite one
            for (index_t c = 0; c < o.value_channels; ++c) {
                float const a = got.out(0, 0, i, c), b = clean.out(0, 0, i, c);
                bool const poisoned = sees && (which != 2 || c == 1);
                right = right && (poisoned ? a != a : close(static_cast<double>(a), static_cast<double>(b), tolerance));
            }
        }
        expect(right, which == 0   ? "NaN in a query makes that row NaN and no other"
                      : which == 1 ? "NaN in a key reaches exactly the rows that see it"
                      : which == 2
                          ? "NaN in a value reaches exactly the rows and the channel that see it"
                          : "a score that overflows makes its row NaN and leaves rows that do not see the key alone");
    }

    // the same bits again, and for a row on its own
    compare(r, "a second run gives the same bits", measure(backend, x, p), clean, -1);
    for (index_t i : {0, 7, 18}) {
        check_options one = o;
        one.queries = 1;
        sample<float> row(one);
        for (index_t c = 0; c < o.channels; ++c) row.q(0, 0, 0, c) = x.q(0, 0, i, c);
        options at;
        at.query_position = i;
        auto const alone = measure(backend, row, p, at);
        bool same = alone.lse(0, 0, 0) == clean.lse(0, 0, i);
        for (index_t c = 0; c < o.value_channels; ++c) same = same && alone.out(0, 0, 0, c) == clean.out(0, 0, i, c);
        expect(same, "a row does not depend on the other rows, to the bit");
    }
}

} // namespace inner

/// A backend against the reference: composed random policies, lengths around the sizes of blocks, grouped heads,
/// scattered positions, padded and packed texts, sinks with and without values, all scalars, and the rows of the contract.
template <class Backend>
report check_backend(Backend const& backend, check_options const& o = {}, int random_policies = 60) {
    report r;
    double const tolerance = o.tolerance;
    random_source random(o.seed);
    for (int i = 0; i < random_policies; ++i) {
        check_options c = o;
        c.heads = random.chance(2) ? 4 : 2;
        c.key_value_heads = random.chance(2) ? 1 : 2;
        c.queries = random.below(40);
        c.keys = random.below(70);
        c.channels = random.between(1, 20);
        c.value_channels = random.between(1, 20);
        c.seed = random.next();
        program const p = random_program(random, 3, math::max(c.queries, c.keys) + 1);
        if (i % 4 != 3)
            inner::against_reference<float>(r, backend, p, c, tolerance);
        else if (i % 8 == 3)
            inner::against_reference<double>(r, backend, p, c, 1e-11);
        else
            inner::against_reference<half>(r, backend, p, c, tolerance);
    }
    for (index_t const n : {0, 1, 2, 3, 7, 8, 15, 16, 17, 31, 33, 64, 65, 127, 257}) {
        check_options c = o;
        c.batch = 1;
        c.queries = n > 40 ? 9 : n; // large on one axis is enough
        c.keys = n;
        c.channels = 8;
        inner::against_reference<float>(r, backend, program{}, c, tolerance);
        inner::against_reference<float>(r, backend, program{}.causal().sink(-1), c, tolerance);
        if (n > 40)
            inner::against_reference<float>(r, backend, program{}.window(n / 2, 3).comb(7, 0).any_of(), c, tolerance);
    }

    sample<float> const x(o);
    program const p = program{}.window(6, 5).prefix(2).any_of();
    auto const same = [&](char const* what, auto const& policy, options const& how) {
        compare(r, what, measure(backend, x, policy, how), measure(reference_backend{}, x, policy, how), tolerance);
    };
    buffer<index_t, 1> places(o.queries), lengths(o.batch);
    for (index_t i = 0; i < o.queries; ++i) places(i) = (i * 7 + 3) % math::max(o.keys, 1);
    for (index_t b = 0; b < o.batch; ++b) lengths(b) = (b + 1) * o.keys / (o.batch + 1);
    options scattered, padded;
    scattered.query_position = places;
    padded.key_lengths = lengths;
    padded.scale = 0.75;
    same("scattered queries", p, scattered);
    same("padded keys", p, padded);
    buffer<float, 3> sink_keys(o.key_value_heads, 2, o.channels), sink_values(o.key_value_heads, 2, o.value_channels);
    for (float& y : sink_keys) y = static_cast<float>(random.number());
    for (float& y : sink_values) y = static_cast<float>(random.number());
    same("kv_sink without values", all_of(p, kv_sink{sink_keys}), {});
    same("kv_sink with values", all_of(p, kv_sink{sink_keys, sink_values}), padded);
    same("weights and values", all_of(p, inner::fading{}), {});
    inner::check_contracts(r, backend, tolerance);
    return r;
}

} // namespace basin::testing
