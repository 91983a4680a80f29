// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#include "check.hpp"

#include <atomic>

using namespace basin_test;

// Statistics as a user writes them: by key and by query, for one pair at a time and for lanes.
namespace {

/// How far away attention comes from: the sum of p times distance, per key.
template <class T>
struct travelled : basin::key_statistic<T> {
    using basin::key_statistic<T>::key_statistic;
    static constexpr T identity() { return 0; }
    T map(basin::cell<T, index_t, T> const& c, basin::site const& s) const {
        return c.p * static_cast<T>(s.query < s.key ? s.key - s.query : s.query - s.key);
    }
    T combine(T a, T b) const { return a + b; }
};
template <class Array>
travelled(Array&&) -> travelled<basin::detail::element_of<Array>>;

template <class T>
struct travelled_in_lanes : basin::key_statistic<T> {
    using basin::key_statistic<T>::key_statistic;
    using lanes = basin::supported;
    static constexpr T identity() { return 0; }
    template <class X, class Lane, class Site>
    X map(basin::cell<X, Lane, T> const& c, Site const& s) const {
        return c.p * basin::math::convert<X>(basin::math::abs(s.query - s.key));
    }
    template <class X>
    X combine(X a, X b) const {
        return a + b;
    }
};
template <class Array>
travelled_in_lanes(Array&&) -> travelled_in_lanes<basin::detail::element_of<Array>>;

/// The mean position that a query looks at, from the reduction and the row's facts.
template <class T>
struct centre : basin::query_statistic<T> {
    using basin::query_statistic<T>::query_statistic;
    static constexpr T identity() { return 0; }
    T map(basin::cell<T, index_t, T> const& c, basin::site const& s) const { return c.p * static_cast<T>(s.key); }
    T combine(T a, T b) const { return a + b; }
    T finish(T x, basin::row_facts<T> const& row) const { return x / (1 - row.escaped); }
};
template <class Array>
centre(Array&&) -> centre<basin::detail::element_of<Array>>;

/// The largest score below zero... of a row: a reduction whose identity is not 0.
template <class T>
struct lowest_score : basin::query_statistic<T> {
    using basin::query_statistic<T>::query_statistic;
    using lanes = basin::supported;
    static constexpr T identity() { return T(1000); }
    template <class X, class Lane, class Site>
    X map(basin::cell<X, Lane, T> const& c, Site const&) const {
        return c.score;
    }
    template <class X>
    X combine(X a, X b) const {
        return basin::math::min(a, b);
    }
};
template <class Array>
lowest_score(Array&&) -> lowest_score<basin::detail::element_of<Array>>;

/// How many pairs it was shown, and whether each was of its text: a statistic may look its keys up in a table.
struct pairs_of_texts : basin::key_statistic<float> {
    using basin::key_statistic<float>::key_statistic;
    int const* begins = nullptr; ///< where the keys of each text begin and, behind the last one's, end
    int const* lengths = nullptr;
    std::atomic<bool>* strayed = nullptr;

    static constexpr float identity() { return 0; }
    float map(basin::cell<float, index_t, float> const& c, basin::site const& s) const {
        bool const known = s.batch >= 0 && s.batch < 2 && s.query >= 0 && s.query < lengths[s.batch];
        if (!known || s.key < 0 || s.key >= lengths[s.batch] || c.place != begins[s.batch] + s.key) *strayed = true;
        return 1;
    }
    float combine(float a, float b) const { return a + b; }
};

template <class T>
void check_own() {
    using A = basin::accumulation_t<T>;
    std::uint64_t seed = 900;
    for (shape const& s : statistic_shapes()) {
        if (!s.query_lengths.empty() || !s.query_offsets.empty()) continue;
        problem<T> p(s, seed++);
        // The oracle's scores and probabilities, pair by pair.
        oracle_input in = describe(p, statistic_formulas(s));
        std::vector<double> score(static_cast<std::size_t>(s.batch * s.heads * s.queries * s.keys), -infinity);
        auto const bent = in.score;
        in.score = [&](double x, int b, int h, int i, int j) {
            return score[in.pair_index(b, h, i, j)] = bent(x, b, h, i, j);
        };
        checker<T> const c{oracle(in), static_cast<std::size_t>(s.values), static_cast<double>(s.queries)};
        std::vector<double> far(c.want.received.size(), 0), middle(c.want.lse.size(), 0), low(c.want.lse.size(), 1000);
        for (int b = 0; b < s.batch; ++b)
            for (int h = 0; h < s.heads; ++h)
                for (int i = 0; i < s.queries; ++i) {
                    std::size_t const row = in.query_index(b, h, i);
                    for (int j = 0; j < s.keys; ++j) {
                        double const x = score[in.pair_index(b, h, i, j)];
                        double const prob = std::exp(x - c.want.lse[row]);
                        if (x == -infinity) continue;
                        far[in.key_index(b, h, 0, j)] += prob * std::abs(s.query_at(i) - s.key_at(j));
                        middle[row] += prob * s.key_at(j);
                        low[row] = std::min(low[row], x);
                    }
                    if (s.keys > 0) middle[row] /= 1 - c.want.escaped[row];
                }
        for_each_backend([&]<class Backend>() {
            array<A> a(s.batch, s.heads, 1, s.keys), b(s.batch, s.heads, 1, s.keys), m(s.batch, s.heads, 1, s.queries),
                l(s.batch, s.heads, 1, s.queries);
            p.blank();
            basin::attention(Backend{}, p.query(), p.key(), p.value(), p.out.view(), statistic_policy, p.options(),
                             travelled{a.flat()}, travelled_in_lanes{b.flat()}, centre{m.flat()},
                             lowest_score{l.flat()});
            double const eps = rounding<T>;
            auto const loose = [&](std::size_t) { return 40 * eps; };
            for (std::string const& words :
                 {difference("travelled", a.numbers(), far, loose, 20 * eps),
                  difference("travelled in lanes", b.numbers(), far, loose, 20 * eps),
                  s.keys > 0 ? difference("centre", m.numbers(), middle, loose, 20 * eps) : std::string(),
                  difference("lowest score", l.numbers(), low, loose, eps), c.out(p.out.numbers())})
                check_none(words, name_of<Backend>, name_of<T>, s);
            CHECK(true);
        });
    }
}

} // namespace

