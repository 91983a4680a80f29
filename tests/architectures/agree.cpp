// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT

// The simd backend against the reference, compiled once for each instruction set: the other tests see only the one that
// the compiler's default flags allow. A plain program, so that it can be cross-compiled and run by an emulator.

#include <basin/attention_backward.hpp>
#include <basin/backend/simd.hpp>
#include <basin/basin.hpp>

#include <cmath>
#include <cstdio>
#include <cstring>

using namespace basin;

namespace {

int cases = 0, failures = 0;

std::uint64_t state = 1;
double number() {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    return static_cast<double>(state >> 40U) * 0x1p-24 - 0.5;
}

template <class Array>
double difference(Array const& a, Array const& b) {
    double worst = 0;
    for (std::ptrdiff_t i = 0; i < a.size(); ++i) {
        double const x = static_cast<double>(a.data()[i]), y = static_cast<double>(b.data()[i]);
        if (x == y || (x != x && y != y)) continue;
        double const d = std::fabs(x - y) / (1 + std::fabs(x));
        worst = d <= worst ? worst : d == d ? d : 1e300;
    }
    return worst;
}

template <class T>
struct results {
    using A = accumulation_t<T>;
    buffer<T, 4> out;
    buffer<A, 3> mass, top, carried, count, vote, l, spread, gone, best_p;
    buffer<index_t, 3> best;
    results(index_t h, index_t queries, index_t keys, index_t width)
        : out(2, h, queries, width), mass(2, h, keys), top(2, h, keys), carried(2, h, keys), count(2, h, keys),
          vote(2, h, keys), l(2, h, queries), spread(2, h, queries), gone(2, h, queries), best_p(2, h, queries),
          best(2, h, queries) {}
};

enum class asked { sums, everything };

template <asked Asked, class T, class Backend, class Policy>
void run(Backend const& backend, buffer<T, 4> const& q, buffer<T, 4> const& k, buffer<T, 4> const& v, results<T>& r,
         Policy const& policy) {
    if constexpr (Asked == asked::sums) {
        attention(backend, q, k, v, r.out, policy, received{r.mass}, peak{r.top}, received_value{r.carried},
                  seen{r.count}, lse{r.l}, entropy{r.spread}, escaped{r.gone});
    } else {
        attention(backend, q, k, v, r.out, policy, received{r.mass}, votes{r.vote}, favourite{r.best, r.best_p},
                  entropy{r.spread}, lse{r.l});
    }
}

template <class T, asked Asked, class Policy>
void agree(char const* name, Policy const& policy, double bound, float scale = 3) {
    for (index_t const keys : {1, 7, 33, 64, 130, 257}) {
        for (index_t const queries : {1, 5, 97, 200}) {
            index_t const depth = queries == 97 ? 24 : 64, width = queries == 5 ? 70 : depth;
            buffer<T, 4> q(2, 2, queries, depth), k(2, 1, keys, depth), v(2, 1, keys, width);
            for (auto* x : {&q, &k, &v})
                for (T& y : *x) y = T(static_cast<float>(number()) * scale);
            results<T> expected(2, queries, keys, width), one(2, queries, keys, width), two(2, queries, keys, width);
            run<Asked>(reference_backend{}, q, k, v, expected, policy);
            run<Asked>(simd_backend{}, q, k, v, one, policy);
            run<Asked>(simd_backend{.threads = 2}, q, k, v, two, policy);
            double worst = difference(expected.out, one.out);
            auto const compare = [&](auto results<T>::* what) {
                worst = math::max(worst, difference(expected.*what, one.*what));
                if (std::memcmp((one.*what).data(), (two.*what).data(),
                                static_cast<std::size_t>((one.*what).size()) * sizeof *(one.*what).data()) != 0) {
                    std::printf("%s: %d queries, %d keys: two threads give other bits than one\n", name, queries, keys);
                    ++failures;
                }
            };
            compare(&results<T>::mass), compare(&results<T>::top), compare(&results<T>::carried);
            compare(&results<T>::count), compare(&results<T>::vote), compare(&results<T>::l);
            compare(&results<T>::spread), compare(&results<T>::gone), compare(&results<T>::best_p);
            compare(&results<T>::best);
            ++cases;
            if (worst <= bound) continue;
            std::printf("%s: %d queries, %d keys, depth %d: off by %g, bound %g\n", name, queries, keys, depth, worst,
                        bound);
            ++failures;
        }
    }
}

template <class T>
struct slopes {
    buffer<T, 4> d_q, d_k, d_v;
    slopes(index_t queries, index_t keys, index_t depth)
        : d_q(2, 2, queries, depth), d_k(2, 1, keys, depth), d_v(d_k) {}
};

template <class T, class Policy>
void agree_backward(char const* name, Policy const& policy, double bound) {
    for (index_t const keys : {1, 33, 130}) {
        for (index_t const queries : {1, 97, 200}) {
            index_t const depth = queries == 97 ? 24 : 64;
            buffer<T, 4> q(2, 2, queries, depth), k(2, 1, keys, depth), v(k), out(q), d_out(q);
            buffer<T, 3> rows(2, 2, queries);
            for (auto* x : {&q, &k, &v, &d_out})
                for (T& y : *x) y = T(number() * 3);
            attention(reference_backend{}, q, k, v, out, policy, lse{rows});
            slopes<T> expected(queries, keys, depth), one(expected), two(expected);
            auto const run = [&](auto const& backend, slopes<T>& r) {
                attention_backward(backend, saved{q, k, v, out, rows}, upstream{d_out}, gradients{r.d_q, r.d_k, r.d_v},
                                   policy);
            };
            run(reference_backend{}, expected);
            run(simd_backend{}, one);
            run(simd_backend{.threads = 3}, two);
            double worst = 0;
            for (auto what : {&slopes<T>::d_q, &slopes<T>::d_k, &slopes<T>::d_v}) {
                worst = math::max(worst, difference(expected.*what, one.*what));
                if (difference(one.*what, two.*what) != 0) worst = 1e300;
            }
            ++cases;
            if (worst <= bound) continue;
            std::printf("%s: %d queries, %d keys, depth %d: off by %g, bound %g\n", name, queries, keys, depth, worst,
                        bound);
            ++failures;
        }
    }
}

struct same_parity {
    bool visible(site const& s) const { return (s.query ^ s.key) % 2 == 0; }
};
struct dimmed {
    template <class X, class Site>
    X weight(X p, Site const&) const {
        return p * X(0.5F);
    }
};

/// tanh of lanes, and the soft caps made of it, against that of double: within 6 ulp, never beyond the cap, NaN and -0 kept.
void check_tanh() {
    using lanes_family = detail::simd::family<float, xsimd::default_arch>;
    auto const first_of = [](number_lanes<lanes_family> y) {
        alignas(64) float lane[static_cast<std::size_t>(lanes_family::width)];
        y.raw.store_aligned(lane);
        return lane[0];
    };
    auto const check = [&](float cap, auto const& bend) {
        auto const bent = [&](float x) { return first_of(bend(number_lanes<lanes_family>(x))); };
        double worst = 0;
        bool odd = true;
        for (int step = -2000; step <= 2000; ++step) {
            for (float const x : {std::exp2(static_cast<float>(step) / 100), static_cast<float>(step) / 137}) {
                double const exact =
                    static_cast<double>(cap) * std::tanh(static_cast<double>(x) / static_cast<double>(cap));
                auto const rounded = static_cast<float>(std::fabs(exact));
                double const ulp = static_cast<double>(std::nextafter(rounded, math::infinity<float>) - rounded);
                worst = math::max(worst, std::fabs(static_cast<double>(bent(x)) - exact) / ulp);
                odd = odd && bent(-x) == -bent(x) && std::fabs(bent(x)) <= cap;
            }
        }
        float const infinite = math::infinity<float>;
        bool const ends = std::isnan(bent(std::nanf(""))) && bent(infinite) > 0.9999995F * cap &&
                          bent(-infinite) < -0.9999995F * cap && std::signbit(bent(-0.F));
        ++cases;
        if (worst <= 6 && odd && ends) return;
        std::printf("tanh, cap %g: off by %g ulp, odd %d, ends %d\n", static_cast<double>(cap), worst, odd, ends);
        ++failures;
    };
    check(1, [](auto x) { return math::tanh(x); });
    for (float const cap : {0.01F, 3.F, 30.F, 43.28085F, 50.F, 1e6F})
        check(cap, [cap](auto x) { return math::soft_cap(x, static_cast<double>(cap)); });
}

/// The logarithm of row sums against that of double: 2 ulp, or 1e-7 near 0; powers of two exactly; what is not finite kept.
void check_logarithm() {
    using arch = xsimd::default_arch;
    auto const logarithm = [](float x) {
        alignas(64) float lane[static_cast<std::size_t>(xsimd::batch<float>::size)];
        detail::simd::log2_of<arch>(detail::simd::vec<float, arch>(x)).store_aligned(lane);
        return lane[0];
    };
    double worst = 0;
    bool exact = true;
    for (int step = -9000; step <= 9000; ++step) {
        auto const x = static_cast<float>(std::exp2(step / 91.0));
        double const want = std::log2(static_cast<double>(x));
        double const unit = math::max(std::fabs(want) * 1.2e-7, 5e-8);
        worst = math::max(worst, std::fabs(static_cast<double>(logarithm(x)) - want) / unit);
    }
    for (int n = -120; n <= 120; ++n) exact = exact && logarithm(std::ldexp(1.F, n)) == static_cast<float>(n);
    bool const ends = std::isnan(logarithm(std::nanf(""))) && logarithm(math::infinity<float>) == math::infinity<float>;
    ++cases;
    if (worst <= 2 && exact && ends) return;
    std::printf("log2: off by %g units, exact %d, ends %d\n", worst, exact, ends);
    ++failures;
}

bool processor_can() {
#if defined(__x86_64__)
#if defined(__AVX512DQ__)
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512dq");
#elif defined(__AVX2__)
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#endif
#endif
    return true;
}

} // namespace

