// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#include "call.hpp"

using namespace basin_test;
using basin::argument_error, basin::shape_error;

// What is refused, in which words, and that nothing has been written by then. The checks are made before a backend
// is asked, so that one backend serves.
namespace {

basin::reference_backend const reference;
using view4 = basin::view<float, 4>;

/// Arrays that fit, of which a test spoils one.
struct arrays {
    array<float> q{2, 4, 5, 8}, k{2, 2, 7, 8}, v{2, 2, 7, 6}, out{2, 4, 5, 6}, mass{2, 4, 1, 7}, spread{2, 4, 1, 5};
    arrays() {
        q.fill(1);
        k.fill(1);
        v.fill(1);
    }
    bool nothing_written() const { return out.untouched() && mass.untouched() && spread.untouched(); }
};

template <class Error, class F>
std::string refused(F const& f) {
    arrays a;
    std::string const words = words_of<Error>([&] { f(a); });
    CHECK(a.nothing_written());
    return words;
}

template <class Policy>
std::string refused_policy(Policy const& policy) {
    return refused<argument_error>([&](arrays& a) {
        basin::attention(reference, a.q.view(), a.k.view(), a.v.view(), a.out.view(), policy,
                         basin::received{a.mass.flat()});
    });
}

std::string refused_options(basin::options const& o, index_t batch = 2, index_t queries = 5, index_t keys = 7) {
    array<float> q(batch, 1, queries, 3), k(batch, 1, keys, 3), v(batch, 1, keys, 3), out(batch, 1, queries, 3),
        mass(batch, 1, 1, keys);
    std::string const words = words_of<argument_error>([&] {
        basin::attention(reference, q.view(), k.view(), v.view(), out.view(), basin::full{}, o,
                         basin::received{mass.flat()});
    });
    CHECK(out.untouched());
    CHECK(mass.untouched());
    return words;
}

} // namespace

TEST_CASE("contract: wrong extents of k name the argument, the axis and both extents") {
    CHECK(refused<shape_error>([](arrays& a) {
              array<float> k(3, 2, 7, 8);
              basin::attention(reference, a.q.view(), k.view(), a.v.view(), a.out.view(), basin::full{},
                               basin::received{a.mass.flat()});
          }) == "k: batch extent is 3, but q has 2");
    CHECK(refused<shape_error>([](arrays& a) {
              array<float> k(2, 2, 7, 9);
              basin::attention(reference, a.q.view(), k.view(), a.v.view(), a.out.view(), basin::full{},
                               basin::received{a.mass.flat()});
          }) == "k: channel extent is 9, but q has 8");
}

TEST_CASE("contract: head counts that do not divide are refused") {
    CHECK(refused<shape_error>([](arrays& a) {
              array<float> k(2, 3, 7, 8);
              basin::attention(reference, a.q.view(), k.view(), a.v.view(), a.out.view(), basin::full{});
          }) == "k: head extent is 3, which does not divide the 4 heads of q");
    CHECK(refused<shape_error>([](arrays& a) {
              array<float> k(2, 8, 7, 8);
              basin::attention(reference, a.q.view(), k.view(), a.v.view(), a.out.view(), basin::full{});
          }) == "k: head extent is 8, which does not divide the 4 heads of q");
    CHECK(refused<shape_error>([](arrays& a) {
              array<float> k(2, 0, 7, 8);
              basin::attention(reference, a.q.view(), k.view(), a.v.view(), a.out.view(), basin::full{});
          }) == "k: head extent is 0, which does not divide the 4 heads of q");
}

TEST_CASE("contract: wrong extents of v name the argument, the axis and both extents") {
    auto const with = [](index_t b, index_t h, index_t t, index_t c) {
        return refused<shape_error>([=](arrays& a) {
            array<float> v(b, h, t, c);
            basin::attention(reference, a.q.view(), a.k.view(), v.view(), a.out.view(), basin::full{},
                             basin::received{a.mass.flat()});
        });
    };
    CHECK(with(1, 2, 7, 6) == "v: batch extent is 1, but k has 2");
    CHECK(with(2, 4, 7, 6) == "v: head extent is 4, but k has 2");
    CHECK(with(2, 2, 8, 6) == "v: token extent is 8, but k has 7");
    CHECK(with(2, 2, 7, 5) == "out: channel extent is 6, but v has 5");
}

