// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include <basin/core/options.hpp>
#include <basin/testing/program.hpp>
#include <basin/testing/sample.hpp>

#include <string>
#include <vector>

// A random case is a small description; its arrays follow from the description alone. That is what makes a case
// printable as C++ and lets it shrink.
namespace laws {

using namespace basin;
using testing::program;
using testing::random_source;

enum class kind { plain, padded, packed };

struct law_case {
    program policy{};
    index_t batch = 1, heads = 1, key_value_heads = 1, queries = 1, keys = 1, channels = 1, value_channels = 1;
    kind how = kind::plain;
    index_t query_first = 0, key_first = 0;
    bool query_list = false, key_list = false;
    double scale = 0; // 0: the default
    std::uint64_t seed = 0;
};

/// The arrays of a case, in double; a runner converts them. All numbers are exact in every scalar.
struct problem {
    buffer<double, 4> q, k, v;
    kind how = kind::plain;
    std::vector<index_t> query_counts, key_counts; // lengths (padded) or borders (packed)
    index_t query_first = 0, key_first = 0;
    buffer<index_t, 2> query_places, key_places; // (batch, token); empty: first, first + 1, ...
    double scale = 0;
    std::uint64_t scrambled = 0;              // not 0: arrays lie in memory in some other order
    buffer<double, 3> sink_keys, sink_values; // (key-value head, n, channel); empty: none

    index_t batch() const { return q.extent(0); }
    index_t heads() const { return q.extent(1); }
    index_t queries() const { return q.extent(2); }
    index_t keys() const { return k.extent(2); }
    index_t group() const { return k.extent(1) == 0 ? 1 : heads() / k.extent(1); }

    options how_to_read() const {
        options o;
        if (scale != 0) o.scale = scale;
        if (how == kind::padded) o.query_lengths = query_counts, o.key_lengths = key_counts;
        if (how == kind::packed) o.query_offsets = query_counts, o.key_offsets = key_counts;
        o.query_position = query_first;
        o.key_position = key_first;
        if (query_places.size() != 0) o.query_position = query_places;
        if (key_places.size() != 0) o.key_position = key_places;
        return o;
    }

