// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#include "same.hpp"

#include <array>
#include <span>
#include <vector>

using namespace basin_test;

// view, buffer, something shaped like mdspan, and contiguous ranges.
namespace {

/// As std::mdspan looks from outside: C++20 has none.
template <class T, std::size_t R>
struct like_mdspan {
    T* pointer;
    std::array<std::size_t, R> sizes, steps;
    static constexpr std::size_t rank() { return R; }
    T* data_handle() const { return pointer; }
    std::size_t extent(std::size_t i) const { return sizes[i]; }
    std::size_t stride(std::size_t i) const { return steps[i]; }
};

} // namespace

TEST_CASE("view: pointer, extents, strides") {
    float memory[24];
    for (int i = 0; i < 24; ++i) memory[i] = static_cast<float>(i);
    basin::view<float, 3> const x(memory, {{2, 3, 4}});
    CHECK(x.size() == 24);
    CHECK(x.stride(0) == 12);
    CHECK(x.stride(1) == 4);
    CHECK(x.stride(2) == 1);
    CHECK(x(1, 2, 3) == 23);
    basin::view<float, 2> const transposed(memory, {{4, 3}}, {{1, 4}});
    CHECK(transposed(3, 2) == 11);
    basin::view<float const, 3> const reading = x;
    CHECK(&reading(1, 0, 0) == &x(1, 0, 0));
    basin::view<float, 2> const empty;
    CHECK(empty.data() == nullptr);
    CHECK(empty.size() == 0);
    static_assert(std::is_trivially_copyable_v<basin::view<float, 4>>);
    static_assert(!std::is_convertible_v<basin::view<float const, 2>, basin::view<float, 2>>);
}

TEST_CASE("buffer: owns, is zero at first, copies deeply, moves, and has aligned data") {
    basin::buffer<float, 3> x({2, 3, 4});
    for (float const y : x) CHECK(y == 0);
    CHECK(reinterpret_cast<std::uintptr_t>(x.data()) % 64 == 0);
    CHECK(x.extent(1) == 3);
    CHECK(x.stride(0) == 12);
    CHECK(x.size() == 24);
    x(1, 2, 3) = 5;
    basin::buffer<float, 3> y = x;
    y(1, 2, 3) = 6;
    CHECK(x(1, 2, 3) == 5);
    CHECK(x.data() != y.data());
    float const* const where = x.data();
    basin::buffer<float, 3> z = std::move(x);
    CHECK(z.data() == where);
    CHECK(z(1, 2, 3) == 5);
    y = z;
    CHECK(y(1, 2, 3) == 5);
    y.fill(2);
    CHECK(y(0, 0, 0) == 2);
    basin::view<float, 3> const writable = z;
    writable(0, 0, 0) = 9;
    CHECK(z(0, 0, 0) == 9);
    basin::buffer<double, 2> const none(0, 7);
    CHECK(none.size() == 0);
    CHECK(none.begin() == none.end());
    static_assert(!std::is_convertible_v<basin::buffer<float, 2>&&, basin::view<float const, 2>>); // would dangle
}

TEST_CASE("buffer: wrong extents are refused in words") {
    CHECK(words([] { basin::buffer<float, 3> x({2, 3}); }) == "buffer: expected 3 extents, got 2");
    CHECK(words([] { basin::buffer<float, 2> x({2, -3}); }) ==
          "buffer: extent of axis 1 is -3; extents are never negative");
    CHECK(words([] { basin::buffer<float, 2> x(-1, 3); }) ==
          "buffer: extent of axis 0 is -1; extents are never negative");
}

TEST_CASE("arrays: view and buffer of every rank and name mean the same") {
    plain const x(1, 1, 6, 4);
    same_as_plain(x, [&](auto const& run) { run(x.q, x.k, x.v, x.out); });
    // (token, channel)
    same_as_plain(x, [&](auto const& run) {
        basin::view<float, 2> const q(x.q.data(), {{6, 4}}), k(x.k.data(), {{6, 4}}), v(x.v.data(), {{6, 4}}),
            out(x.out.data(), {{6, 4}});
        run(q, k, v, out);
    });
    plain const h(1, 3, 6, 4);
    same_as_plain(h, [&](auto const& run) {
        basin::view<float, 3> const q(h.q.data(), {{3, 6, 4}}), k(h.k.data(), {{3, 6, 4}}), v(h.v.data(), {{3, 6, 4}}),
            out(h.out.data(), {{3, 6, 4}});
        run(basin::heads(q), basin::heads(k), basin::heads(v), basin::heads(out));
    });
    plain const b(3, 1, 6, 4);
    same_as_plain(b, [&](auto const& run) {
        basin::view<float, 3> const q(b.q.data(), {{3, 6, 4}}), k(b.k.data(), {{3, 6, 4}}), v(b.v.data(), {{3, 6, 4}}),
            out(b.out.data(), {{3, 6, 4}});
        run(basin::batches(q), basin::batches(k), basin::batches(v), basin::batches(out));
    });
}

