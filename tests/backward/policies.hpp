// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include "training.hpp"

#include <basin/intervene.hpp>

namespace basin_test {

/// Only the scores of any policy: what where(mask, ...) takes.
template <class A>
struct only_scores {
    struct bound {
        static constexpr bool learns = true;
        typename any_policy<A>::bound p;
        A score(A x, basin::site const& s) const { return p.score(x, s); }
        template <class Sums>
        A score_pullback(A x, A d, basin::site const& s, Sums& sums) const {
            return p.score_pullback(x, d, s, sums);
        }
        template <class Self, class F>
        static void visit_learned(Self& self, F const& f) {
            f(self.p.inside);
        }
    };
    any_policy<A> p;
    A score(A x, basin::site const&) const { return x; }
    bound bind(basin::shape_facts const& f) const { return {p.bind(f)}; }
};

/// A score of one's own with parameters and a slope written by hand: x + a_0 sin(a_1 x), for even keys a_2 more.
struct own_score {
    double const* a;
    template <class X>
    X score(X x, basin::site const& s) const {
        return x + static_cast<X>(a[0] * std::sin(a[1] * static_cast<double>(x)) + (s.key % 2 == 0 ? a[2] : 0.0));
    }
    template <class X>
    X score_slope(X x, basin::site const&) const {
        return X(1) + static_cast<X>(a[0] * a[1] * std::cos(a[1] * static_cast<double>(x)));
    }
    template <class X, class Add>
    void score_parameters(X x, basin::site const& s, Add const& add) const {
        double const y = static_cast<double>(x);
        add(0, std::sin(a[1] * y));
        add(1, a[0] * y * std::cos(a[1] * y));
        if (s.key % 2 == 0) add(2, 1.0);
    }
};

/// A sink of one's own.
struct own_sink {
    double const* logit;
    double sink_logit(basin::head_site const&) const { return *logit; }
};

/// What a policy of the tests is made from: the call's shape, and the parameters, to which it adds its own when they are
/// not there yet. Policies are made again whenever a parameter changes.
struct workshop {
    shape const& is;
    parameters& owned;
    std::size_t next = 0;
    std::uint64_t seed = 0;

