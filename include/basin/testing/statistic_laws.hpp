// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include <basin/backend/reference.hpp>
#include <basin/testing/program.hpp>
#include <basin/testing/sample.hpp>

namespace basin::testing {
namespace inner {

/// The arrays of a statistic's laws, and how to run the statistic on a part of the queries.
template <class Make>
class statistic_trial {
public:
    using S = decltype(std::declval<Make const&>()(std::declval<view<float, 3>&>()));
    static_assert(statistic<S>, "basin: make(array) must return a statistic that writes into the array");
    static constexpr bool by_key = S::reduced_to == axis::by_key;

    statistic_trial(Make const& m, check_options const& o) : make(m), x(o), tokens(by_key ? o.keys : o.queries) {}

    /// Queries [begin, end), at positions that do not depend on the part.
    template <class Backend>
    void run(Backend const& backend, buffer<float, 3>& result, index_t begin, index_t end, options o, bool adding) {
        view<float, 4> out = output(begin, end);
        view<float, 3> into = by_key ? view<float, 3>(result) : part(result, begin, end);
        o.query_position = begin;
        S const s = make(into);
        attention(backend, part(x.q, begin, end), x.k, x.v, out, policy, o, adding ? accumulate(s) : s);
    }
    template <class Backend>
    buffer<float, 3> whole(Backend const& backend, options const& o = {}) {
        buffer<float, 3> result(x.q.extent(0), x.q.extent(1), tokens);
        run(backend, result, 0, x.q.extent(2), o, false);
        return result;
    }