TEST_CASE("a user's own statistics against the oracle, float") { check_own<float>(); }
TEST_CASE("a user's own statistics against the oracle, double") { check_own<double>(); }

TEST_CASE("a statistic is asked about keys of its text alone, on every backend") {
    // 70 keys do not fill blocks; the second text begins inside one, and its window hides some of it.
    basin::window const policy{.before = 9, .after = 4};
    for (bool const packed : {false, true}) {
        std::vector<int> const lengths{37, 33}, offsets{0, 37, 70}, begins = packed ? offsets : std::vector<int>{0, 0};
        shape const s{.queries = 70, .keys = 70, .batch = packed ? 1 : 2};
        problem<float> p(s, 31);
        for_each_backend([&]<class Backend>() {
            INFO(std::string(name_of<Backend>), packed ? ", packed" : ", padded");
            basin::buffer<float, 3> count(s.batch, 1, s.keys);
            std::atomic<bool> strayed = false;
            pairs_of_texts asked{count};
            asked.begins = begins.data();
            asked.lengths = lengths.data();
            asked.strayed = &strayed;
            basin::options how;
            if (packed)
                how.query_offsets = how.key_offsets = offsets;
            else
                how.query_lengths = how.key_lengths = lengths;
            basin::attention(Backend{}, p.query(), p.key(), p.value(), p.out.view(), policy, how, asked);
            CHECK(!strayed);
            float all = 0, expected = 0;
            for (float const x : count) all += x;
            for (int const n : lengths)
                for (int i = 0; i < n; ++i)
                    expected += static_cast<float>(std::min(i + 4, n - 1) - std::max(i - 9, 0) + 1);
            CHECK(all == expected);
        });
    }
}

TEST_CASE("a favourite is the first of equals, on every backend") {
    // Small integers: products and sums are exact, so that equal scores are equal bits.
    for (int const n : {4, 9, 40, 131}) {
        basin::buffer<float, 2> q(3, 4), k(n, 4), v(n, 4), out(3, 4);
        q.fill(1);
        v.fill(1);
        for (int j = 0; j < n; ++j)
            for (int c = 0; c < 4; ++c) k(j, c) = j % 3 == 2 ? 2.F : 1.F; // keys 2, 5, 8, ... share the first place
        for_each_backend([&]<class Backend>() {
            basin::buffer<index_t, 1> best(3);
            basin::buffer<float, 1> p(3), votes(n);
            basin::attention(Backend{}, q, k, v, out, basin::full{}, basin::favourite{best, p}, basin::votes{votes});
            for (int i = 0; i < 3; ++i) CHECK(best(i) == 2);
            for (int j = 0; j < n; ++j) CHECK(votes(j) == (j == 2 ? 3.F : 0.F));
            // With the first one hidden it is the next.
            basin::attention(Backend{}, q, k, v, out, basin::mask_if([](basin::site s) { return s.key > 2; }),
                             basin::favourite{best, p});
            CHECK(best(0) == (n == 4 ? 3 : 5));
        });
    }
}