TEST_CASE("contract: wrong extents of out name the argument, the axis and both extents") {
    auto const with = [](index_t b, index_t h, index_t t, index_t c) {
        array<float> out(b, h, t, c);
        std::string const words = refused<shape_error>([&](arrays& a) {
            basin::attention(reference, a.q.view(), a.k.view(), a.v.view(), out.view(), basin::full{},
                             basin::received{a.mass.flat()});
        });
        CHECK(out.untouched());
        return words;
    };
    CHECK(with(3, 4, 5, 6) == "out: batch extent is 3, but q has 2");
    CHECK(with(2, 2, 5, 6) == "out: head extent is 2, but q has 4");
    CHECK(with(2, 4, 7, 6) == "out: token extent is 7, but q has 5");
    CHECK(with(2, 4, 5, 8) == "out: channel extent is 8, but v has 6");
}

TEST_CASE("contract: wrong extents of statistics name the axis and both extents") {
    auto const by_key = [](index_t b, index_t h, index_t t) {
        array<float> mass(b, h, 1, t);
        std::string const words = refused<shape_error>([&](arrays& a) {
            basin::attention(reference, a.q.view(), a.k.view(), a.v.view(), a.out.view(), basin::full{},
                             basin::received{mass.flat()});
        });
        CHECK(mass.untouched());
        return words;
    };
    CHECK(by_key(1, 4, 7) == "received: batch extent is 1, but q has 2");
    CHECK(by_key(2, 2, 7) == "received: head extent is 2, but q has 4"); // per query head, not per key-value head
    CHECK(by_key(2, 4, 5) == "received: token extent is 5, but k has 7");
    auto const by_query = [](index_t b, index_t h, index_t t) {
        array<float> spread(b, h, 1, t);
        return refused<shape_error>([&](arrays& a) {
            basin::attention(reference, a.q.view(), a.k.view(), a.v.view(), a.out.view(), basin::full{},
                             basin::received{a.mass.flat()}, basin::entropy{spread.flat()});
        });
    };
    CHECK(by_query(2, 4, 7) == "entropy: token extent is 7, but q has 5");
    CHECK(by_query(2, 3, 5) == "entropy: head extent is 3, but q has 4");
    CHECK(by_query(4, 4, 5) == "entropy: batch extent is 4, but q has 2");
    array<index_t> best(2, 4, 1, 6);
    CHECK(refused<shape_error>([&](arrays& a) {
              basin::attention(reference, a.q.view(), a.k.view(), a.v.view(), a.out.view(), basin::full{},
                               basin::favourite{best.flat(), a.spread.flat()});
          }) == "favourite: token extent is 6, but q has 5");
}

