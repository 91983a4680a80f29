// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#include "call.hpp"

using namespace basin_test;

// The contracts of hidden keys, empty rows, sinks and numbers that are not finite, on every backend. The lengths cross
// the blocks of every kernel.
namespace {
int const lengths[] = {1, 5, 16, 70, 150};
double const no_sink = -std::numeric_limits<double>::infinity();
} // namespace

TEST_CASE("contract: a hidden key is excluded exactly, whatever it holds") {
    for_each_backend([]<class Backend>() {
        INFO(std::string(name_of<Backend>));
        for (int const n : lengths) {
            call without(n, n), with(n, n);
            without.sees = with.sees = [](int i, int j) { return j % 3 != 1 || j > i + 40; };
            with.sees = without.sees = [](int, int j) { return j % 3 != 1; };
            for (int j = 1; j < n; j += 3)
                for (int c = 0; c < 4; ++c) {
                    with.k(j, c) = 1e30F; // would win every row
                    with.v(j, c) = 1e30F;
                }
            without.run(Backend{});
            with.run(Backend{});
            for (int i = 0; i < n; ++i) {
                CHECK(with.lse(i) == without.lse(i));
                for (int c = 0; c < 4; ++c) CHECK(with.out(i, c) == without.out(i, c));
            }
            for (int j = 1; j < n; j += 3) {
                CHECK(with.received(j) == 0);
                CHECK(with.seen(j) == 0);
            }
        }
    });
}

TEST_CASE("contract: a score of -inf hides the key exactly, also from its statistics") {
    for_each_backend([]<class Backend>() {
        INFO(std::string(name_of<Backend>));
        for (int const n : lengths) {
            call masked(n, n), scored(n, n);
            masked.sees = [](int i, int j) { return (i + j) % 4 != 2; };
            for (int i = 0; i < n; ++i)
                for (int j = 0; j < n; ++j)
                    if ((i + j) % 4 == 2) scored.bias(i, j) = -inf;
            masked.run(Backend{});
            scored.run(Backend{});
            for (int i = 0; i < n; ++i) {
                CHECK(scored.lse(i) == masked.lse(i));
                CHECK(scored.entropy(i) == masked.entropy(i));
                for (int c = 0; c < 4; ++c) CHECK(scored.out(i, c) == masked.out(i, c));
            }
            for (int j = 0; j < n; ++j) {
                CHECK(scored.received(j) == masked.received(j));
                CHECK(scored.seen(j) == masked.seen(j));
            }
        }
    });
}

TEST_CASE("contract: a row that sees nothing is 0, lse -inf, statistics their identity, no NaN") {
    for_each_backend([]<class Backend>() {
        INFO(std::string(name_of<Backend>));
        for (int const n : lengths)
            for (int const kind : {0, 1, 2, 3}) {
                call x(n, n);
                // one row; every row; all but a last key; by scores of -inf
                if (kind == 0) x.sees = [](int i, int) { return i != 0; };
                if (kind == 1) x.sees = [](int, int) { return false; };
                if (kind == 2)
                    x.sees = [n](int i, int j) { return j == n - 1 && i != 0; }; // whole first blocks are hidden
                if (kind == 3)
                    for (int j = 0; j < n; ++j) x.bias(0, j) = -inf;
                x.run(Backend{});
                CHECK(x.row_is(0, 0));
                CHECK(x.lse(0) == -inf);
                CHECK(x.escaped(0) == 0);
                CHECK(x.entropy(0) == 0);
                CHECK(x.favourite(0) == -1);
                CHECK(x.favourite_p(0) == 0);
                for (int i = 1; i < n; ++i) {
                    CHECK(x.row_is_finite(i));
                    CHECK(x.favourite(i) == (kind == 1 ? -1 : x.favourite(i)));
                    if (kind == 2)
                        for (int c = 0; c < 4; ++c) CHECK(x.out(i, c) == doctest::Approx(x.v(n - 1, c)));
                }
                for (int j = 0; j < n; ++j) {
                    CHECK(std::isfinite(x.received(j)));
                    CHECK(x.seen(j) == (kind == 1 ? 0 : kind == 2 ? (j == n - 1 ? n - 1 : 0) : n - 1));
                }
            }
    });
}

