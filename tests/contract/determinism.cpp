// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#include "call.hpp"

using namespace basin_test;

// Bits, not numbers near each other.
namespace {

template <class T>
struct run_of {
    array<T> q, k, v, out;
    array<basin::accumulation_t<T>> lse, entropy, received;

    run_of(int b, int h, int n, int m, int d = 20, int dv = 12)
        : q(b, h, n, d), k(b, h, m, d), v(b, h, m, dv), out(b, h, n, dv), lse(b, h, 1, n), entropy(b, h, 1, n),
          received(b, h, 1, m) {}

    template <class Backend>
    void run(Backend const& backend, basin::options const& o = {}) {
        basin::attention(backend, q.view(), k.view(), v.view(), out.view(),
                         basin::all_of(basin::causal{}, basin::softcap{5.0}), o, basin::lse{lse.flat()},
                         basin::entropy{entropy.flat()}, basin::received{received.flat()});
    }
};

template <class T>
void copy(array<T> const& from, int b0, int h0, int t0, array<T> const& to, int b1, int h1, int t1) {
    auto const x = from.view(), y = to.view();
    for (int t = 0; t0 + t < x.extent(2) && t1 + t < y.extent(2); ++t)
        for (int c = 0; c < x.extent(3); ++c) y(b1, h1, t1 + t, c) = x(b0, h0, t0 + t, c);
}

template <class T>
bool same_row(run_of<T> const& a, int b0, int h0, int i0, run_of<T> const& b, int b1, int h1, int i1) {
    auto const equal = [](auto const& x, auto const& y) { return std::memcmp(&x, &y, sizeof x) == 0; };
    for (int c = 0; c < a.out.view().extent(3); ++c)
        if (!equal(a.out(b0, h0, i0, c), b.out(b1, h1, i1, c))) return false;
    return equal(a.lse(b0, h0, 0, i0), b.lse(b1, h1, 0, i1)) &&
           equal(a.entropy(b0, h0, 0, i0), b.entropy(b1, h1, 0, i1));
}

template <class T>
void fill(run_of<T>& x, std::uint64_t seed) {
    x.q.fill_random({seed, 0}, -2, 2);
    x.k.fill_random({seed + 1, 0}, -2, 2);
    x.v.fill_random({seed + 2, 0}, -1, 1);
}

int const row_counts[] = {1, 2, 7, 16, 33, 64, 65, 130};

} // namespace

TEST_CASE("contract: the same call twice gives the same bits") {
    for_each_backend([]<class Backend>() {
        INFO(std::string(name_of<Backend>));
        for_each_type(list<float, double>{}, []<class T>() {
            run_of<T> a(2, 3, 75, 140), b(2, 3, 75, 140);
            fill(a, 1);
            fill(b, 1);
            a.run(Backend{});
            b.run(Backend{});
            CHECK(bytes_of(a.out) == bytes_of(b.out));
            CHECK(bytes_of(a.lse) == bytes_of(b.lse));
            CHECK(bytes_of(a.received) == bytes_of(b.received));
        });
    });
}

TEST_CASE("contract: a row does not depend on the batch size or on other heads") {
    for_each_backend([]<class Backend>() {
        INFO(std::string(name_of<Backend>));
        for (int const n : row_counts) {
            run_of<float> many(3, 4, n, n);
            fill(many, 5);
            many.run(Backend{});
            for (int b = 0; b < 3; ++b)
                for (int h = 0; h < 4; h += 3) {
                    run_of<float> one(1, 1, n, n);
                    copy(many.q, b, h, 0, one.q, 0, 0, 0);
                    copy(many.k, b, h, 0, one.k, 0, 0, 0);
                    copy(many.v, b, h, 0, one.v, 0, 0, 0);
                    one.run(Backend{});
                    for (int i = 0; i < n; ++i) CHECK(same_row(many, b, h, i, one, 0, 0, i));
                    for (int j = 0; j < n; ++j) CHECK(many.received(b, h, 0, j) == one.received(0, 0, 0, j));
                }
        }
    });
}

TEST_CASE("contract: a row does not depend on the number of queries or on other rows") {
    for_each_backend([]<class Backend>() {
        INFO(std::string(name_of<Backend>));
        int const n = 130;
        run_of<float> all(1, 1, n, n);
        fill(all, 9);
        all.run(Backend{});
        for (int const count : row_counts)
            for (int const first : {0, 1, 50, n - count}) {
                if (first < 0 || first + count > n) continue;
                // A block of the queries, at its own positions, among the same keys.
                run_of<float> some(1, 1, count, n);
                copy(all.q, 0, 0, first, some.q, 0, 0, 0);
                copy(all.k, 0, 0, 0, some.k, 0, 0, 0);
                copy(all.v, 0, 0, 0, some.v, 0, 0, 0);
                basin::options o;
                o.query_position = first;
                some.run(Backend{}, o);
                int differing = 0;
                for (int i = 0; i < count; ++i) differing += same_row(all, 0, 0, first + i, some, 0, 0, i) ? 0 : 1;
                CAPTURE(first);
                CAPTURE(count);
                CHECK(differing == 0);
            }
        // Other rows are changed, this one is not.
        run_of<float> other(1, 1, n, n);
        fill(other, 9);
        for (int i = 0; i < n; ++i)
            for (int c = 0; c < 20; ++c)
                if (i != 77) other.q(0, 0, i, c) *= -3.5F;
        other.run(Backend{});
        CHECK(same_row(all, 0, 0, 77, other, 0, 0, 77));
        CHECK_FALSE(same_row(all, 0, 0, 76, other, 0, 0, 76));
    });
}

TEST_CASE("contract: any number of threads gives the same bits") {
    for_each_backend([]<class Backend>() {
        if constexpr (requires { Backend{}.threads; }) {
            INFO(std::string(name_of<Backend>));
            for (auto const& [b, h, n, m] : {std::array{1, 1, 200, 140}, std::array{2, 3, 40, 70},
                                             std::array{1, 5, 3, 300}, std::array{4, 1, 1, 33}}) {
                run_of<float> alone(b, h, n, m);
                fill(alone, 31);
                alone.run(Backend{});
                for (int const threads : {2, 3, 4, 7}) {
                    run_of<float> several(b, h, n, m);
                    fill(several, 31);
                    Backend backend{};
                    backend.threads = threads;
                    several.run(backend);
                    CAPTURE(threads);
                    CHECK(bytes_of(several.out) == bytes_of(alone.out));
                    CHECK(bytes_of(several.lse) == bytes_of(alone.lse));
                    CHECK(bytes_of(several.entropy) == bytes_of(alone.entropy));
                    CHECK(bytes_of(several.received) == bytes_of(alone.received));
                }
            }
            Backend none{};
            none.threads = 0;
            run_of<float> x(1, 1, 2, 2);
            fill(x, 1);
            x.out.blank();
            CHECK(words_of<basin::argument_error>([&] { x.run(none); }).find("threads is 0; it must be at least 1") !=
                  std::string::npos);
            CHECK(x.out.untouched());
            CHECK(x.lse.untouched());
        }
    });
}