TEST_CASE("arrays: bthc is (batch, token, head, channel)") {
    plain const x(2, 3, 5, 4);
    basin::buffer<float, 4> q(2, 5, 3, 4), k(2, 5, 3, 4), v(2, 5, 3, 4), out(2, 5, 3, 4);
    auto const each = [](auto const& f) {
        for (int b = 0; b < 2; ++b)
            for (int h = 0; h < 3; ++h)
                for (int t = 0; t < 5; ++t)
                    for (int c = 0; c < 4; ++c) f(b, h, t, c);
    };
    each([&](int b, int h, int t, int c) {
        q(b, t, h, c) = x.q(b, h, t, c);
        k(b, t, h, c) = x.k(b, h, t, c);
        v(b, t, h, c) = x.v(b, h, t, c);
    });
    same_as_plain(x, [&](auto const& run) {
        run(basin::bthc(q), basin::bthc(k), basin::bthc(v), basin::bthc(out));
        each([&](int b, int h, int t, int c) { x.out(b, h, t, c) = out(b, t, h, c); });
    });
}

TEST_CASE("arrays: what looks like mdspan is taken, rank 2 to 4, any strides") {
    plain const x(1, 2, 5, 4);
    auto const as4 = [](basin::buffer<float, 4>& a) {
        return like_mdspan<float, 4>{a.data(), {1, 2, 5, 4}, {40, 20, 4, 1}};
    };
    same_as_plain(x, [&](auto const& run) { run(as4(x.q), as4(x.k), as4(x.v), as4(x.out)); });
    auto const as3 = [](basin::buffer<float, 4>& a) { return like_mdspan<float, 3>{a.data(), {2, 5, 4}, {20, 4, 1}}; };
    same_as_plain(x, [&](auto const& run) {
        run(basin::heads(as3(x.q)), basin::heads(as3(x.k)), basin::heads(as3(x.v)), basin::heads(as3(x.out)));
    });
    // Column-major.
    plain const y(1, 1, 5, 4);
    std::vector<float> q(20);
    for (std::size_t t = 0; t < 5; ++t)
        for (std::size_t c = 0; c < 4; ++c) q[c * 5 + t] = y.q(0, 0, t, c);
    like_mdspan<float const, 2> const columns{q.data(), {5, 4}, {1, 5}};
    same_as_plain(y, [&](auto const& run) { run(columns, y.k, y.v, y.out); });
}

TEST_CASE("arrays: vector, span and array serve as rank 1: statistics, lengths, positions, logits") {
    plain const x(1, 1, 6, 4);
    std::vector<float> mass(6, -1.F);
    std::array<float, 6> lse{};
    float escaped[6] = {};
    std::vector<index_t> const positions = {0, 1, 2, 3, 4, 5};
    std::array<index_t, 1> const lengths = {4};
    basin::options o;
    o.query_position = std::span<index_t const>(positions);
    o.key_position = positions;
    o.lengths = lengths;
    basin::attention(basin::reference_backend{}, x.q, x.k, x.v, x.out, basin::sink_logit{std::vector<float>{0.5F}}, o,
                     basin::received{mass}, basin::lse{lse}, basin::escaped{std::span<float>(escaped)});
    CHECK(mass[3] > 0);
    CHECK(mass[4] == 0);
    CHECK(std::isfinite(lse[3]));
    CHECK(lse[4] == -std::numeric_limits<float>::infinity());
    CHECK(escaped[0] > 0);
    CHECK(escaped[5] == 0);
}

TEST_CASE("arrays: statistics take heads() and batches() too") {
    plain const x(1, 3, 6, 4);
    basin::buffer<float, 2> by_head(3, 6);
    basin::buffer<float, 3> whole(1, 3, 6);
    basin::attention(basin::reference_backend{}, x.q, x.k, x.v, x.out, basin::causal{},
                     basin::received{basin::heads(by_head)}, basin::received{whole});
    for (int h = 0; h < 3; ++h)
        for (int j = 0; j < 6; ++j) CHECK(by_head(h, j) == whole(0, h, j));
    plain const y(3, 1, 6, 4);
    basin::buffer<float, 3> whole_batch(3, 1, 6);
    basin::attention(basin::reference_backend{}, y.q, y.k, y.v, y.out, basin::causal{},
                     basin::lse{basin::batches(by_head)}, basin::lse{whole_batch});
    for (int b = 0; b < 3; ++b)
        for (int j = 0; j < 6; ++j) CHECK(by_head(b, j) == whole_batch(b, 0, j));
}