TEST_CASE("contract: a row that sees nothing but a sink is 0, lse the logit, escaped 1") {
    for_each_backend([]<class Backend>() {
        INFO(std::string(name_of<Backend>));
        for (int const n : lengths)
            for (float const logit : {0.75F, -80.F, 0.F, 1e30F}) {
                call x(n, n);
                x.sees = [](int i, int) { return i != 0; };
                x.sink = static_cast<double>(logit);
                x.run(Backend{});
                CHECK(x.row_is(0, 0));
                CHECK(x.lse(0) == doctest::Approx(logit));
                CHECK(x.escaped(0) == 1);
                CHECK(x.favourite(0) == -1);
                CHECK(x.entropy(0) == 0);
            }
    });
}

TEST_CASE("contract: a sink logit of -inf is as if absent") {
    for_each_backend([]<class Backend>() {
        INFO(std::string(name_of<Backend>));
        for (int const n : lengths) {
            call x(n, n);
            basin::buffer<float, 2> plain(n, 4);
            basin::buffer<float, 1> lse(n);
            x.run(Backend{});
            basin::attention(Backend{}, x.q, x.k, x.v, plain, basin::full{}, basin::lse{lse});
            for (int i = 0; i < n; ++i) {
                CHECK(x.escaped(i) == 0);
                CHECK(x.lse(i) == doctest::Approx(lse(i)).epsilon(1e-6));
                for (int c = 0; c < 4; ++c) CHECK(x.out(i, c) == doctest::Approx(plain(i, c)).epsilon(1e-5));
            }
        }
    });
}

TEST_CASE("contract: a sink logit of +inf takes everything: output 0, lse +inf, escaped 1") {
    for_each_backend([]<class Backend>() {
        INFO(std::string(name_of<Backend>));
        for (int const n : lengths) {
            call x(n, n);
            x.sink = std::numeric_limits<double>::infinity();
            x.sees = [](int i, int) { return i % 2 == 0; };
            x.run(Backend{});
            for (int i = 0; i < n; ++i) {
                CHECK(x.row_is(i, 0));
                CHECK(x.lse(i) == inf);
                CHECK(x.escaped(i) == 1);
                CHECK(x.entropy(i) == 0);
            }
            for (int j = 0; j < n; ++j) CHECK(x.received(j) == 0);
        }
    });
}

TEST_CASE("contract: a sink logit of NaN makes that head NaN, and no other") {
    for_each_backend([]<class Backend>() {
        INFO(std::string(name_of<Backend>));
        for (int const n : lengths) {
            array<float> q(1, 2, n, 4), k(1, 2, n, 4), v(1, 2, n, 4), out(1, 2, n, 4), lse(1, 2, 1, n);
            q.fill_random({1, 0}, -1, 1);
            k.fill_random({2, 0}, -1, 1);
            v.fill_random({3, 0}, -1, 1);
            basin::attention(Backend{}, q.view(), k.view(), v.view(), out.view(),
                             basin::sink_logit{{0.5, std::nan("")}}, basin::lse{lse.flat()});
            for (int i = 0; i < n; ++i)
                for (int c = 0; c < 4; ++c) {
                    CHECK(std::isfinite(out(0, 0, i, c)));
                    CHECK(std::isnan(out(0, 1, i, c)));
                    CHECK(std::isfinite(lse(0, 0, 0, i)));
                    CHECK(std::isnan(lse(0, 1, 0, i)));
                }
        }
    });
}

TEST_CASE("contract: a score of +inf makes that row NaN, and no other") {
    for_each_backend([]<class Backend>() {
        INFO(std::string(name_of<Backend>));
        for (int const n : lengths)
            for (int const kind : {0, 1, 2}) {
                call x(n, n), finite(n, n);
                int const row = n / 2;
                if (kind == 0) x.bias(row, n - 1) = inf;
                if (kind == 1) x.bias(row, 0) = inf;
                if (kind == 2) // overflow to it
                    for (int c = 0; c < 4; ++c) {
                        x.q(row, c) = 1e30F * (x.k(n / 3, c) < 0 ? -1.F : 1.F);
                        x.k(n / 3, c) *= 1e20F;
                        finite.k(n / 3, c) *= 1e20F;
                    }
                x.run(Backend{});
                finite.run(Backend{});
                CHECK(x.row_is_nan(row));
                CHECK(std::isnan(x.lse(row)));
                for (int i = 0; i < n; ++i) {
                    if (i == row) continue;
                    CHECK(x.lse(i) == finite.lse(i));
                    for (int c = 0; c < 4; ++c) CHECK(x.out(i, c) == finite.out(i, c));
                }
            }
    });
}

