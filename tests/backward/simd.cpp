// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT

// What only blocks, strips and threads of the simd backend can get wrong: borders of its tiles, turns, memory, NaN.

#if BASIN_TEST_SIMD

#include <basin/attention_backward.hpp>
#include <basin/backend/simd.hpp>
#include <basin/backend/thread_pool.hpp>
#include <basin/basin.hpp>
#include <support/random.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <vector>

using namespace basin;

namespace {

double const not_a_number = std::nan("");

template <class Array>
void fill_random(Array& x, std::uint64_t seed) {
    basin_test::random_numbers random{seed};
    for (auto& y : x) y = static_cast<std::remove_reference_t<decltype(y)>>(random.uniform(-1.5, 1.5));
}

struct shape {
    index_t heads, key_heads, queries, keys, depth, width;
};

/// One forward call by the reference, and what backward calls read.
template <class T>
struct call {
    shape s;
    buffer<T, 4> q, k, v, out, d_out, d_q, d_k, d_v;
    buffer<T, 3> lse, d_lse, d_entropy, d_received;
    buffer<T, 1> learned;
    explicit call(shape x)
        : s(x), q(2, x.heads, x.queries, x.depth), k(2, x.key_heads, x.keys, x.depth),
          v(2, x.key_heads, x.keys, x.width), out(2, x.heads, x.queries, x.width),
          d_out(2, x.heads, x.queries, x.width), d_q(2, x.heads, x.queries, x.depth),
          d_k(2, x.key_heads, x.keys, x.depth), d_v(2, x.key_heads, x.keys, x.width), lse(2, x.heads, x.queries),
          d_lse(2, x.heads, x.queries), d_entropy(2, x.heads, x.queries), d_received(2, x.heads, x.keys),
          learned(x.heads) {
        fill_random(q, 1), fill_random(k, 2), fill_random(v, 3), fill_random(d_out, 4);
        fill_random(d_lse, 5), fill_random(d_entropy, 6), fill_random(d_received, 7);
    }
    template <class Policy>
    void forward(Policy const& policy, options const& o = {}) {
        attention(reference_backend{}, q, k, v, out, policy, o, basin::lse{lse});
    }
    template <class Backend, class Policy, class... Terms>
    void backward(Backend const& backend, Policy const& policy, options const& o, Terms const&... terms) {
        attention_backward(backend, saved{q, k, v, out, lse}, upstream{d_out, terms...}, gradients{d_q, d_k, d_v},
                           policy, o);
    }
    /// The largest difference of the gradients, relative to the largest gradient of its kind where
    /// that is above 1 (with one key, all but d_v are 0).
    double difference(call const& other) const {
        double worst = 0;
        auto const compare = [&](auto const& a, auto const& b) {
            double off = 0, largest = 1;
            for (std::ptrdiff_t i = 0; i < a.size(); ++i) {
                double const x = static_cast<double>(a.data()[i]), y = static_cast<double>(b.data()[i]);
                off = std::fabs(x - y) <= off ? off : std::fabs(x - y); // NaN stays
                largest = std::fmax(largest, std::fabs(x));
            }
            worst = off / largest <= worst ? worst : off / largest;
        };
        compare(d_q, other.d_q), compare(d_k, other.d_k), compare(d_v, other.d_v), compare(learned, other.learned);
        return worst;
    }
    bool same_bits(call const& other) const {
        auto const same = [](auto const& a, auto const& b) {
            return std::memcmp(a.data(), b.data(), static_cast<std::size_t>(a.size()) * sizeof(T)) == 0;
        };
        return same(d_q, other.d_q) && same(d_k, other.d_k) && same(d_v, other.d_v) && same(learned, other.learned);
    }
};

shape const shapes[] = {{2, 2, 1, 1, 64, 64}, {2, 1, 97, 65, 24, 70}, {2, 1, 100, 130, 68, 16}, {1, 1, 193, 64, 3, 5}};

/// simd against the reference, and its bits with other numbers of threads. `make(d)` is the policy with its gradient.
template <class T, class Make, class... Terms>
void check(double bound, Make const& make, Terms const&... terms) {
    for (shape const& s : shapes) {
        CAPTURE(s.queries);
        CAPTURE(s.keys);
        call<T> expected(s);
        expected.forward(make(expected.learned));
        call<T> found = expected;
        expected.backward(reference_backend{}, make(expected.learned), {}, terms(expected)...);
        found.backward(simd_backend{}, make(found.learned), {}, terms(found)...);
        CHECK(expected.difference(found) <= bound);
        for (index_t const threads : {2, 5}) {
            call<T> other = found;
            other.backward(simd_backend{.threads = threads}, make(other.learned), {}, terms(other)...);
            CHECK(found.same_bits(other));
        }
    }
}

struct squared {
    template <class X, class Site>
    X weight(X p, Site const&) const {
        return p * p;
    }
};
/// Six queries see all keys, the next six the first 64, the next six none: whole tiles of rows that see nothing, of a strip of
/// keys or at all, stand between others.
struct by_sixes {
    static index_t reach(index_t six) { return six % 3 == 0 ? 1 << 30 : six % 3 == 1 ? 64 : 0; }
    bool visible(site const& s) const { return s.key < reach(s.query / 6); }
    coverage cover(tile const& t) const {
        index_t const end = reach(t.query_begin / 6);
        if (t.query_begin / 6 != (t.query_end - 1) / 6) return coverage::some;
        return t.key_begin >= end ? coverage::none : t.key_end <= end ? coverage::all : coverage::some;
    }
};
struct names_too_many {
    template <class X, class Site>
    X score(X x, Site const&) const {
        return x;
    }
    template <class X, class Site, class Add>
    void score_parameters(X x, Site const& s, Add const& add) const {
        add(s.query < 150 ? 0 : 9, x);
    }
};

} // namespace

