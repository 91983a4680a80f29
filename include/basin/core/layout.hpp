// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include <basin/core/options.hpp>
#include <basin/core/policy.hpp>

namespace basin {

/// One text of a call: a row of a batch without its padding, or one of several packed texts. `entry` is the batch index
/// in memory, `number` what policies see as site.batch; the ranges are places in memory.
struct text {
    /// The batch index in memory, and what policies see as site.batch.
    index_t entry, number;
    index_t query_begin, query_end, key_begin, key_end;
};

/// Where the texts of a call lie and where their tokens stand. Trivially copyable; checked once, by make_layout.
struct layout {
    index_t batch = 0, queries = 0, keys = 0;
    /// As in options, with lengths and offsets for both already split: real tokens of each entry, borders of packed texts.
    counts query_lengths, key_lengths, query_offsets, key_offsets;
    /// As in options: where the first token of each text stands, or every token.
    positions query_position, key_position;

    /// How many texts there are: batch entries, or packed texts.
    index_t texts() const { return query_offsets.given() ? query_offsets.size() - 1 : batch; }
    /// The text number i.
    text at(index_t i) const {
        if (query_offsets.given())
            return {0, i, query_offsets[i], query_offsets[i + 1], key_offsets[i], key_offsets[i + 1]};
        return {i, i,
                0, query_lengths.given() ? query_lengths[i] : queries,
                0, key_lengths.given() ? key_lengths[i] : keys};
    }
    /// The same layout with its lists elsewhere (see facet::carried).
    template <class Carrier>
    layout carried(Carrier& carrier) const {
        return {batch,
                queries,
                keys,
                query_lengths.carried(carrier),
                key_lengths.carried(carrier),
                query_offsets.carried(carrier),
                key_offsets.carried(carrier),
                query_position.carried(carrier),
                key_position.carried(carrier)};
    }
    /// The position of the query (key) in place i of memory.
    index_t query_at(text const& t, index_t i) const { return position(query_position, t.entry, i, t.query_begin); }
    /// The position of the key in place i of memory.
    index_t key_at(text const& t, index_t i) const { return position(key_position, t.entry, i, t.key_begin); }

private:
    static index_t position(positions const& p, index_t entry, index_t i, index_t begin) {
        if (!p.listed()) return p.first() + (i - begin);
        return p.list()(p.list().extent(0) == 1 ? 0 : entry, i);
    }
};

namespace detail {

inline void check_lengths(counts const& list, char const* name, index_t batch, index_t tokens) {
    if (!list.given()) return;
    if (list.size() != batch) fail<shape_error>(name, ": has ", list.size(), " entries, but the batch has ", batch);
    for (index_t i = 0; i < list.size(); ++i) {
        if (list[i] < 0 || list[i] > tokens)
            fail<argument_error>(name, ": entry ", i, " is ", list[i], ", outside of 0 ... ", tokens);
    }
}

inline void check_offsets(counts const& list, char const* name, index_t batch, index_t tokens) {
    if (!list.given()) return;
    if (batch != 1) fail<shape_error>(name, ": packed texts lie in one batch entry, but the batch has ", batch);
    if (list.size() < 1 || list[0] != 0) fail<argument_error>(name, ": the first border must be 0");
    for (index_t i = 1; i < list.size(); ++i) {
        if (list[i] < list[i - 1])
            fail<argument_error>(name, ": border ", i, " is ", list[i], ", before border ", i - 1, " at ", list[i - 1]);
    }
    if (list[list.size() - 1] > tokens)
        fail<argument_error>(name, ": the last border is ", list[list.size() - 1], ", but there are ", tokens,
                             " tokens");
}

inline void check_positions(positions const& p, char const* name, index_t batch, index_t tokens) {
    if (!p.listed()) {
        if (p.first() < 0)
            fail<argument_error>(name, ": the first position is ", p.first(), "; positions are never negative");
        if (p.first() > 0x7fffffff - tokens) fail<argument_error>(name, ": positions beyond what index_t counts");
        return;
    }
    auto const list = p.list();
    if (list.data() == nullptr && tokens != 0) fail<argument_error>(name, ": the list has no data");
    if (list.extent(0) != 1) check_extent(name, "batch", list.extent(0), "the batch", batch);
    check_extent(name, "token", list.extent(1), "the call", tokens);
    for (index_t b = 0; b < list.extent(0); ++b) {
        for (index_t i = 0; i < tokens; ++i) {
            if (list(b, i) < 0 || list(b, i) == 0x7fffffff)
                fail<argument_error>(name, ": position ", list(b, i), " of token ", i, " is out of range");
        }
    }
}

inline layout make_layout(options const& o, index_t batch, index_t queries, index_t keys) {
    layout result{batch,         queries,          keys,          o.query_lengths, o.key_lengths, o.query_offsets,
                  o.key_offsets, o.query_position, o.key_position};
    if (o.lengths.given()) {
        if (o.query_lengths.given() || o.key_lengths.given())
            fail<argument_error>(
                "lengths: is for queries and keys alike; give either it or query_lengths and key_lengths");
        if (queries != keys)
            fail<argument_error>("lengths: there are ", queries, " queries and ", keys,
                                 " keys; say query_lengths and key_lengths");
        result.query_lengths = result.key_lengths = o.lengths;
    }
    if (o.offsets.given()) {
        if (o.query_offsets.given() || o.key_offsets.given())
            fail<argument_error>(
                "offsets: is for queries and keys alike; give either it or query_offsets and key_offsets");
        if (queries != keys)
            fail<argument_error>("offsets: there are ", queries, " queries and ", keys,
                                 " keys; say query_offsets and key_offsets");
        result.query_offsets = result.key_offsets = o.offsets;
    }
    if (result.query_offsets.given() != result.key_offsets.given())
        fail<argument_error>("query_offsets and key_offsets: packed texts need both");
    if (result.query_offsets.given() && (result.query_lengths.given() || result.key_lengths.given()))
        fail<argument_error>("offsets and lengths: packed texts have no padding; give one of them");
    check_lengths(result.query_lengths, "query_lengths", batch, queries);
    check_lengths(result.key_lengths, "key_lengths", batch, keys);
    check_offsets(result.query_offsets, o.offsets.given() ? "offsets" : "query_offsets", batch, queries);
    check_offsets(result.key_offsets, o.offsets.given() ? "offsets" : "key_offsets", batch, keys);
    if (result.query_offsets.given() && result.query_offsets.size() != result.key_offsets.size()) {
        fail<shape_error>("query_offsets: ", result.query_offsets.size(), " borders, but key_offsets has ",
                          result.key_offsets.size());
    }
    check_positions(result.query_position, "query_position", batch, queries);
    check_positions(result.key_position, "key_position", batch, keys);
    return result;
}

/// One more than the largest position that a policy will be asked about.
inline index_t position_limit(layout const& l, bool of_queries) {
    index_t limit = 0;
    for (index_t i = 0; i < l.texts(); ++i) {
        text const t = l.at(i);
        index_t const begin = of_queries ? t.query_begin : t.key_begin;
        index_t const end = of_queries ? t.query_end : t.key_end;
        if (!(of_queries ? l.query_position : l.key_position).listed()) {
            if (end > begin) limit = math::max(limit, (of_queries ? l.query_at(t, end - 1) : l.key_at(t, end - 1)) + 1);
        } else {
            for (index_t j = begin; j < end; ++j)
                limit = math::max(limit, (of_queries ? l.query_at(t, j) : l.key_at(t, j)) + 1);
        }
    }
    return limit;
}

} // namespace detail
} // namespace basin