TEST_CASE("contract: a NaN or infinity in a query row reaches that row only") {
    for_each_backend([]<class Backend>() {
        INFO(std::string(name_of<Backend>));
        for (int const n : lengths)
            for (float const bad : {not_a_number, inf, -inf}) {
                call x(n, n), good(n, n);
                int const row = n / 2;
                x.q(row, 1) = bad;
                x.run(Backend{});
                good.run(Backend{});
                if (std::isnan(bad)) CHECK(x.row_is_nan(row));
                for (int i = 0; i < n; ++i)
                    for (int c = 0; c < 4 && i != row; ++c) CHECK(x.out(i, c) == good.out(i, c));
            }
    });
}

TEST_CASE("contract: a NaN or infinity in a key reaches only the rows that see it") {
    for_each_backend([]<class Backend>() {
        INFO(std::string(name_of<Backend>));
        for (int const n : lengths)
            for (float const bad : {not_a_number, inf, -inf}) {
                call x(n, n), good(n, n);
                int const key = n - 1 - n / 4;
                x.sees = good.sees = [key](int i, int j) { return j != key || i % 3 == 0; };
                x.k(key, 2) = bad;
                x.run(Backend{});
                good.run(Backend{});
                for (int i = 0; i < n; ++i) {
                    if (i % 3 == 0) {
                        if (std::isnan(bad)) CHECK(x.row_is_nan(i));
                        continue;
                    }
                    CHECK(x.lse(i) == good.lse(i));
                    for (int c = 0; c < 4; ++c) CHECK(x.out(i, c) == good.out(i, c));
                }
            }
    });
}

TEST_CASE("contract: a NaN or infinity in a value reaches only the rows that see it, and only its channel") {
    for_each_backend([]<class Backend>() {
        INFO(std::string(name_of<Backend>));
        for (int const n : lengths)
            for (float const bad : {not_a_number, inf, -inf}) {
                call x(n, n), good(n, n);
                int const key = n / 3;
                x.sees = good.sees = [key](int i, int j) { return j != key || i % 3 == 0; };
                x.v(key, 2) = bad;
                x.run(Backend{});
                good.run(Backend{});
                for (int i = 0; i < n; ++i)
                    for (int c = 0; c < 4; ++c) {
                        if (i % 3 == 0 && c == 2)
                            CHECK_FALSE(std::isfinite(x.out(i, c)));
                        else
                            CHECK(x.out(i, c) == doctest::Approx(good.out(i, c)).epsilon(1e-6));
                    }
                for (int i = 0; i < n; ++i) CHECK(x.lse(i) == good.lse(i)); // never depends on values
            }
    });
}

TEST_CASE("contract: a NaN in a value behind coverage none is never read") {
    for_each_backend([]<class Backend>() {
        INFO(std::string(name_of<Backend>));
        int const n = 300;
        call x(n, n);
        for (int j = 200; j < n; ++j)
            for (int c = 0; c < 4; ++c) x.k(j, c) = x.v(j, c) = not_a_number;
        basin::attention(Backend{}, x.q, x.k, x.v, x.out, basin::prefix{200}, basin::received_value{x.received});
        for (int i = 0; i < n; ++i) CHECK(x.row_is_finite(i));
        for (int j = 0; j < n; ++j) CHECK(std::isfinite(x.received(j)));
        basin::attention(Backend{}, x.q, x.k, x.v, x.out, basin::causal{}, basin::received_value{x.received});
        for (int i = 0; i < n; ++i) CHECK(x.row_is_finite(i) == (i < 200));
    });
}

TEST_CASE("contract: a NaN in padding is never read") {
    for_each_backend([]<class Backend>() {
        INFO(std::string(name_of<Backend>));
        int const n = 40;
        for (int const live : {0, 1, 17, 39}) {
            call x(n, n);
            for (int j = live; j < n; ++j)
                for (int c = 0; c < 4; ++c) x.q(j, c) = x.k(j, c) = x.v(j, c) = not_a_number;
            std::vector<index_t> const lengths_list = {live};
            basin::options o;
            o.lengths = lengths_list;
            x.out.fill(not_a_number);
            basin::attention(Backend{}, x.q, x.k, x.v, x.out, basin::full{}, o, basin::received_value{x.received});
            for (int i = 0; i < n; ++i) CHECK((i < live ? x.row_is_finite(i) : x.row_is(i, 0)));
            for (int j = 0; j < n; ++j) CHECK((j < live ? x.received(j) > 0 : x.received(j) == 0));
        }
    });
}

