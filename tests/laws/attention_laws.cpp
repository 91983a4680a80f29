// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#include "compare.hpp"
#include "laws.hpp"

namespace laws {
namespace {

std::string agrees_with_oracle(law_case const& c, runner const& r) {
    problem const x = build(c);
    outcome const got = r.run(x, c.policy), expected = oracle(x, c.policy);
    std::string w = differ(r, got, expected);
    if (w.empty()) w = differ("received_value", got.received_value, expected.received_value, r.tolerance);
    return w.empty() ? favourites(x, got, r.tolerance) : w;
}

std::string rows_sum_to_one_minus_escaped(law_case const& c, runner const& r) {
    problem const x = build(c);
    outcome const o = r.run(x, c.policy);
    if (x.q.size() == 0) return "";
    for (index_t b = 0; b < x.batch(); ++b)
        for (index_t h = 0; h < x.heads(); ++h) {
            double live = 0, received = 0;
            for (index_t i = 0; i < x.queries(); ++i) {
                double sum = 0;
                for (index_t j = 0; j < x.keys(); ++j) sum += o.p(b, h, i, j);
                bool const dead = o.lse(b, h, i) == -infinite;
                double const expected = dead ? 0 : 1 - o.escaped(b, h, i);
                if (!testing::close(sum, expected, r.tolerance))
                    return "row " + std::to_string(i) + " sums to " + std::to_string(sum) + ", not " +
                           std::to_string(expected);
                live += expected;
                if (!dead) continue;
                for (index_t d = 0; d < x.v.extent(3); ++d)
                    if (o.out(b, h, i, d) != 0) return "dead row " + std::to_string(i) + " has an output";
                if (o.escaped(b, h, i) != 0 || o.entropy(b, h, i) != 0 || o.favourite(b, h, i) != -1 ||
                    o.favourite_p(b, h, i) != 0) {
                    return "dead row " + std::to_string(i) + " has statistics";
                }
            }
            for (index_t j = 0; j < x.keys(); ++j) received += o.received(b, h, j);
            if (!testing::close(received, live, 4 * r.tolerance))
                return "received sums to " + std::to_string(received) + ", not to live minus escaped, " +
                       std::to_string(live);
        }
    return "";
}

/// Keys, values and key positions in another order, text by text.
std::string order_of_keys_does_not_matter(law_case const& c, runner const& r) {
    problem const x = build(c);
    problem y = x;
    y.key_places = buffer<index_t, 2>(x.batch(), x.keys());
    buffer<index_t, 2> from(x.batch(), x.keys());
    random_source random(c.seed + 1);
    for (index_t b = 0; b < x.batch(); ++b)
        for (index_t j = 0; j < x.keys(); ++j) from(b, j) = j;
    for (auto const& t : x.texts()) {
        for (index_t j = t.key_end - 1; j > t.key_begin; --j)
            std::swap(from(t.entry, j), from(t.entry, random.between(t.key_begin, j)));
        for (index_t j = t.key_begin; j < t.key_end; ++j) {
            index_t const s = from(t.entry, j);
            y.key_places(t.entry, j) = x.key_position(t, s);
            for (index_t h = 0; h < x.k.extent(1); ++h) {
                for (index_t d = 0; d < x.k.extent(3); ++d) y.k(t.entry, h, j, d) = x.k(t.entry, h, s, d);
                for (index_t d = 0; d < x.v.extent(3); ++d) y.v(t.entry, h, j, d) = x.v(t.entry, h, s, d);
            }
        }
    }
    outcome const a = r.run(x, c.policy);
    outcome const turned = r.run(y, c.policy);
    outcome b = turned;
    for (index_t e = 0; e < x.batch(); ++e)
        for (index_t h = 0; h < x.heads(); ++h)
            for (index_t j = 0; j < x.keys(); ++j) {
                index_t const s = from(e, j);
                b.received(e, h, s) = turned.received(e, h, j);
                b.peak(e, h, s) = turned.peak(e, h, j);
                b.seen(e, h, s) = turned.seen(e, h, j);
                for (index_t i = 0; i < x.queries(); ++i) b.p(e, h, i, s) = turned.p(e, h, i, j);
            }
    return differ(r, b, a);
}

std::string a_constant_changes_nothing_without_a_sink(law_case const& given, runner const& r) {
    law_case c = given;
    c.policy.sink(-infinite);
    c.policy.score_count = math::min(c.policy.score_count, program::score_capacity - 1);
    problem const x = build(c);
    outcome a = r.run(x, c.policy);
    double const shift = 2.5;
    outcome const b = r.run(x, c.policy.scores(program::change::shift, shift));
    for (double& y : a.lse) y += shift;
    return differ(r, b, a);
}

problem keys_from_to(problem const& x, index_t begin, index_t end) {
    problem y = x;
    index_t const n = end - begin;
    y.k = buffer<double, 4>(x.batch(), x.k.extent(1), n, x.k.extent(3));
    y.v = buffer<double, 4>(x.batch(), x.v.extent(1), n, x.v.extent(3));
    for (index_t b = 0; b < x.batch(); ++b)
        for (index_t h = 0; h < x.k.extent(1); ++h)
            for (index_t j = 0; j < n; ++j) {
                for (index_t d = 0; d < x.k.extent(3); ++d) y.k(b, h, j, d) = x.k(b, h, begin + j, d);
                for (index_t d = 0; d < x.v.extent(3); ++d) y.v(b, h, j, d) = x.v(b, h, begin + j, d);
            }
    y.key_first = x.key_first + begin;
    if (x.key_places.size() != 0) {
        y.key_places = buffer<index_t, 2>(x.batch(), n);
        for (index_t b = 0; b < x.batch(); ++b)
            for (index_t j = 0; j < n; ++j) y.key_places(b, j) = x.key_places(b, begin + j);
    }
    if (x.how == kind::padded)
        for (index_t& length : y.key_counts) length = math::max(0, math::min(length, end) - begin);
    return y;
}

std::string split_keys_merge_by_lse(law_case const& given, runner const& r) {
    law_case c = given;
    if (c.how == kind::packed) c.how = kind::plain;
    problem const x = build(c);
    index_t const middle = static_cast<index_t>(c.seed % static_cast<std::uint64_t>(c.keys + 1));
    program second = c.policy;
    second.sink(-infinite); // a sink is counted once
    outcome const whole = r.run(x, c.policy);
    outcome const a = r.run(keys_from_to(x, 0, middle), c.policy), b = r.run(keys_from_to(x, middle, x.keys()), second);
    outcome merged = whole;
    for (index_t e = 0; e < x.batch(); ++e)
        for (index_t h = 0; h < x.heads(); ++h)
            for (index_t i = 0; i < x.queries(); ++i) {
                double const high = math::max(a.lse(e, h, i), b.lse(e, h, i));
                double const lse =
                    high == -infinite
                        ? high
                        : high + std::log(std::exp(a.lse(e, h, i) - high) + std::exp(b.lse(e, h, i) - high));
                merged.lse(e, h, i) = lse;
                double const first = lse == -infinite ? 0 : std::exp(a.lse(e, h, i) - lse),
                             rest = lse == -infinite ? 0 : std::exp(b.lse(e, h, i) - lse);
                merged.escaped(e, h, i) = first * a.escaped(e, h, i);
                for (index_t d = 0; d < x.v.extent(3); ++d)
                    merged.out(e, h, i, d) = first * a.out(e, h, i, d) + rest * b.out(e, h, i, d);
            }
    return differ(r, merged, whole);
}

/// What nobody sees may hold NaN: keys hidden from all queries, and padding.
std::string the_unseen_may_hold_nan(law_case const& c, runner const& r) {
    problem const x = build(c);
    problem y = x;
    double const nan = std::nan("");
    y.q.fill(nan);
    y.k.fill(nan);
    y.v.fill(nan);
    for (auto const& t : x.texts())
        for (index_t h = 0; h < x.heads(); ++h)
            for (index_t i = t.query_begin; i < t.query_end; ++i) {
                for (index_t d = 0; d < x.q.extent(3); ++d) y.q(t.entry, h, i, d) = x.q(t.entry, h, i, d);
                for (index_t j = t.key_begin; j < t.key_end; ++j) {
                    if (!sees(c.policy, t.number, h, x.query_position(t, i), x.key_position(t, j))) continue;
                    for (index_t d = 0; d < x.k.extent(3); ++d)
                        y.k(t.entry, h / x.group(), j, d) = x.k(t.entry, h / x.group(), j, d);
                    for (index_t d = 0; d < x.v.extent(3); ++d)
                        y.v(t.entry, h / x.group(), j, d) = x.v(t.entry, h / x.group(), j, d);
                }
            }
    outcome const clean = r.run(x, c.policy), got = r.run(y, c.policy);
    std::string const w = differ(r, got, clean, r.exact);
    return w.empty() ? differ("received_value", got.received_value, clean.received_value, r.tolerance) : w;
}

/// NaN in one key or value reaches the rows that see it, and no other.
std::string nan_reaches_only_who_sees_it(law_case const& c, runner const& r) {
    problem const x = build(c);
    if (x.k.size() == 0) return "";
    random_source random(c.seed + 2);
    index_t const entry = random.below(x.batch()), kv = random.below(x.k.extent(1)), key = random.below(x.keys()),
                  channel = random.below(x.v.extent(3));
    bool const in_key = random.chance(2);
    problem y = x;
    if (in_key)
        y.k(entry, kv, key, random.below(x.k.extent(3))) = std::nan("");
    else
        y.v(entry, kv, key, channel) = std::nan("");
    outcome const clean = r.run(x, c.policy), got = r.run(y, c.policy);
    for (auto const& t : x.texts())
        for (index_t h = 0; h < x.heads(); ++h)
            for (index_t i = t.query_begin; i < t.query_end; ++i) {
                bool const reached =
                    t.entry == entry && h / x.group() == kv && key >= t.key_begin && key < t.key_end &&
                    changed(c.policy, 0, t.number, h, x.query_position(t, i), x.key_position(t, key)) != -infinite;
                if (reached && clean.p(entry, h, i, key) == 0) continue; // 0 x NaN: either is right
                for (index_t d = 0; d < x.v.extent(3); ++d) {
                    double const a = got.out(t.entry, h, i, d), b = clean.out(t.entry, h, i, d);
                    bool const poisoned = reached && (in_key || d == channel);
                    if (poisoned ? a == a : !testing::close(a, b, r.stored)) {
                        return std::string("NaN in ") + (in_key ? "key " : "value ") + std::to_string(key) +
                               (poisoned ? " did not reach" : " reached") + " query " + std::to_string(i) +
                               " of head " + std::to_string(h);
                    }
                }
                double const a = got.lse(t.entry, h, i), b = clean.lse(t.entry, h, i);
                if (reached && in_key ? a == a : !testing::close(a, b, r.tolerance))
                    return "lse of query " + std::to_string(i) + " is wrong";
            }
    return "";
}

std::string a_wide_window_is_full(law_case const& c, runner const& r) {
    problem const x = build(c);
    program wide = c.policy;
    wide.window(1000000, 2000000000);
    if (wide.count > 1) wide.all_of();
    return differ(r, r.run(x, wide), r.run(x, c.policy), r.exact);
}

std::string grouped_heads_are_repeated_heads(law_case const& c, runner const& r) {
    problem const x = build(c);
    problem y = x;
    y.k = buffer<double, 4>(x.batch(), x.heads(), x.keys(), x.k.extent(3));
    y.v = buffer<double, 4>(x.batch(), x.heads(), x.keys(), x.v.extent(3));
    for (index_t b = 0; b < x.batch(); ++b)
        for (index_t h = 0; h < x.heads(); ++h)
            for (index_t j = 0; j < x.keys(); ++j) {
                for (index_t d = 0; d < x.k.extent(3); ++d) y.k(b, h, j, d) = x.k(b, h / x.group(), j, d);
                for (index_t d = 0; d < x.v.extent(3); ++d) y.v(b, h, j, d) = x.v(b, h / x.group(), j, d);
            }
    return differ(r, r.run(y, c.policy), r.run(x, c.policy), r.exact);
}

std::string strided_is_contiguous(law_case const& c, runner const& r) {
    problem const x = build(c);
    problem y = x;
    y.scrambled = c.seed | 1U;
    return differ(r, r.run(y, c.policy), r.run(x, c.policy), r.exact);
}

std::string observe_is_the_pass(law_case const& c, runner const& r) {
    problem const x = build(c);
    outcome const pass = r.run(x, c.policy), later = r.observe(x, c.policy, pass.lse);
    std::string const w = differ(r, later, pass, false, false);
    return w.empty() ? favourites(x, later, r.tolerance) : w;
}

/// Packed texts are the texts of a padded batch.
std::string packed_is_padded(law_case const& given, runner const& r) {
    law_case c = given;
    c.how = kind::packed;
    c.batch = 1;
    problem const x = build(c);
    auto const texts = x.texts();
    problem y = x;
    index_t queries = 0, keys = 0;
    for (auto const& t : texts)
        queries = math::max(queries, t.query_end - t.query_begin), keys = math::max(keys, t.key_end - t.key_begin);
    auto const n = static_cast<index_t>(texts.size());
    y.how = kind::padded;
    y.query_counts.clear();
    y.key_counts.clear();
    y.q = buffer<double, 4>(n, x.heads(), queries, x.q.extent(3));
    y.k = buffer<double, 4>(n, x.k.extent(1), keys, x.k.extent(3));
    y.v = buffer<double, 4>(n, x.v.extent(1), keys, x.v.extent(3));
    if (c.query_list) y.query_places = buffer<index_t, 2>(n, queries);
    if (c.key_list) y.key_places = buffer<index_t, 2>(n, keys);
    auto const copy = [](buffer<double, 4> const& from, buffer<double, 4>& to, index_t number, index_t begin,
                         index_t end) {
        for (index_t h = 0; h < from.extent(1); ++h)
            for (index_t i = begin; i < end; ++i)
                for (index_t d = 0; d < from.extent(3); ++d) to(number, h, i - begin, d) = from(0, h, i, d);
    };
    for (auto const& t : texts) {
        y.query_counts.push_back(t.query_end - t.query_begin);
        y.key_counts.push_back(t.key_end - t.key_begin);
        copy(x.q, y.q, t.number, t.query_begin, t.query_end);
        copy(x.k, y.k, t.number, t.key_begin, t.key_end);
        copy(x.v, y.v, t.number, t.key_begin, t.key_end);
        for (index_t i = t.query_begin; i < t.query_end && c.query_list && queries > 0; ++i)
            y.query_places(t.number, i - t.query_begin) = x.query_places(0, i);
        for (index_t j = t.key_begin; j < t.key_end && c.key_list && keys > 0; ++j)
            y.key_places(t.number, j - t.key_begin) = x.key_places(0, j);
    }
    outcome const a = r.run(x, c.policy), b = r.run(y, c.policy);
    double const t1 = r.exact ? -1 : r.tolerance;
    for (auto const& t : texts)
        for (index_t h = 0; h < x.heads(); ++h) {
            for (index_t i = t.query_begin; i < t.query_end; ++i) {
                index_t const k = i - t.query_begin;
                bool same = t1 < 0 ? a.lse(0, h, i) == b.lse(t.number, h, k)
                                   : testing::close(a.lse(0, h, i), b.lse(t.number, h, k), t1);
                for (index_t d = 0; d < x.v.extent(3); ++d)
                    same = same && testing::close(a.out(0, h, i, d), b.out(t.number, h, k, d), t1 < 0 ? 0 : r.stored);
                if (!same) return "query " + std::to_string(i) + " of head " + std::to_string(h) + " differs";
            }
            for (index_t j = t.key_begin; j < t.key_end && x.queries() > 0 && queries > 0; ++j) {
                if (!testing::close(a.received(0, h, j), b.received(t.number, h, j - t.key_begin), t1 < 0 ? 0 : t1))
                    return "received of key " + std::to_string(j) + " differs";
            }
        }
    return "";
}

/// To the bit, on every backend: a row does not know of other rows or of other batch entries.
std::string a_row_stands_alone(law_case const& given, runner const& r) {
    law_case c = given;
    if (c.how == kind::packed) c.how = kind::padded;
    problem const x = build(c);
    if (x.q.size() == 0) return "";
    random_source random(c.seed + 3);
    index_t const row = random.below(x.queries()), entries = random.between(1, x.batch());
    problem y = x;
    y.q = buffer<double, 4>(entries, x.heads(), 1, x.q.extent(3));
    y.k = buffer<double, 4>(entries, x.k.extent(1), x.keys(), x.k.extent(3));
    y.v = buffer<double, 4>(entries, x.v.extent(1), x.keys(), x.v.extent(3));
    for (std::ptrdiff_t i = 0; i < y.k.size(); ++i) y.k.data()[i] = x.k.data()[i];
    for (std::ptrdiff_t i = 0; i < y.v.size(); ++i) y.v.data()[i] = x.v.data()[i];
    y.query_places = buffer<index_t, 2>(entries, 1);
    if (x.key_places.size() != 0) {
        y.key_places = buffer<index_t, 2>(entries, x.keys());
        for (std::ptrdiff_t i = 0; i < y.key_places.size(); ++i) y.key_places.data()[i] = x.key_places.data()[i];
    }
    if (c.how == kind::padded) {
        y.query_counts.assign(static_cast<std::size_t>(entries), 1);
        y.key_counts.resize(static_cast<std::size_t>(entries));
    }
    auto const texts = x.texts();
    for (index_t b = 0; b < entries; ++b) {
        y.query_places(b, 0) = x.query_position(texts[static_cast<std::size_t>(b)], row);
        for (index_t h = 0; h < x.heads(); ++h)
            for (index_t d = 0; d < x.q.extent(3); ++d) y.q(b, h, 0, d) = x.q(b, h, row, d);
    }
    outcome const all = r.run(x, c.policy), alone = r.run(y, c.policy);
    for (index_t b = 0; b < entries; ++b) {
        if (row >= texts[static_cast<std::size_t>(b)].query_end) continue; // padding
        for (index_t h = 0; h < x.heads(); ++h) {
            bool same = all.lse(b, h, row) == alone.lse(b, h, 0) && all.entropy(b, h, row) == alone.entropy(b, h, 0) &&
                        all.escaped(b, h, row) == alone.escaped(b, h, 0) &&
                        all.favourite(b, h, row) == alone.favourite(b, h, 0);
            for (index_t d = 0; d < x.v.extent(3); ++d) same = same && all.out(b, h, row, d) == alone.out(b, h, 0, d);
            for (index_t j = 0; j < x.keys(); ++j) same = same && all.p(b, h, row, j) == alone.p(b, h, 0, j);
            if (!same)
                return "row " + std::to_string(row) + " of batch " + std::to_string(b) + ", head " + std::to_string(h) +
                       " has other bits when computed alone";
        }
    }
    return "";
}

program without_key(program p, index_t key) {
    p.prefix(key + 1).prefix(key).none_of().all_of().none_of(); // every key but this one
    return p.count > 5 ? p.all_of() : p;
}

/// Section B of the paper's consequences: the sink's own output is its value; the others mix it into their plain output; and
/// the zero-value token, the token, kv_sink without and with a value are one family.
std::string sink_token_is_a_denominator_sink(law_case const& given, runner const& r) {
    law_case c = given;
    c.how = kind::plain;
    c.batch = 1;
    c.query_list = c.key_list = false;
    c.query_first = c.key_first = 0;
    c.keys = c.queries;
    c.policy.count = c.policy.count > 12 ? 0 : c.policy.count;
    c.policy.score_count = 0; // policies do not touch denominator sinks
    c.policy.sink(-infinite);
    problem const x = build(c);
    if (x.k.size() == 0) return "";
    auto const s = static_cast<index_t>(c.seed % static_cast<std::uint64_t>(c.keys));
    program token = c.policy;
    token.sink_token(s);
    program const plain = without_key(c.policy, s);
    outcome const with = r.run(x, token), without = r.run(x, plain);
    problem zeroed = x, extra = x;
    extra.sink_keys = buffer<double, 3>(x.k.extent(1), 1, x.k.extent(3));
    for (index_t h = 0; h < x.k.extent(1); ++h) {
        for (index_t d = 0; d < x.k.extent(3); ++d) extra.sink_keys(h, 0, d) = x.k(0, h, s, d);
        for (index_t d = 0; d < x.v.extent(3); ++d) zeroed.v(0, h, s, d) = 0;
    }
    outcome const zero_token = r.run(zeroed, token), keys_only = r.run(extra, plain);
    extra.sink_values = buffer<double, 3>(x.v.extent(1), 1, x.v.extent(3));
    for (index_t h = 0; h < x.v.extent(1); ++h)
        for (index_t d = 0; d < x.v.extent(3); ++d) extra.sink_values(h, 0, d) = x.v(0, h, s, d);
    outcome const with_value = r.run(extra, plain);
    for (index_t h = 0; h < x.heads(); ++h)
        for (index_t i = 0; i < x.queries(); ++i) {
            std::string const row =
                " in row " + std::to_string(i) + " of head " + std::to_string(h) + ", sink " + std::to_string(s);
            double const a = with.p(0, h, i, s);
            if (i == s && (r.exact ? a != 1 : !testing::close(a, 1, r.tolerance)))
                return "the sink token sees more than itself" + row;
            if (i != s && !testing::close(keys_only.escaped(0, h, i), a, r.tolerance))
                return "escaped is not what the token receives" + row;
            if (i != s && !testing::close(with_value.lse(0, h, i), with.lse(0, h, i), r.tolerance))
                return "kv_sink and token have different lse" + row;
            for (index_t d = 0; d < x.v.extent(3); ++d) {
                double const v = x.v(0, h / x.group(), s, d), got = with.out(0, h, i, d),
                             rest = without.out(0, h, i, d);
                if (i == s && (r.exact ? got != v : !testing::close(got, v, r.stored)))
                    return "the sink's output is not its value" + row;
                if (i == s) continue;
                if (!testing::close(got, a * v + (1 - a) * rest, r.stored))
                    return "out is not a v_s + (1 - a) plain" + row;
                if (!testing::close(zero_token.out(0, h, i, d), (1 - a) * rest, r.stored))
                    return "a zero value does not leave (1 - a) plain" + row;
                if (!testing::close(keys_only.out(0, h, i, d), zero_token.out(0, h, i, d), r.stored))
                    return "kv_sink without value is not the zero-value token" + row;
                if (!testing::close(with_value.out(0, h, i, d), got, r.stored))
                    return "kv_sink with value is not the token" + row;
            }
        }
    return "";
}

} // namespace

std::vector<named_law> const& attention_laws() {
    static std::vector<named_law> const list = {
        {"agrees with the oracle", agrees_with_oracle},
        {"rows sum to one minus escaped", rows_sum_to_one_minus_escaped},
        {"the order of keys does not matter", order_of_keys_does_not_matter},
        {"a constant changes nothing without a sink", a_constant_changes_nothing_without_a_sink},
        {"split keys merge by lse", split_keys_merge_by_lse},
        {"the unseen may hold NaN", the_unseen_may_hold_nan},
        {"NaN reaches only who sees it", nan_reaches_only_who_sees_it},
        {"a wide window is full", a_wide_window_is_full},
        {"grouped heads are repeated heads", grouped_heads_are_repeated_heads},
        {"strided is contiguous", strided_is_contiguous},
        {"observe is the pass", observe_is_the_pass},
        {"packed is padded", packed_is_padded},
        {"a row stands alone", a_row_stands_alone},
        {"a sink token is a denominator sink", sink_token_is_a_denominator_sink}};
    return list;
}

} // namespace laws