int main() {
    std::printf("%d lanes of float\n", static_cast<int>(xsimd::batch<float>::size));
    if (!processor_can()) {
        std::puts("this processor does not have these instructions");
        return 77;
    }
    check_tanh();
    check_logarithm();
    // The reference, too, is in float: with scores of 40, as alibi makes them, each is off by some 4e-6.
    agree<float, asked::sums>("full", full{}, 1.5e-5);
    agree<float, asked::sums>("full, peaked", full{}, 1e-4, 10); // scores near 100, rounded to 1e-5 by both
    agree<float, asked::sums>("parity and softcap and sink logit", same_parity{} & softcap{3} & sink_logit{0.5},
                              1.5e-5);
    agree<float, asked::sums>("sink token over a window", sink_token{{0, 3}, window{9, 4}} & alibi({0.1, 0.2}), 1.5e-5);
    agree<float, asked::sums>("masked keys and causal", sink_masked{key_set(257, {0, 5, 64, 65})} & causal{}, 1.5e-5);
    agree<float, asked::everything>("any statistic, blocks", block_causal{16} & dimmed{}, 1.5e-5);
    agree<double, asked::sums>("double, causal", causal{} & sink_logit{-1.0}, 1e-13);
    agree<double, asked::everything>("double, window", window{20, 20}, 1e-13);
    agree<half, asked::sums>("half", full{}, 2e-3);
    agree<bfloat16, asked::sums>("bfloat16", full{}, 1.6e-2);
    agree_backward<float>("backward, full", full{}, 3e-5);
    agree_backward<double>("backward, causal and softcap and sink logit", causal{} & softcap{3} & sink_logit{0.5},
                           1e-12);
    std::printf("%d cases, %d failures\n", cases, failures);
    return failures == 0 ? 0 : 1;
}