TEST_CASE("contract: sink logits are natural units, not scaled, and several are a log-sum-exp") {
    for_each_backend([]<class Backend>() {
        INFO(std::string(name_of<Backend>));
        call x(3, 5);
        x.q.fill(0); // all scores are 0
        basin::options o;
        o.scale = 17;
        basin::attention(Backend{}, x.q, x.k, x.v, x.out,
                         basin::all_of(basin::sink_logit{1.0}, basin::sink_logit{2.0}, basin::temperature{9.0}), o,
                         basin::lse{x.lse}, basin::escaped{x.escaped});
        double const mass = std::exp(1.0) + std::exp(2.0);
        for (int i = 0; i < 3; ++i) {
            CHECK(x.lse(i) == doctest::Approx(std::log(5 + mass)));
            CHECK(x.escaped(i) == doctest::Approx(mass / (5 + mass)));
        }
    });
}

TEST_CASE("contract: a sink above every score takes part in the running maximum") {
    for_each_backend([]<class Backend>() {
        INFO(std::string(name_of<Backend>));
        for (int const n : lengths)
            for (double const logit : {300.0, -300.0}) { // exp(300) is no float
                call x(n, n);
                x.sink = logit;
                x.run(Backend{});
                for (int i = 0; i < n; ++i) {
                    CHECK(x.row_is_finite(i));
                    CHECK(std::isfinite(x.lse(i)));
                    CHECK(x.escaped(i) == (logit > 0 ? 1.F : 0.F));
                }
            }
    });
}

TEST_CASE("contract: lse is the natural logarithm, sinks included") {
    for_each_backend([]<class Backend>() {
        INFO(std::string(name_of<Backend>));
        call x(2, 7);
        x.q.fill(0);
        x.sink = 0;
        x.run(Backend{});
        CHECK(x.lse(0) == doctest::Approx(std::log(8.0)));
        x.sink = no_sink;
        x.run(Backend{});
        CHECK(x.lse(1) == doctest::Approx(std::log(7.0)));
    });
}

TEST_CASE("contract: probabilities seen by statistics are after the sink") {
    for_each_backend([]<class Backend>() {
        INFO(std::string(name_of<Backend>));
        for (int const n : lengths) {
            call x(n, n);
            x.sink = 1.0;
            x.run(Backend{});
            double escaped = 0, received = 0;
            for (int i = 0; i < n; ++i) escaped += static_cast<double>(x.escaped(i));
            for (int j = 0; j < n; ++j) received += static_cast<double>(x.received(j));
            CHECK(received == doctest::Approx(n - escaped).epsilon(1e-5));
        }
    });
}

TEST_CASE("contract: large scores do not overflow") {
    for_each_backend([]<class Backend>() {
        INFO(std::string(name_of<Backend>));
        for (int const n : lengths) {
            call x(n, n);
            for (float& y : x.q) y *= 300;
            for (float& y : x.k) y *= 300;
            x.run(Backend{});
            for (int i = 0; i < n; ++i) {
                CHECK(x.row_is_finite(i));
                CHECK(std::isfinite(x.lse(i)));
                CHECK(std::isfinite(x.entropy(i)));
            }
        }
    });
}

TEST_CASE("contract: a score of an invisible key is only asked with a site in range") {
    for_each_backend([]<class Backend>() {
        INFO(std::string(name_of<Backend>));
        for (int const n : lengths) {
            call x(n, n + 3);
            auto const watch = [n](auto y, basin::site s) {
                bool const right =
                    s.batch == 0 && s.head == 0 && s.query >= 0 && s.query < n && s.key >= 0 && s.key < n + 3;
                return right ? y : basin::math::infinity<decltype(y)>; // a wrong site makes the row NaN
            };
            auto const watched =
                basin::all_of(basin::score_with(watch), basin::mask_if([n](basin::site s) {
                                  return s.query >= 0 && s.query < n && s.key >= 0 && s.key < n + 3 && s.key != 1;
                              }));
            basin::attention(Backend{}, x.q, x.k, x.v, x.out, watched);
            for (int i = 0; i < n; ++i) CHECK(x.row_is_finite(i));
        }
    });
}