TEST_CASE("simd backward equals the reference at the borders of its tiles, the same bits for any threads") {
    check<double>(1e-12, [](auto&) { return causal{} & by_sixes{}; });
    check<double>(1e-12, [](auto&) { return by_sixes{}; });
    check<double>(1e-12, [](auto&) { return sink_masked{key_set(130, {0, 5, 64, 65})}; });
    check<double>(1e-12, [](auto& d) { return all_of(softcap{2}, learned{alibi::geometric(d.extent(0)), d}); });
    check<double>(
        1e-12,
        [](auto& d) {
            return all_of(window{40, 3}, squared{},
                          learned{sink_logit{std::vector<double>(static_cast<std::size_t>(d.extent(0)), 0.5)}, d});
        },
        [](auto& c) { return through_lse{c.d_lse}; }, [](auto& c) { return through_entropy{c.d_entropy}; },
        [](auto& c) { return through_received{c.d_received}; });
    check<float>(2e-5, [](auto&) { return full{}; });
}

TEST_CASE("simd backward gives the same bits on a pool of threads and in the caller's workspace") {
    call<float> one({4, 2, 300, 200, 32, 32});
    auto const policy = [](auto& d) { return all_of(causal{}, learned{sink_logit{{0.5, 0.1, -1.0, 2.0}}, d}); };
    one.forward(policy(one.learned));
    call<float> pooled = one, lent = one, expected = one;
    one.backward(simd_backend{}, policy(one.learned), {});
    expected.backward(reference_backend{}, policy(expected.learned), {});
    CHECK(expected.difference(one) <= 2e-5);
    thread_pool pool{3};
    pooled.backward(simd_backend{.threads = 3}.on(pool), policy(pooled.learned), {});
    CHECK(one.same_bits(pooled));

    auto const memory = [&](call<float>& c, simd_backend const& backend) {
        return backward_workspace_bytes(backend, saved{c.q, c.k, c.v, c.out, c.lse}, upstream{c.d_out},
                                        gradients{c.d_q, c.d_k, c.d_v}, policy(c.learned));
    };
    std::vector<std::byte> room(memory(lent, {.threads = 3}) + 1);
    lent.backward(simd_backend{.threads = 3, .workspace = room.data() + 1, .workspace_size = room.size() - 1},
                  policy(lent.learned), {});
    CHECK(one.same_bits(lent));
    CHECK_THROWS_AS(
        lent.backward(simd_backend{.workspace = room.data(), .workspace_size = 64}, policy(lent.learned), {}),
        argument_error);
    CHECK_THROWS_AS(lent.backward(simd_backend{.threads = 0}, policy(lent.learned), {}), argument_error);
    // O(queries + keys): far from the 16384 x 16384 pairs of one head
    static float places[9];
    auto const at = [&](int i) { return view<float, 4>(places + i, {{1, 16, 16384, 64}}); };
    view<float, 3> const rows(places, {{1, 16, 16384}});
    auto const q = at(1), k = at(2), v = at(3), out = at(4), d_out = at(5), d_q = at(6), d_k = at(7), d_v = at(8);
    CHECK(backward_workspace_bytes(simd_backend{.threads = 2}, saved{q, k, v, out, rows}, upstream{d_out},
                                   gradients{d_q, d_k, d_v}, full{}) < std::size_t{64} << 20U);
}