    Make const& make;
    sample<float> x;
    index_t tokens;
    program policy = program{}.window(9, 6).comb(5, 1).all_of().sink(0.5);

private:
    view<float, 4> output(index_t begin, index_t end) {
        out_ = buffer<float, 4>(x.q.extent(0), x.q.extent(1), end - begin, x.v.extent(3));
        return view<float, 4>(out_);
    }
    static view<float const, 4> part(buffer<float, 4> const& q, index_t begin, index_t end) {
        view<float const, 4> const all = q;
        return {all.data() + begin * all.stride(2),
                {{all.extent(0), all.extent(1), end - begin, all.extent(3)}},
                all.strides()};
    }
    static view<float, 3> part(buffer<float, 3>& y, index_t begin, index_t end) {
        view<float, 3> const all = y;
        return {all.data() + begin, {{all.extent(0), all.extent(1), end - begin}}, all.strides()};
    }
    buffer<float, 4> out_;
};

} // namespace inner

/// The laws of a statistic, given how to make it from its array: `check_statistic([](auto& a) { return received{a}; })`.
/// combine is commutative and associative with its identity; neither the order of keys nor a split of the queries
/// matters; padded queries leave no trace; observe gives what the pass gives; `backend` agrees with the reference. Give it
/// the backend that you will use: only that one's way to ask (lanes, for one) is tried. A combine that is only right for some
/// numbers (probabilities, say) is tried with those in o.numbers.
template <class Make, class Backend = reference_backend>
report check_statistic(Make const& make, check_options const& o = {}, Backend const& backend = {}) {
    report r;
    inner::statistic_trial<Make> trial(make, o);
    using trial_type = inner::statistic_trial<Make>;
    auto const whole = trial.whole(backend);
    if constexpr (!std::same_as<Backend, reference_backend>)
        compare(r, "backend against reference", whole, trial.whole(reference_backend{}), o.tolerance);

    {
        buffer<float, 3> scratch(o.batch, o.heads, trial.tokens);
        view<float, 3> into = scratch;
        auto const s = make(into);
        random_source random(o.seed);
        bool tells = false;
        for (float const y : whole) tells = tells || y != s.identity();
        r.expect(tells, [] { return std::string("every result is the identity: nothing was tested"); });
        for (int i = 0; i < 200 && whole.size() > 0; ++i) {
            // Results, which may be all alike, and numbers that are not.
            auto const pick = [&] {
                if (random.chance(2)) return whole.data()[random.below(static_cast<index_t>(whole.size()))];
                if (o.numbers.empty()) return static_cast<float>(random.between(1, 40)) / 8;
                return o.numbers[static_cast<std::size_t>(random.below(static_cast<index_t>(o.numbers.size())))];
            };
            float const a = pick(), b = pick(), c = pick();
            auto const same = [&](char const* law, float left, float right) {
                r.expect(close(static_cast<double>(left), static_cast<double>(right), 1e-5), [&] {
                    return std::string(law) + ": " + std::to_string(left) + " and " + std::to_string(right) +
                           ", from a = " + std::to_string(a) + ", b = " + std::to_string(b) +
                           ", c = " + std::to_string(c);
                });
            };
            same("combine(a, identity) is a", s.combine(a, s.identity()), a);
            same("combine(a, b) is combine(b, a)", s.combine(a, b), s.combine(b, a));
            same("combine is associative", s.combine(s.combine(a, b), c), s.combine(a, s.combine(b, c)));
        }
    }
    if constexpr (!requires(typename trial_type::S s) { s.keys; }) { // a second array cannot be cut from here
        buffer<float, 3> halves(o.batch, o.heads, trial.tokens);
        index_t const middle = o.queries / 3;
        trial.run(backend, halves, 0, middle, {}, false);
        trial.run(backend, halves, middle, o.queries, {}, trial_type::by_key);
        compare(r, "queries in two calls are as in one", halves, whole, o.tolerance);
    }
    {
        // keys in another order, each at its old position
        inner::statistic_trial<Make> turned(make, o);
        buffer<index_t, 1> places(o.keys);
        random_source random(o.seed + 1);
        for (index_t j = 0; j < o.keys; ++j) { // shuffled, not reversed: that would keep odd places odd
            index_t const other = random.below(j + 1);
            places(j) = places(other);
            places(other) = j;
        }
        for (index_t j = 0; j < o.keys; ++j) {
            for (index_t b = 0; b < o.batch; ++b)
                for (index_t h = 0; h < o.key_value_heads; ++h) {
                    for (index_t c = 0; c < o.channels; ++c) turned.x.k(b, h, j, c) = trial.x.k(b, h, places(j), c);
                    for (index_t c = 0; c < o.value_channels; ++c)
                        turned.x.v(b, h, j, c) = trial.x.v(b, h, places(j), c);
                }
        }
        options moved;
        moved.key_position = places;
        auto got = turned.whole(backend, moved);
        if constexpr (trial_type::by_key) {
            auto const shuffled = got;
            inner::for_each_head(inner::facts_of(o), [&](index_t b, index_t h) {
                for (index_t j = 0; j < o.keys; ++j) got(b, h, places(j)) = shuffled(b, h, j);
            });
        }
        compare(r, "the order of keys does not matter", got, whole, o.tolerance);
    }
    {
        buffer<index_t, 1> lengths(o.batch);
        lengths.fill(o.queries / 2);
        options padded;
        padded.query_lengths = lengths;
        auto const got = trial.whole(backend, padded);
        if constexpr (trial_type::by_key) {
            buffer<float, 3> expected(o.batch, o.heads, o.keys);
            trial.run(backend, expected, 0, o.queries / 2, {}, false);
            compare(r, "padded queries leave no trace", got, expected, o.tolerance);
        } else {
            buffer<float, 3> scratch(o.batch, o.heads, o.queries);
            view<float, 3> into = scratch;
            float const identity = make(into).identity();
            auto expected = whole;
            inner::for_each_head(inner::facts_of(o), [&](index_t b, index_t h) {
                for (index_t i = o.queries / 2; i < o.queries; ++i) expected(b, h, i) = identity;
            });
            compare(r, "padded queries have the identity", got, expected, o.tolerance);
        }
    }
    if constexpr (!needs_key_weight<typename trial_type::S>) {
        buffer<float, 4> out(o.batch, o.heads, o.queries, o.value_channels);
        buffer<float, 3> known(o.batch, o.heads, o.queries), seen_later(o.batch, o.heads, trial.tokens);
        attention(backend, trial.x.q, trial.x.k, trial.x.v, out, trial.policy, lse{known});
        view<float, 3> into = seen_later;
        observe(backend, trial.x.q, trial.x.k, known, trial.policy, make(into));
        compare(r, "observe gives what the pass gives", seen_later, whole, o.tolerance);
    }
    return r;
}
/// The same on a backend: `check_statistic(make, simd_backend{})`.
template <class Make, class Backend>
    requires(!std::same_as<Backend, check_options>)
report check_statistic(Make const& make, Backend const& backend, check_options const& o = {}) {
    return check_statistic(make, o, backend);
}

} // namespace basin::testing