TEST_CASE("contract: groups must fit") {
    auto const with = [](std::vector<index_t> const& ids, index_t rows, index_t count, index_t planes) {
        return refused<argument_error>([&](arrays& a) {
            array<float> mass(2, 4, planes, 7);
            basin::view<index_t const, 2> const table(ids.data(), {{rows, static_cast<index_t>(ids.size()) / rows}});
            basin::attention(reference, a.q.view(), a.k.view(), a.v.view(), a.out.view(), basin::full{},
                             basin::received{mass.view(), basin::by_group(table, count)});
        });
    };
    CHECK(with({0, 1, 0, 1, 0}, 1, 2, 3) == "received: group extent is 3, but by_group has 2");
    CHECK(with({0, 1, 0, 1}, 1, 2, 2) == "by_group: token extent is 4, but q has 5");
    CHECK(with({0, 1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, 3, 2, 2) == "by_group: batch extent is 3, but q has 2");
    CHECK(with({0, 1, 2, 1, 0}, 1, 2, 2) == "by_group: query 2 is in group 2, outside of 0 ... 1");
    CHECK(with({0, 1, -1, 1, 0}, 1, 2, 2) == "by_group: query 2 is in group -1, outside of 0 ... 1");
    CHECK(with({0, 0, 0, 0, 0}, 1, 0, 1) == "by_group: 0 groups; at least one is needed");
}

TEST_CASE("contract: out at the data pointer of an input is refused") {
    array<float> x(1, 1, 4, 4), y(1, 1, 4, 4), z(1, 1, 4, 4);
    x.fill(1);
    y.fill(2);
    z.fill(3);
    auto const before = bytes_of(x);
    auto const with = [&](array<float>& q, array<float>& k, array<float>& v, array<float>& out) {
        return words_of<argument_error>(
            [&] { basin::attention(reference, q.view(), k.view(), v.view(), out.view(), basin::full{}); });
    };
    CHECK(with(x, y, z, x) == "out: has the data pointer of q; attention does not work in place");
    CHECK(with(y, x, z, x) == "out: has the data pointer of k; attention does not work in place");
    CHECK(with(y, z, x, x) == "out: has the data pointer of v; attention does not work in place");
    CHECK(bytes_of(x) == before);
    array<float> out(1, 1, 4, 4);
    CHECK(with(x, x, x, out) == "nothing was thrown"); // inputs may be one array
}

TEST_CASE("contract: a statistic at the data pointer of another argument is refused") {
    array<float> q(1, 1, 4, 4), k(1, 1, 4, 4), v(1, 1, 4, 4), out(1, 1, 4, 4);
    for (auto* x : {&q, &k, &v}) x->fill(1);
    for (array<float>* x : {&q, &k, &v, &out}) {
        auto const before = bytes_of(*x);
        basin::view<float, 1> const mass(x->view().data(), {{4}});
        CHECK(words_of<argument_error>([&] {
                  basin::attention(reference, q.view(), k.view(), v.view(), out.view(), basin::full{},
                                   basin::received{mass});
              }) == "a statistic's array has the data pointer of another argument of the call");
        CHECK(bytes_of(*x) == before);
    }
    basin::buffer<float, 1> lse(4);
    CHECK(words_of<argument_error>([&] {
              basin::observe(reference, q.view(), k.view(), lse, basin::full{}, basin::received{lse});
          }) == "a statistic's array has the data pointer of another argument of the call");
}

TEST_CASE("contract: an output with stride 0 is refused") {
    std::vector<float> one(64, 5.F);
    for (std::size_t axis = 0; axis < 4; ++axis) {
        basin::tuple_of<std::ptrdiff_t, 4> strides{{120, 30, 6, 1}};
        strides[axis] = 0;
        std::vector<float> memory(480, 5.F);
        view4 const out(memory.data(), {{2, 4, 5, 6}}, strides);
        CHECK(refused<argument_error>([&](arrays& a) {
                  basin::attention(reference, a.q.view(), a.k.view(), a.v.view(), out, basin::full{});
              }) == "out: axis " + std::to_string(axis) + " has stride 0, so that results would overwrite each other");
        for (float const x : memory) REQUIRE(x == 5.F);
    }
    basin::view<float, 3> const mass(one.data(), {{2, 4, 7}}, {{28, 0, 1}});
    CHECK(refused<argument_error>([&](arrays& a) {
              basin::attention(reference, a.q.view(), a.k.view(), a.v.view(), a.out.view(), basin::full{},
                               basin::received{mass});
          }) == "received: axis 1 has stride 0, so that results would overwrite each other");
    // Reading with stride 0 is broadcasting, and an axis of extent 1 is never stepped.
    arrays a;
    view4 const shared_q(a.q.view().data(), {{2, 4, 5, 8}}, {{0, 0, 8, 1}});
    CHECK_NOTHROW(basin::attention(reference, shared_q, a.k.view(), a.v.view(), a.out.view(), basin::full{}));
}

TEST_CASE("contract: null data with elements is refused, without elements it is not") {
    auto const null = [](index_t b, index_t h, index_t t, index_t c) { return view4(nullptr, {{b, h, t, c}}); };
    CHECK(refused<argument_error>([&](arrays& a) {
              basin::attention(reference, null(2, 4, 5, 8), a.k.view(), a.v.view(), a.out.view(), basin::full{});
          }) == "q: the data pointer is null, but the array has 320 elements");
    CHECK(refused<argument_error>([&](arrays& a) {
              basin::attention(reference, a.q.view(), null(2, 2, 7, 8), a.v.view(), a.out.view(), basin::full{});
          }) == "k: the data pointer is null, but the array has 224 elements");
    CHECK(refused<argument_error>([&](arrays& a) {
              basin::attention(reference, a.q.view(), a.k.view(), null(2, 2, 7, 6), a.out.view(), basin::full{});
          }) == "v: the data pointer is null, but the array has 168 elements");
    CHECK(refused<argument_error>([&](arrays& a) {
              basin::attention(reference, a.q.view(), a.k.view(), a.v.view(), null(2, 4, 5, 6), basin::full{});
          }) == "out: the data pointer is null, but the array has 240 elements");
    CHECK(refused<argument_error>([&](arrays& a) {
              basin::attention(reference, a.q.view(), a.k.view(), a.v.view(), a.out.view(), basin::full{},
                               basin::received{basin::view<float, 3>(nullptr, {{2, 4, 7}})});
          }) == "received: the data pointer is null, but the array has 56 elements");
    CHECK_NOTHROW(basin::attention(reference, null(0, 4, 5, 8), null(0, 2, 7, 8), null(0, 2, 7, 6), null(0, 4, 5, 6),
                                   basin::full{}));
}

TEST_CASE("contract: zero channels are refused") {
    CHECK(refused<shape_error>([](arrays& a) {
              array<float> q(2, 4, 5, 0), k(2, 2, 7, 0);
              basin::attention(reference, q.view(), k.view(), a.v.view(), a.out.view(), basin::full{});
          }) == "q: channel extent is 0; a dot product needs at least 1");
    CHECK(refused<shape_error>([](arrays& a) {
              array<float> v(2, 2, 7, 0), out(2, 4, 5, 0);
              basin::attention(reference, a.q.view(), a.k.view(), v.view(), out.view(), basin::full{});
          }) == "v: channel extent is 0; an output needs at least 1");
}

TEST_CASE("contract: rank 3 must be named, other ranks are not understood") {
    basin::buffer<float, 3> x(4, 5, 8), y(4, 5, 8);
    basin::buffer<float, 1> line(8);
    CHECK(words_of<shape_error>([&] { basin::attention(reference, x, x, x, y, basin::full{}); }) ==
          "q: an array of rank 3 must be named: write heads(q) or batches(q)");
    CHECK(words_of<shape_error>([&] {
              basin::attention(reference, basin::heads(x), basin::heads(x), basin::heads(x), y, basin::full{});
          }) == "out: an array of rank 3 must be named: write heads(out) or batches(out)");
    CHECK(words_of<shape_error>([&] { basin::attention(reference, line, line, line, line, basin::full{}); }) ==
          "q: rank 1 is not understood; give (token, channel), heads(...) or batches(...) of rank 3, or (batch, head, "
          "token, channel)");
    CHECK(words_of<shape_error>([&] {
              basin::attention(reference, basin::bthc(x), basin::heads(x), basin::heads(x), y, basin::full{});
          }) == "q: an array of rank 3 must be named: write heads(q) or batches(q)");
    basin::buffer<float, 2> mass(4, 5);
    CHECK(words_of<shape_error>([&] { (void)basin::received{mass}; }) ==
          "statistic: a statistic of rank 2 must be named: write heads(...) or batches(...)");
    basin::buffer<float, 4> cube(1, 4, 2, 5);
    CHECK(words_of<shape_error>([&] { (void)basin::received{cube}; }) ==
          "statistic: rank 4 is not understood; give (batch, head, token)");
}

TEST_CASE("contract: observe checks its lse") {
    arrays a;
    auto const with = [&](index_t b, index_t h, index_t t) {
        array<float> lse(b, h, 1, t);
        return words_of<shape_error>([&] {
            basin::observe(reference, a.q.view(), a.k.view(), lse.flat(), basin::full{},
                           basin::received{a.mass.flat()});
        });
    };
    CHECK(with(1, 4, 5) == "lse: batch extent is 1, but q has 2");
    CHECK(with(2, 2, 5) == "lse: head extent is 2, but q has 4");
    CHECK(with(2, 4, 7) == "lse: token extent is 7, but q has 5");
    CHECK(words_of<argument_error>([&] {
              basin::observe(reference, a.q.view(), a.k.view(), basin::view<float const, 3>(nullptr, {{2, 4, 5}}),
                             basin::full{}, basin::received{a.mass.flat()});
          }) == "lse: the data pointer is null, but the array has 40 elements");
    CHECK(a.nothing_written());
}

TEST_CASE("contract: bad lengths are refused") {
    std::vector<index_t> const three = {1, 2, 3}, long_ones = {5, 8}, negative = {-1, 2}, good = {5, 4};
    basin::options o;
    o.query_lengths = three;
    CHECK(refused_options(o) == "query_lengths: has 3 entries, but the batch has 2");
    o = {};
    o.key_lengths = long_ones;
    CHECK(refused_options(o) == "key_lengths: entry 1 is 8, outside of 0 ... 7");
    o.key_lengths = negative;
    CHECK(refused_options(o) == "key_lengths: entry 0 is -1, outside of 0 ... 7");
    o = {};
    o.lengths = good;
    CHECK(refused_options(o) == "lengths: there are 5 queries and 7 keys; say query_lengths and key_lengths");
    o.query_lengths = good;
    CHECK(refused_options(o) ==
          "lengths: is for queries and keys alike; give either it or query_lengths and key_lengths");
}

TEST_CASE("contract: bad offsets are refused") {
    std::vector<index_t> const good = {0, 2, 5}, late = {1, 5}, back = {0, 4, 2}, beyond = {0, 9}, two = {0, 7},
                               empty = {};
    auto const with = [](std::vector<index_t> const& queries, std::vector<index_t> const& keys, index_t batch = 1) {
        basin::options o;
        o.query_offsets = queries;
        o.key_offsets = keys;
        return refused_options(o, batch);
    };
    CHECK(with(late, good) == "query_offsets: the first border must be 0");
    CHECK(with(empty, good) == "query_offsets: the first border must be 0");
    CHECK(with(back, good) == "query_offsets: border 2 is 2, before border 1 at 4");
    CHECK(with(good, beyond) == "key_offsets: the last border is 9, but there are 7 tokens");
    CHECK(with(good, two) == "query_offsets: 3 borders, but key_offsets has 2");
    CHECK(with(good, good, 2) == "query_offsets: packed texts lie in one batch entry, but the batch has 2");
    basin::options o;
    o.query_offsets = good;
    CHECK(refused_options(o, 1) == "query_offsets and key_offsets: packed texts need both");
    o = {};
    o.offsets = good;
    CHECK(refused_options(o, 1) == "offsets: there are 5 queries and 7 keys; say query_offsets and key_offsets");
    std::vector<index_t> const length = {5};
    o = {};
    o.query_offsets = good;
    o.key_offsets = good;
    o.query_lengths = length;
    CHECK(refused_options(o, 1) == "offsets and lengths: packed texts have no padding; give one of them");
}

TEST_CASE("contract: bad positions and scales are refused") {
    basin::options o;
    o.query_position = -3;
    CHECK(refused_options(o) == "query_position: the first position is -3; positions are never negative");
    o.query_position = 0x7ffffffd;
    CHECK(refused_options(o) == "query_position: positions beyond what index_t counts");
    std::vector<index_t> const four = {0, 1, 2, 3}, negative = {0, 1, -2, 3, 4};
    o = {};
    o.query_position = four;
    CHECK(refused_options(o) == "query_position: token extent is 4, but the call has 5");
    o.query_position = negative;
    CHECK(refused_options(o) == "query_position: position -2 of token 2 is out of range");
    basin::buffer<index_t, 2> per_entry(3, 7);
    o = {};
    o.key_position = per_entry;
    CHECK(refused_options(o) == "key_position: batch extent is 3, but the batch has 2");
    o = {};
    o.scale = std::numeric_limits<double>::infinity();
    CHECK(refused_options(o) == "scale: must be finite");
    basin::buffer<index_t, 3> cube(1, 1, 5);
    CHECK(words_of<shape_error>([&] { o.query_position = cube; }) ==
          "positions: a list has rank 1 (token) or 2 (batch, token), not 3");
}

TEST_CASE("contract: bad arguments of policies are refused") {
    CHECK(refused_policy(basin::window{.before = -1, .after = 2}) ==
          "window: before = -1, after = 2; both count keys and are never negative");
    CHECK(refused_policy(basin::window{.before = 1, .after = -2}) ==
          "window: before = 1, after = -2; both count keys and are never negative");
    CHECK(refused_policy(basin::prefix{-1}) == "prefix: length is -1; it counts keys and is never negative");
    CHECK(refused_policy(basin::blocks{0}) == "blocks: the block size is 0; it must be at least 1");
    CHECK(refused_policy(basin::block_causal{-4}) == "block_causal: the block size is -4; it must be at least 1");
    CHECK(refused_policy(basin::block_diffusion{.size = 0, .length = 4}) ==
          "block_diffusion: the block size is 0; it must be at least 1");
    CHECK(refused_policy(basin::block_diffusion{.size = 2, .length = 3}) ==
          "block_diffusion: length is 3, so positions end at 6, but the call has 5 queries and 7 keys");
    CHECK(refused_policy(basin::softcap{0.0}) == "softcap: the cap is 0; it must be greater than 0 and finite");
    CHECK(refused_policy(basin::softcap{-2.5}) == "softcap: the cap is -2.5; it must be greater than 0 and finite");
    CHECK(refused_policy(basin::softcap{std::nan("")}).find("softcap: the cap is ") == 0);
    CHECK(refused_policy(basin::temperature{0.0}) == "temperature: is 0; it must be greater than 0");
    CHECK(refused_policy(basin::temperature{-1.0}) == "temperature: is -1; it must be greater than 0");
    CHECK(refused_policy(basin::alibi{0.5, 0.25}) == "alibi: has slopes for 2 heads, but q has 4");
    CHECK(refused_policy(basin::sink_logit{{0.5, 0.25}}) == "sink_logit: has logits for 2 heads, but q has 4");
    CHECK(refused_policy(basin::sink_token{-1}) == "sink_token: position -1 is negative");
    CHECK(refused_policy(basin::sink_masked{basin::key_set(2, 4, 6)}) ==
          "sink_masked: the key_set has extents (2, 4, 6), but the call needs (2, 4, 7); an extent of 1 on batch or "
          "head is shared, and of_head(batch, head) gives the set of one head");
    CHECK(refused_policy(basin::sink_masked{basin::key_set(1, 3, 7)}) ==
          "sink_masked: the key_set has extents (1, 3, 7), but the call needs (2, 4, 7); an extent of 1 on batch or "
          "head is shared, and of_head(batch, head) gives the set of one head");
    CHECK(refused_policy(basin::key_bits({1, 1, 4, 7})) ==
          "key_bits: extents are (1, 1, 4, 7), but the call needs (2, 4, 5, 7)");
    CHECK(refused_policy(basin::key_bits({2, 3, 5, 7})) ==
          "key_bits: extents are (2, 3, 5, 7), but the call needs (2, 4, 5, 7)");
    basin::buffer<float, 2> const narrow(5, 6), short_one(4, 7);
    CHECK(refused_policy(basin::bias{narrow}) == "bias: key extent is 6, but the call has 7; 1 broadcasts");
    CHECK(refused_policy(basin::bias{short_one}) == "bias: query extent is 4, but the call has 5; 1 broadcasts");
    // Inside a composition too.
    CHECK(refused_policy(basin::all_of(basin::causal{}, basin::any_of(basin::prefix{1}, basin::blocks{0}))) ==
          "blocks: the block size is 0; it must be at least 1");
    CHECK(words_of<argument_error>([] {
              (void)basin::sink_token{{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}};
          }) == "sink_token: at most 16 tokens, got 17");
}

TEST_CASE("contract: a kv_sink must fit the keys and values") {
    basin::buffer<float, 3> const k3(3, 1, 8), k2(2, 1, 8), k9(2, 1, 9), v2(2, 1, 6), v5(2, 1, 5), v_more(2, 2, 6),
        v1(1, 1, 6);
    CHECK(refused_policy(basin::kv_sink{k3}) == "kv_sink keys: head extent is 3, but k has 2");
    CHECK(refused_policy(basin::kv_sink{k9}) == "kv_sink keys: channel extent is 9, but k has 8");
    CHECK(refused_policy(basin::kv_sink{k2, v5}) == "kv_sink values: channel extent is 5, but v has 6");
    CHECK(refused_policy(basin::kv_sink{k2, v_more}) == "kv_sink values: token extent is 2, but kv_sink keys has 1");
    CHECK(refused_policy(basin::kv_sink{k2, v1}) == "kv_sink values: head extent is 1, but kv_sink keys has 2");
    basin::buffer<float, 1> const line(8);
    CHECK(words_of<shape_error>([&] { (void)basin::kv_sink{line}; }) ==
          "kv_sink keys: expected (key-value head, n, channel), got rank 1");
}

TEST_CASE("contract: positions count in what a policy must cover") {
    // A key_set of 7 keys is enough for 7 keys in places 0 ... 6, not for keys that stand at 10 ... 16.
    array<float> q(1, 1, 5, 3), k(1, 1, 7, 3), v(1, 1, 7, 3), out(1, 1, 5, 3);
    for (auto* x : {&q, &k, &v}) x->fill(1);
    basin::options o;
    o.key_position = 10;
    basin::sink_masked const small{basin::key_set(1, 1, 7)}, large{basin::key_set(1, 1, 17)};
    CHECK(words_of<shape_error>([&] {
              basin::attention(reference, q.view(), k.view(), v.view(), out.view(), small, o);
          }) == "sink_masked: the key_set has extents (1, 1, 7), but the call needs (1, 1, 17); an extent of 1 on "
                "batch or head is shared, and of_head(batch, head) gives the set of one head");
    CHECK(out.untouched());
    CHECK_NOTHROW(basin::attention(reference, q.view(), k.view(), v.view(), out.view(), large, o));
}