    trained& take(char const* name, std::size_t size, double low = -1, double high = 1) {
        if (next == owned.size()) owned.emplace_back(name, size, seed * 100 + next, low, high);
        return owned[next++];
    }
    index_t texts() const { return is.texts(); }
    index_t limit() const { return is.limit(); }
};

inline basin::key_set some_keys(workshop const& w) {
    basin::key_set keys(w.texts(), w.is.heads, w.limit());
    random_numbers random{w.seed, 77};
    for (index_t b = 0; b < w.texts(); ++b)
        for (index_t h = 0; h < w.is.heads; ++h)
            for (index_t j = 0; j < w.limit(); ++j)
                if (random.chance(0.3)) keys.insert(b, h, j);
    return keys;
}

template <class A>
struct named_maker {
    char const* name;
    any_policy<A> (*make)(workshop&);
};

/// Every policy whose gradient is its own, and each parameter that can be learned.
template <class A>
std::vector<named_maker<A>> const& makers() {
    using namespace basin;
    using any = any_policy<A>;
    static std::vector<named_maker<A>> const all = {
        {"full", [](workshop&) { return any(full{}); }},
        {"causal", [](workshop&) { return any(causal{}); }},
        {"window", [](workshop&) { return any(window{1, 2}); }},
        {"prefix", [](workshop&) { return any(prefix{3}); }},
        {"blocks", [](workshop&) { return any(blocks{2}); }},
        {"block_causal", [](workshop&) { return any(block_causal{2}); }},
        {"block_diffusion", [](workshop& w) { return any(block_diffusion{2, (w.limit() + 1) / 2}); }},
        {"a mask that opens nothing for some",
         [](workshop&) { return any(mask_if([](auto s) { return s.query % 3 != 0 && s.key % 2 == 0; })); }},
        {"any_mask", [](workshop&) { return any(any_mask(window{2, 0})); }},
        {"none_of and any_of", [](workshop&) { return any(any_of(none_of(causal{}), window{0, 0})); }},
        {"sink_masked", [](workshop& w) { return any(sink_masked{some_keys(w)}); }},
        {"sink_token", [](workshop&) { return any(sink_token{{0, 2}, window{1, 1}}); }},
        {"logit_added", [](workshop& w) { return any(logit_added{some_keys(w), 0.75}); }},
        {"softcap", [](workshop&) { return any(softcap{1.5}); }},
        {"score_with",
         [](workshop&) {
             return any(score_with([](auto x, auto s) {
                 using X = decltype(x);
                 return x * x * X(0.25) + x * X(s.key == 1 ? 0.5 : 1.5);
             }));
         }},
        {"sink_logit, shared",
         [](workshop& w) {
             auto& t = w.take("logit", 1);
             return any(learned{sink_logit{t.value}, t.gradient});
         }},
        {"sink_logit by head",
         [](workshop& w) {
             auto& t = w.take("logits", static_cast<std::size_t>(w.is.heads));
             return any(learned{sink_logit{t.value}, t.gradient});
         }},
        {"a sink of one's own",
         [](workshop& w) {
             auto& t = w.take("own sink", 1);
             return any(learned{own_sink{t.value.data()}, t.gradient});
         }},
        {"a sink that is not learned", [](workshop&) { return any(sink_logit{0.5}); }},
        {"kv_sink",
         [](workshop& w) {
             index_t const heads = w.is.kv_heads, n = 2, c = w.is.channels, d = w.is.values;
             auto& keys = w.take("sink keys", static_cast<std::size_t>(heads * n * c));
             auto& values = w.take("sink values", static_cast<std::size_t>(heads * n * d));
             return any(learned{kv_sink{keys.sinks(heads, n, c), values.sinks(heads, n, d)},
                                keys.sinks_gradient(heads, n, c), values.sinks_gradient(heads, n, d)});
         }},
        {"kv_sink without values, shared by heads",
         [](workshop& w) {
             auto& keys = w.take("sink keys", static_cast<std::size_t>(3 * w.is.channels));
             return any(learned{kv_sink{keys.sinks(1, 3, w.is.channels)}, keys.sinks_gradient(1, 3, w.is.channels)});
         }},
        {"temperature",
         [](workshop& w) {
             auto& t = w.take("temperature", 1, 0.5, 2);
             return any(learned{temperature{t.value[0]}, t.gradient});
         }},
        {"alibi",
         [](workshop& w) {
             auto& t = w.take("slopes", static_cast<std::size_t>(w.is.heads), 0, 1);
             return any(learned{alibi{t.value}, t.gradient});
         }},
        {"bias by pair",
         [](workshop& w) {
             tuple_of<index_t, 4> const n{{w.texts(), w.is.heads, w.limit(), w.limit()}};
             auto& t = w.take("table", static_cast<std::size_t>(n[0] * n[1] * n[2] * n[3]));
             return any(learned{bias{view<double, 4>(t.value.data(), n)}, view<double, 4>(t.gradient.data(), n)});
         }},
        {"bias shared by texts and heads",
         [](workshop& w) {
             tuple_of<index_t, 2> const n{{w.limit(), w.limit()}};
             auto& t = w.take("table", static_cast<std::size_t>(n[0] * n[1]));
             return any(learned{bias{view<double, 2>(t.value.data(), n)}, view<double, 2>(t.gradient.data(), n)});
         }},
        {"bias by head and key",
         [](workshop& w) {
             tuple_of<index_t, 4> const n{{1, w.is.heads, 1, w.limit()}};
             auto& t = w.take("table", static_cast<std::size_t>(n[1] * n[3]));
             return any(learned{bias{view<double, 4>(t.value.data(), n)}, view<double, 4>(t.gradient.data(), n)});
         }},
        {"bias by text and query",
         [](workshop& w) {
             tuple_of<index_t, 4> const n{{w.texts(), 1, w.limit(), 1}};
             auto& t = w.take("table", static_cast<std::size_t>(n[0] * n[2]));
             return any(learned{bias{view<double, 4>(t.value.data(), n)}, view<double, 4>(t.gradient.data(), n)});
         }},
        {"a score of one's own, with its slope and parameters",
         [](workshop& w) {
             auto& t = w.take("own parameters", 3);
             return any(learned{own_score{t.value.data()}, t.gradient});
         }},
    };
    return all;
}

/// The same with weights and values changed, which makes kernels take another way.
template <class A>
any_policy<A, true> weighed(workshop& w, any_policy<A> const& p, int kind) {
    using namespace basin;
    if (kind == 0) return all_of(p, probability_scaled{some_keys(w), 0.25});
    if (kind == 1) return all_of(value_noised{some_keys(w), 0.5, 3}, p, value_replaced{some_keys(w)});
    buffer<double, 3> aim(1, 1, w.is.values);
    return all_of(p, value_replaced{some_keys(w), aim, 0.5}, probability_scaled{some_keys(w), 1.5});
}

/// A policy put together at random, `depth` levels of it.
template <class A>
any_policy<A> random_policy(workshop& w, random_numbers& random, int depth) {
    using namespace basin;
    auto const& all = makers<A>();
    if (depth == 0) return all[static_cast<std::size_t>(random.below(static_cast<int>(all.size())))].make(w);
    switch (random.below(4)) {
    case 0:
        return where(any_mask(window{1, 1}), only_scores<A>{random_policy<A>(w, random, depth - 1)});
    case 1:
        return sink_token{{0, 3}, random_policy<A>(w, random, depth - 1)};
    default: {
        auto const first = random_policy<A>(w, random, depth - 1);
        return all_of(first, random_policy<A>(w, random, depth - 1));
    }
    }
}

} // namespace basin_test