TEST_CASE("simd backward writes into strided gradients and reads texts of any lengths") {
    call<double> expected({2, 1, 140, 140, 16, 16});
    std::vector<index_t> const lengths{140, 67};
    options const o{.lengths = lengths};
    expected.forward(causal{}, o);
    call<double> found = expected;
    expected.backward(reference_backend{}, causal{}, o);
    buffer<double, 4> turned_k(2, 1, 16, 140), turned_v(2, 1, 16, 140), turned_q(2, 2, 16, 140);
    auto const turn = [](buffer<double, 4>& x) {
        auto const s = as_view(x).strides();
        auto const n = x.extents();
        return view<double, 4>(x.data(), {{n[0], n[1], n[3], n[2]}}, {{s[0], s[1], s[3], s[2]}});
    };
    auto const d_q = turn(turned_q), d_k = turn(turned_k), d_v = turn(turned_v);
    attention_backward(simd_backend{.threads = 2}, saved{found.q, found.k, found.v, found.out, found.lse},
                       upstream{found.d_out}, gradients{d_q, d_k, d_v}, causal{}, o);
    for (index_t b = 0; b < 2; ++b)
        for (index_t i = 0; i < 140; ++i)
            for (index_t c = 0; c < 16; ++c) {
                for (index_t h = 0; h < 2; ++h) found.d_q(b, h, i, c) = d_q(b, h, i, c);
                found.d_k(b, 0, i, c) = d_k(b, 0, i, c);
                found.d_v(b, 0, i, c) = d_v(b, 0, i, c);
            }
    CHECK(expected.difference(found) <= 1e-12);
}

TEST_CASE("simd backward: what nobody sees may be anything") {
    call<double> clean({1, 1, 120, 120, 16, 16});
    clean.forward(window{200, 0} & ~prefix{0}); // causal, by another name
    call<double> spoiled = clean;
    clean.backward(simd_backend{}, causal{}, {});
    // Query 119 alone sees key 119. Without a share in the last query, that key's numbers reach nobody.
    for (index_t b = 0; b < 2; ++b) {
        for (index_t c = 0; c < 16; ++c) {
            spoiled.k(b, 0, 119, c) = not_a_number;
            spoiled.v(b, 0, 119, c) = math::infinity<double>;
            spoiled.d_out(b, 0, 119, c) = not_a_number;
        }
        spoiled.lse(b, 0, 119) = -math::infinity<double>; // as of a row that saw nothing
    }
    spoiled.backward(simd_backend{.threads = 2}, causal{}, {});
    for (index_t b = 0; b < 2; ++b)
        for (index_t c = 0; c < 16; ++c) {
            for (index_t i = 0; i < 119; ++i) {
                CHECK(spoiled.d_q(b, 0, i, c) == doctest::Approx(clean.d_q(b, 0, i, c)).epsilon(1e-12));
                CHECK(spoiled.d_k(b, 0, i, c) == spoiled.d_k(b, 0, i, c));
                CHECK(spoiled.d_v(b, 0, i, c) == spoiled.d_v(b, 0, i, c));
            }
            CHECK(spoiled.d_q(b, 0, 119, c) == 0);
            CHECK(spoiled.d_k(b, 0, 119, c) == 0);
            CHECK(spoiled.d_v(b, 0, 119, c) == 0);
        }
}

TEST_CASE("simd backward: an exception on one thread ends the call on all") {
    call<float> c({1, 1, 400, 300, 8, 8});
    auto const policy = learned{names_too_many{}, c.learned};
    c.forward(policy);
    CHECK_THROWS_AS(c.backward(simd_backend{.threads = 3}, policy, {}), shape_error);
}

#endif
