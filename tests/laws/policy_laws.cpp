// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#include "laws.hpp"
#include "oracle.hpp"

#include <basin/basin.hpp>
#include <basin/testing/policy_laws.hpp>

namespace laws {
namespace {

/// The masks of a program alone: what | and ~ take.
struct program_mask {
    using lanes = supported;
    program p{};
    template <class Lane>
    auto visible(basic_site<Lane> const& s) const {
        return p.visible(s);
    }
    coverage cover(tile const& t) const { return p.cover(t); }
    coverage cover_unhidden(tile const& t) const { return p.cover_unhidden(t); }
    bool hides(head_site const& s, index_t key) const { return p.hides(s, key); }
};
static_assert(mask<program_mask> && policy<program>);

testing::check_options small_shape(law_case const& c) {
    testing::check_options o;
    o.batch = 1 + static_cast<index_t>(c.seed % 2);
    o.heads = 2;
    o.queries = math::min(c.queries, 9);
    o.keys = math::min(c.keys, 11);
    o.seed = c.seed;
    return o;
}
program another(law_case const& c, std::uint64_t salt) {
    random_source r(c.seed + salt);
    return testing::random_program(r, 3, math::max(c.queries, c.keys) + 1);
}
std::string first(testing::report const& r) { return r.ok() ? "" : r.failures().front(); }

std::string visible_is_the_formula(law_case const& c, runner const&) {
    testing::report r;
    testing::inner::for_each_site(testing::inner::facts_of(small_shape(c)), [&](site const& s) {
        r.expect(c.policy.visible(s) == sees(c.policy, s.batch, s.head, s.query, s.key),
                 [&] { return "visible is wrong at " + testing::inner::words(s); });
    });
    return first(r);
}

std::string cover_is_sound(law_case const& c, runner const&) {
    testing::report r;
    auto o = small_shape(c);
    o.batch = 1;
    testing::inner::check_cover(r, "random tree", c.policy, testing::inner::facts_of(o), 600);
    return first(r);
}

/// Large positions and tiles, as kernels have them.
std::string cover_is_sound_far_out(law_case const& c, runner const&) {
    testing::report r;
    random_source random(c.seed + 5);
    program p;
    testing::random_mask(p, random, 4, 300);
    for (int i = 0; i < 12; ++i) {
        index_t const q = random.below(300), k = random.below(300);
        tile const t{0, random.below(3), q, q + random.between(1, 24), k, k + random.between(1, 24)};
        coverage const said = p.cover(t);
        for (index_t a = t.query_begin; a < t.query_end && said != coverage::some; ++a)
            for (index_t b = t.key_begin; b < t.key_end; ++b) {
                r.expect(sees(p, t.batch, t.head, a, b) == (said == coverage::all), [&] {
                    return "cover says " + testing::inner::words(said) + " for " + testing::inner::words(t) + " of " +
                           p.text();
                });
            }
    }
    return first(r);
}

std::string lanes_are_scalars(law_case const& c, runner const&) {
    testing::report r;
    testing::inner::check_lanes(r, c.policy, testing::inner::facts_of(small_shape(c)), small_shape(c));
    return first(r);
}

std::string full_is_the_identity(law_case const& c, runner const&) {
    testing::report r;
    auto const f = testing::inner::facts_of(small_shape(c));
    auto const left = all_of(full{}, c.policy);
    auto const right = all_of(c.policy, full{});
    testing::inner::expect_same(r, "full & p is p", left, c.policy, f);
    testing::inner::expect_same(r, "p & full is p", right, c.policy, f);
    testing::inner::check_cover(r, "full & p", left, f, 100);
    return first(r);
}

std::string all_of_is_associative(law_case const& c, runner const&) {
    testing::report r;
    auto const f = testing::inner::facts_of(small_shape(c));
    program const a = c.policy, b = another(c, 1), d = another(c, 2);
    testing::inner::expect_same(r, "(a & b) & c is a & (b & c)", (a & b) & d, a & (b & d), f);
    testing::inner::expect_same(r, "all_of(a, b, c) is a & b & c", all_of(a, b, d), a & b & d, f);
    testing::inner::check_cover(r, "a & b & c", a & b & d, f, 100);
    program_mask const x{a}, y{b}, z{d};
    testing::inner::expect_same(r, "(a | b) | c is a | (b | c)", (x | y) | z, x | (y | z), f);
    testing::inner::expect_same(r, "any_of(a, b, c) is a | b | c", any_of(x, y, z), x | y | z, f);
    testing::inner::expect_same(r, "none_of(a, b) is ~a & ~b", none_of(x, y), ~x & ~y, f);
    return first(r);
}

/// Scores run left to right; a key is seen where both see it.
std::string both_is_both(law_case const& c, runner const&) {
    testing::report r;
    program const a = c.policy, b = another(c, 3);
    auto const p = all_of(a, b);
    testing::inner::for_each_site(testing::inner::facts_of(small_shape(c)), [&](site const& s) {
        bool const one = sees(a, s.batch, s.head, s.query, s.key), other = sees(b, s.batch, s.head, s.query, s.key);
        r.expect(p.visible(s) == (one && other),
                 [&] { return "both: visible is wrong at " + testing::inner::words(s); });
        r.expect(any_of(program_mask{a}, program_mask{b}).visible(s) == (one || other),
                 [&] { return "either: visible is wrong at " + testing::inner::words(s); });
        r.expect(none_of(program_mask{a}).visible(s) == !one,
                 [&] { return "inverse: visible is wrong at " + testing::inner::words(s); });
        double const x = 1.25, right = b.score(a.score(x, s), s), got = p.score(x, s);
        r.expect(got == right, [&] { return "both: score is wrong at " + testing::inner::words(s); });
        auto const somewhere = where(program_mask{b}, score_with([](auto y, auto) { return y * 2; }));
        r.expect(somewhere.score(x, s) == (other ? 2 * x : x),
                 [&] { return "where: score is wrong at " + testing::inner::words(s); });
    });
    return first(r);
}

std::string masks_are_an_algebra(law_case const& c, runner const&) {
    auto o = small_shape(c);
    o.batch = 1;
    o.queries = math::min(o.queries, 5);
    o.keys = math::min(o.keys, 7);
    return first(testing::check_mask(program_mask{c.policy}, program_mask{another(c, 4)}, o));
}

std::string a_sink_token_is_seen_by_all_and_sees_itself(law_case const& c, runner const&) {
    testing::report r;
    random_source random(c.seed + 6);
    auto const o = small_shape(c);
    if (o.queries == 0 || o.keys == 0) return "";
    token_list tokens{};
    for (index_t i = random.between(1, 3); i > 0; --i)
        tokens.positions[tokens.count++] = random.below(math::max(o.queries, o.keys));
    sink_token<program> p{tokens, c.policy, random.chance(2)};
    auto const is_token = [&](index_t x) {
        for (index_t i = 0; i < tokens.count; ++i)
            if (tokens.positions[i] == x) return true;
        return false;
    };
    testing::inner::for_each_site(testing::inner::facts_of(o), [&](site const& s) {
        bool const base = sees(c.policy, s.batch, s.head, s.query, s.key);
        bool const expected =
            is_token(s.query) ? s.query == s.key || (p.mutual && is_token(s.key)) : base || is_token(s.key);
        r.expect(p.visible(s) == expected,
                 [&] { return "sink_token: visible is wrong at " + testing::inner::words(s); });
    });
    testing::inner::check_cover(r, "sink_token", p, testing::inner::facts_of(o), 600);
    testing::inner::check_lanes(r, p, testing::inner::facts_of(o), o);
    return first(r);
}

} // namespace

std::vector<named_law> const& policy_laws() {
    static std::vector<named_law> const list = {
        {"visible is the formula", visible_is_the_formula},
        {"cover is sound", cover_is_sound},
        {"cover is sound far out", cover_is_sound_far_out},
        {"lanes are scalars", lanes_are_scalars},
        {"full is the identity", full_is_the_identity},
        {"all_of is associative", all_of_is_associative},
        {"both is both", both_is_both},
        {"masks are an algebra", masks_are_an_algebra},
        {"a sink token is seen by all and sees itself", a_sink_token_is_seen_by_all_and_sees_itself}};
    return list;
}

} // namespace laws
