// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include "runner.hpp"

#include <basin/basin.hpp>

namespace laws {

/// An array of four axes somewhere in memory: row-major, or (seed not 0) with axes in another order, gaps, and axes that
/// run backwards.
template <class T>
struct stored_array {
    buffer<T, 1> memory;
    view<T, 4> at;

    stored_array(tuple_of<index_t, 4> const& extents, std::uint64_t seed) {
        tuple_of<std::ptrdiff_t, 4> strides;
        std::size_t order[4] = {3, 2, 1, 0};
        std::ptrdiff_t step = 1, begin = 0;
        random_source r(seed);
        if (seed != 0) {
            step = r.between(1, 3);
            for (index_t i = 3; i > 0; --i) std::swap(order[i], order[r.below(i + 1)]);
        }
        for (std::size_t const axis : order) {
            strides[axis] = step;
            step *= math::max(extents[axis], 1) + (seed != 0 ? r.below(3) : 0);
            if (seed == 0 || !r.chance(4)) continue;
            begin += strides[axis] * math::max(extents[axis] - 1, 0);
            strides[axis] = -strides[axis];
        }
        memory = buffer<T, 1>(static_cast<index_t>(step));
        for (T& x : memory) x = static_cast<T>(__builtin_nanf("")); // gaps must not be read
        at = view<T, 4>(memory.data() + begin, extents, strides);
    }
};

template <class T>
stored_array<T> store(buffer<double, 4> const& x, std::uint64_t seed) {
    stored_array<T> result(x.extents(), seed);
    for (index_t b = 0; b < x.extent(0); ++b)
        for (index_t h = 0; h < x.extent(1); ++h)
            for (index_t i = 0; i < x.extent(2); ++i)
                for (index_t c = 0; c < x.extent(3); ++c)
                    result.at(b, h, i, c) = static_cast<T>(static_cast<accumulation_t<T>>(x(b, h, i, c)));
    return result;
}

template <class T, std::size_t R>
buffer<double, R> widen(buffer<T, R> const& x) {
    buffer<double, R> result(x.extents());
    for (std::ptrdiff_t i = 0; i < x.size(); ++i) result.data()[i] = static_cast<double>(x.data()[i]);
    return result;
}

template <class T>
buffer<T, 3> narrow(buffer<double, 3> const& x) {
    buffer<T, 3> result(x.extents());
    for (std::ptrdiff_t i = 0; i < x.size(); ++i)
        result.data()[i] = static_cast<T>(static_cast<accumulation_t<T>>(x.data()[i]));
    return result;
}

/// The backend as it comes by default; what is to be chosen is chosen by a type of the caller.
template <class Backend, class T>
struct runs {
    using A = accumulation_t<T>;

    template <class Call>
    static outcome collect(problem const& x, Call const& call) {
        index_t const batch = x.batch(), heads = x.heads(), queries = x.queries(), keys = x.keys(),
                      groups = math::max(queries, 1);
        buffer<A, 4> p(batch, heads, groups, keys);
        auto const by_keys = [&] { return buffer<A, 3>(batch, heads, keys); };
        auto const by_queries = [&] { return buffer<A, 3>(batch, heads, queries); };
        auto mass = by_keys(), carried = by_keys(), top = by_keys(), vote = by_keys(), saw = by_keys();
        auto spread = by_queries(), sums = by_queries(), away = by_queries(), best_p = by_queries();
        for (auto* const dirty : {&mass, &carried, &top, &vote, &saw, &spread, &sums, &away, &best_p})
            dirty->fill(A(7)); // every slot is written
        p.fill(A(7));
        buffer<index_t, 3> best(batch, heads, queries);
        best.fill(7);
        buffer<index_t, 1> rows(queries);
        for (index_t i = 0; i < queries; ++i) rows(i) = i;
        auto out = call(received{p, by_group(rows, groups)}, received_value{carried}, received{mass}, peak{top},
                        votes{vote}, seen{saw}, entropy{spread}, lse{sums}, escaped{away}, favourite{best, best_p});
        return {std::move(out), widen(p),      widen(mass), widen(carried), widen(top),  widen(vote),
                widen(saw),     widen(spread), widen(sums), widen(away),    widen(best), widen(best_p)};
    }

    static outcome run(problem const& x, program const& policy) {
        std::uint64_t const s = x.scrambled;
        auto const q = store<T>(x.q, s), k = store<T>(x.k, s == 0 ? 0 : s + 1), v = store<T>(x.v, s == 0 ? 0 : s + 2);
        buffer<T, 3> const sink_keys = narrow<T>(x.sink_keys), sink_values = narrow<T>(x.sink_values);
        return collect(x, [&](auto const&... statistics) {
            stored_array<T> out({{x.batch(), x.heads(), x.queries(), x.v.extent(3)}}, s == 0 ? 0 : s + 3);
            auto const with = [&](auto const& whole) {
                attention(Backend{}, q.at, k.at, v.at, out.at, whole, x.how_to_read(), statistics...);
            };
            if (x.sink_keys.size() == 0)
                with(policy);
            else
                with(all_of(policy,
                            x.sink_values.size() == 0 ? kv_sink<T>(sink_keys) : kv_sink<T>(sink_keys, sink_values)));
            buffer<double, 4> result(out.at.extents());
            for (index_t b = 0; b < x.batch(); ++b)
                for (index_t h = 0; h < x.heads(); ++h)
                    for (index_t i = 0; i < x.queries(); ++i)
                        for (index_t c = 0; c < x.v.extent(3); ++c)
                            result(b, h, i, c) = static_cast<double>(static_cast<A>(out.at(b, h, i, c)));
            return result;
        });
    }

    static outcome observing(problem const& x, program const& policy, buffer<double, 3> const& known) {
        auto const q = store<T>(x.q, 0), k = store<T>(x.k, 0);
        buffer<A, 3> const lse_of_rows = narrow<A>(known);
        return collect(x, [&](auto const& p, auto const&, auto const&... statistics) {
            observe(Backend{}, q.at, k.at, lse_of_rows, policy, x.how_to_read(), p, statistics...);
            return buffer<double, 4>(0, 0, 0, 0);
        });
    }
};

template <class Backend, class T>
runner make_runner(char const* name, bool exact) {
    bool const wide = sizeof(T) == 8;
    double const tolerance = wide ? 1e-11 : 2e-4, stored = sizeof(T) == 2 ? 1e-2 : tolerance;
    return {name, tolerance, stored, exact, runs<Backend, T>::run, runs<Backend, T>::observing};
}

} // namespace laws
