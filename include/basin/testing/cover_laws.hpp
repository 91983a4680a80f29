// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include <basin/testing/sample.hpp>

namespace basin::testing {

/// How many pairs of a rectangle are visible, for every rectangle of one head, from sums of all rectangles at the origin.
class visible_counts {
public:
    template <class Visible>
    visible_counts(index_t queries, index_t keys, Visible const& visible) : sums_(queries + 1, keys + 1) {
        for (index_t i = 0; i < queries; ++i)
            for (index_t j = 0; j < keys; ++j)
                sums_(i + 1, j + 1) = sums_(i, j + 1) + sums_(i + 1, j) - sums_(i, j) + (visible(i, j) ? 1 : 0);
    }
    /// How many pairs of the rectangle are visible.
    index_t within(index_t query_begin, index_t query_end, index_t key_begin, index_t key_end) const {
        return sums_(query_end, key_end) - sums_(query_begin, key_end) - sums_(query_end, key_begin) +
               sums_(query_begin, key_begin);
    }
    /// Whether cover may say this of the rectangle: `some` promises nothing.
    bool allows(coverage said, index_t query_begin, index_t query_end, index_t key_begin, index_t key_end) const {
        index_t const seen = within(query_begin, query_end, key_begin, key_end);
        if (said == coverage::none) return seen == 0;
        return said == coverage::some || seen == (query_end - query_begin) * (key_end - key_begin);
    }

private:
    buffer<index_t, 2> sums_;
};

namespace inner {

/// The first pair of a tile that contradicts `said`.
template <class Bound>
site contradiction(Bound const& p, tile const& t, coverage said) {
    for (index_t query = t.query_begin; query < t.query_end; ++query)
        for (index_t key = t.key_begin; key < t.key_end; ++key)
            if (site const s{t.batch, t.head, query, key}; facet::visible(p, s) != (said == coverage::all)) return s;
    return {t.batch, t.head, t.query_begin, t.key_begin};
}

template <class Bound>
void expect_cover(report& r, char const* law, Bound const& p, visible_counts const& counts, tile const& t) {
    coverage const said = facet::cover(p, t);
    r.expect(counts.allows(said, t.query_begin, t.query_end, t.key_begin, t.key_end), [&] {
        site const s = contradiction(p, t, said);
        return std::string(law) + ": cover says " + words(said) + " for " + words(t) + ", but " + words(s) + " is " +
               (said == coverage::all ? "hidden" : "visible");
    });
}

/// Every tile where there are few, else `most` random ones.
template <class F>
void for_each_tile(index_t queries, index_t keys, long long most, std::uint64_t seed, F const& run) {
    if (queries == 0 || keys == 0) return;
    long long const tiles =
        (static_cast<long long>(queries) * (queries + 1) / 2) * (static_cast<long long>(keys) * (keys + 1) / 2);
    if (tiles <= most) {
        for (index_t a = 0; a < queries; ++a)
            for (index_t b = a + 1; b <= queries; ++b)
                for (index_t c = 0; c < keys; ++c)
                    for (index_t d = c + 1; d <= keys; ++d) run(a, b, c, d);
        return;
    }
    random_source random(seed);
    for (long long i = 0; i < most; ++i) {
        index_t const a = random.below(queries), c = random.below(keys);
        run(a, random.between(a + 1, queries), c, random.between(c + 1, keys));
    }
}

/// cover and hides keep their word on every tile and key of the shape.
template <class Bound>
void check_cover(report& r, char const* law, Bound const& p, shape_facts const& f, long long most = 60000) {
    for_each_head(f, [&](index_t b, index_t h) {
        visible_counts const counts(f.queries, f.keys,
                                    [&](index_t i, index_t j) { return facet::visible(p, site{b, h, i, j}); });
        for_each_tile(f.queries, f.keys, most, 17, [&](index_t q0, index_t q1, index_t k0, index_t k1) {
            expect_cover(r, law, p, counts, tile{b, h, q0, q1, k0, k1});
        });
        head_site const head{b, h, h / math::max(1, f.heads / math::max(1, f.key_value_heads))};
        if constexpr (detail::has_cover_unhidden<Bound>) {
            // hidden keys taken out: they count as visible where `all` is said, and never are where `none` is
            visible_counts const packed(f.queries, f.keys, [&](index_t i, index_t j) {
                return facet::visible(p, site{b, h, i, j}) || facet::hides(p, head, j);
            });
            for_each_tile(f.queries, f.keys, most, 29, [&](index_t q0, index_t q1, index_t k0, index_t k1) {
                tile const t{b, h, q0, q1, k0, k1};
                coverage const said = facet::cover_unhidden(p, t);
                r.expect((said == coverage::all ? packed : counts).allows(said, q0, q1, k0, k1), [&] {
                    return std::string(law) + ": cover_unhidden says " + words(said) + " for " + words(t) +
                           ", which is not so";
                });
            });
        }
        for (index_t key = 0; key < f.keys; ++key) {
            if (!facet::hides(p, head, key)) continue;
            r.expect(counts.within(0, f.queries, key, key + 1) == 0, [&] {
                return std::string(law) + ": hides says that nobody sees key " + std::to_string(key) + " of head " +
                       std::to_string(h) + ", but somebody does";
            });
        }
    });
}

} // namespace inner
} // namespace basin::testing