    struct one_text {
        index_t entry, number, query_begin, query_end, key_begin, key_end;
    };
    // Spelled out once more, so that a fault in the library's layout is seen.
    std::vector<one_text> texts() const {
        std::vector<one_text> result;
        if (how == kind::packed) {
            for (std::size_t i = 0; i + 1 < query_counts.size(); ++i) {
                result.push_back({0, static_cast<index_t>(i), query_counts[i], query_counts[i + 1], key_counts[i],
                                  key_counts[i + 1]});
            }
            return result;
        }
        for (index_t b = 0; b < batch(); ++b) {
            bool const padded = how == kind::padded;
            auto const at = static_cast<std::size_t>(b);
            result.push_back({b, b, 0, padded ? query_counts[at] : queries(), 0, padded ? key_counts[at] : keys()});
        }
        return result;
    }
    index_t query_position(one_text const& t, index_t i) const {
        return query_places.size() != 0 ? query_places(t.entry, i) : query_first + i - t.query_begin;
    }
    index_t key_position(one_text const& t, index_t j) const {
        return key_places.size() != 0 ? key_places(t.entry, j) : key_first + j - t.key_begin;
    }
};

inline problem build(law_case const& c) {
    problem p;
    p.q = testing::random_array<double>(4 * c.seed, c.batch, c.heads, c.queries, c.channels);
    p.k = testing::random_array<double>(4 * c.seed + 1, c.batch, c.key_value_heads, c.keys, c.channels);
    p.v = testing::random_array<double>(4 * c.seed + 2, c.batch, c.key_value_heads, c.keys, c.value_channels);
    p.how = c.how;
    p.query_first = c.query_first;
    p.key_first = c.key_first;
    p.scale = c.scale;
    random_source r(c.seed);
    if (c.how == kind::padded) {
        for (index_t b = 0; b < c.batch; ++b) {
            p.query_counts.push_back(r.between(0, c.queries));
            p.key_counts.push_back(r.between(0, c.keys));
        }
    }
    if (c.how == kind::packed) {
        index_t const texts = r.between(1, 4);
        auto const borders = [&](index_t tokens) {
            std::vector<index_t> result{0};
            for (index_t i = 0; i < texts; ++i) result.push_back(r.between(result.back(), tokens));
            return result;
        };
        p.query_counts = borders(c.queries);
        p.key_counts = borders(c.keys);
    }
    auto const places = [&](index_t tokens) {
        buffer<index_t, 2> result(c.batch, tokens);
        for (index_t& x : result) x = r.below(2 * tokens + 1);
        return result;
    };
    if (c.query_list) p.query_places = places(c.queries);
    if (c.key_list) p.key_places = places(c.keys);
    return p;
}

inline law_case random_case(std::uint64_t seed) {
    random_source r(seed);
    law_case c;
    c.seed = r.next() >> 8U;
    bool const large = r.chance(150); // past the sizes of blocks and tiles
    c.batch = large ? 1 : r.chance(25) ? 0 : r.between(1, 3);
    c.key_value_heads = large ? 1 : r.chance(60) ? 0 : r.between(1, 2);
    c.heads = c.key_value_heads * r.between(1, large ? 2 : 3);
    c.queries = r.chance(30) ? 0 : r.between(1, large ? 70 : 11);
    c.keys = r.chance(30) ? 0 : r.chance(4) ? c.queries : r.between(1, large ? 300 : 18);
    c.channels = r.between(1, large ? 33 : 9);
    c.value_channels = r.between(1, large ? 33 : 9);
    c.how = static_cast<kind>(r.below(3));
    if (c.how == kind::packed) c.batch = 1;
    if (r.chance(4)) c.query_first = r.below(20);
    if (r.chance(4)) c.key_first = r.below(20);
    c.query_list = r.chance(6);
    c.key_list = r.chance(6);
    if (r.chance(3)) c.scale = 0.125 * r.between(-8, 8);
    c.policy = testing::random_program(r, r.between(1, 4),
                                       math::max(c.queries, c.keys) + math::max(c.query_first, c.key_first) + 1);
    return c;
}

/// As C++ that builds the case again.
inline std::string text(law_case const& c, std::string const& law, std::string const& runner) {
    std::string s =
        "TEST_CASE(\"shrunk: " + law +
        "\") {\n    using basin::testing::program;\n    laws::law_case c;\n    c.policy = " + c.policy.text() + ";\n";
    law_case const d;
    auto const set = [&](char const* name, index_t x, index_t usual) {
        if (x != usual) s += std::string("    c.") + name + " = " + std::to_string(x) + ";\n";
    };
    set("batch", c.batch, d.batch);
    set("heads", c.heads, d.heads);
    set("key_value_heads", c.key_value_heads, d.key_value_heads);
    set("queries", c.queries, d.queries);
    set("keys", c.keys, d.keys);
    set("channels", c.channels, d.channels);
    set("value_channels", c.value_channels, d.value_channels);
    set("query_first", c.query_first, 0);
    set("key_first", c.key_first, 0);
    set("query_list", c.query_list, 0);
    set("key_list", c.key_list, 0);
    if (c.how != kind::plain)
        s += std::string("    c.how = laws::kind::") + (c.how == kind::padded ? "padded" : "packed") + ";\n";
    if (c.scale != 0) s += "    c.scale = " + std::to_string(c.scale) + ";\n";
    s += "    c.seed = " + std::to_string(c.seed) + "ULL;\n";
    return s + "    CHECK(laws::try_law(\"" + law + "\", c, \"" + runner + "\") == \"\");\n}\n";
}

} // namespace laws
