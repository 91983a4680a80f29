// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include <basin/backend/concept.hpp>

// The contracts of the two entries: what is refused, in words, before anything is written.
namespace basin::detail {

/// Classes, not functions: a class is instantiated where it is named, so that its words are the first line of the error.
template <class Backend, class Policy>
struct explained {
    static_assert(backend<Backend>, "basin: the first argument must be a backend: reference_backend, eigen_backend, "
                                    "simd_backend, or a type with run(task) const");
    static_assert(
        policy<Policy>,
        "basin: this is not a policy: it needs visible(site), score(x, site), sink_logit(head_site), weight(p, site) "
        "or value(x, value_site), const and public; for a lambda write mask_if(...) or score_with(...)");
    static constexpr bool value = true;
};

template <class T>
struct explained_numbers {
    static_assert(scalar<T>,
                  "basin: the elements are not numbers that basin knows: float, double, half, bfloat16; a list of "
                  "matrices is one call for each (docs/arrays.md, one matrix per head)");
    static constexpr bool value = true;
};

/// Derived from a base of statistics, whether or not it is one.
template <class S>
concept meant_as_statistic = requires {
    S::reduced_to;
    typename S::value_type;
};
template <class S>
concept has_members_of_statistic = requires(S const& s, typename S::value_type x) {
    s.identity();
    s.combine(x, x);
};
template <class S>
concept maps_cells = only_rows<S> || takes_lanes<S> ||
                     requires(S const& s, cell<typename S::value_type> const& c, site const& at) { s.map(c, at); };

template <class S, class A>
concept reduces_in = requires { requires std::same_as<typename S::value_type, A>; };

/// False after its words, so that nothing is tried with what is no statistic: one mistake is one error.
template <class A, class... Statistics>
constexpr bool explain_statistics() {
    constexpr bool whole = ((!meant_as_statistic<Statistics> || has_members_of_statistic<Statistics>) && ...);
    static_assert(
        whole, "basin: a statistic needs the members identity(), map(cell, site) and combine(a, b), const and public");
    constexpr bool maps = !whole || ((!has_members_of_statistic<Statistics> || maps_cells<Statistics>) && ...);
    static_assert(maps, "basin: a statistic needs map(basin::cell<T> const&, basin::site const&) const, or only_rows");
    constexpr bool all = !whole || !maps || (statistic<Statistics> && ...);
    static_assert(all,
                  "basin: what follows the policy must be options first, then statistics: received{...}, entropy{...}, "
                  "or your own derived from key_statistic or query_statistic");
    constexpr bool alike = !whole || !maps || !all || (reduces_in<Statistics, A> && ...);
    static_assert(alike,
                  "basin: a statistic's array must be in the accumulation type: float for float and 16-bit arrays, "
                  "double for double");
    return whole && maps && all && alike;
}

template <class T>
void check_data(view<T, 4> const& x, char const* argument) {
    if (x.data() == nullptr && x.size() != 0)
        fail<argument_error>(argument, ": the data pointer is null, but the array has ",
                             static_cast<long long>(x.size()), " elements");
}

template <class T>
void check_shapes(view<T const, 4> const& q, view<T const, 4> const& k) {
    check_data(q, "q");
    check_data(k, "k");
    check_extent("k", "batch", k.extent(0), "q", q.extent(0));
    check_extent("k", "channel", k.extent(3), "q", q.extent(3));
    if (q.extent(3) == 0) fail<shape_error>("q: channel extent is 0; a dot product needs at least 1");
    if (k.extent(1) == 0 ? q.extent(1) != 0 : q.extent(1) % k.extent(1) != 0) {
        fail<shape_error>("k: head extent is ", k.extent(1), ", which does not divide the ", q.extent(1),
                          " heads of q");
    }
}

/// Writing twice to one place: an axis that is stepped has stride 0.
template <class T>
void check_distinct(view<T, 4> const& x, char const* argument) {
    if (x.size() == 0) return; // row-major strides of an empty array are 0
    for (std::size_t i = 0; i < 4; ++i) {
        if (x.extent(i) > 1 && x.stride(i) == 0)
            fail<argument_error>(argument, ": axis ", static_cast<int>(i),
                                 " has stride 0, so that results would overwrite each other");
    }
}

template <class T, class O>
void check_value_extents(view<T const, 4> const& q, view<T const, 4> const& k, view<T const, 4> const& v,
                         view<O, 4> const& out) {
    check_data(v, "v");
    check_data(out, "out");
    check_extent("v", "batch", v.extent(0), "k", k.extent(0));
    check_extent("v", "head", v.extent(1), "k", k.extent(1));
    check_extent("v", "token", v.extent(2), "k", k.extent(2));
    check_extent("out", "batch", out.extent(0), "q", q.extent(0));
    check_extent("out", "head", out.extent(1), "q", q.extent(1));
    check_extent("out", "token", out.extent(2), "q", q.extent(2));
    check_extent("out", "channel", out.extent(3), "v", v.extent(3));
    if (v.extent(3) == 0) fail<shape_error>("v: channel extent is 0; an output needs at least 1");
}

template <class T>
void check_values(view<T const, 4> const& q, view<T const, 4> const& k, view<T const, 4> const& v,
                  view<T, 4> const& out) {
    check_value_extents(q, k, v, out);
    check_distinct(out, "out");
    if (out.size() == 0) return;
    if (out.data() == q.data())
        fail<argument_error>("out: has the data pointer of q; attention does not work in place");
    if (out.data() == k.data())
        fail<argument_error>("out: has the data pointer of k; attention does not work in place");
    if (out.data() == v.data())
        fail<argument_error>("out: has the data pointer of v; attention does not work in place");
}

template <class A, class T>
void check_known_lse(view<A const, 4> const& lse, view<T const, 4> const& q) {
    check_data(lse, "lse");
    check_extent("lse", "batch", lse.extent(0), "q", q.extent(0));
    check_extent("lse", "head", lse.extent(1), "q", q.extent(1));
    check_extent("lse", "token", lse.extent(3), "q", q.extent(2));
}

template <class T>
void check_groups(query_groups const& groups, view<T const, 4> const& q) {
    if (!groups.given) return;
    if (groups.ids.extent(0) != 1) check_extent("by_group", "batch", groups.ids.extent(0), "q", q.extent(0));
    check_extent("by_group", "token", groups.ids.extent(1), "q", q.extent(2));
    for (index_t b = 0; b < groups.ids.extent(0); ++b) {
        for (index_t i = 0; i < groups.ids.extent(1); ++i) {
            index_t const id = groups.ids(b, i);
            if (id < 0 || id >= groups.count)
                fail<argument_error>("by_group: query ", i, " is in group ", id, ", outside of 0 ... ",
                                     groups.count - 1);
        }
    }
}

template <class S, class T>
void check_statistic(S const& s, view<T const, 4> const& q, view<T const, 4> const& k) {
    constexpr bool by_key = S::reduced_to == axis::by_key;
    char const* name = by_key ? "statistic by key" : "statistic by query";
    if constexpr (requires { S::name; }) name = S::name;
    auto const check = [&](auto const& output) {
        check_data(output, name);
        check_extent(name, "batch", output.extent(0), "q", q.extent(0));
        check_extent(name, "head", output.extent(1), "q", q.extent(1));
        check_extent(name, "token", output.extent(3), by_key ? "k" : "q", by_key ? k.extent(2) : q.extent(2));
        check_distinct(output, name);
    };
    check(s.output);
    if constexpr (requires { s.keys; }) check(s.keys);
    if constexpr (by_key) {
        if (!s.groups.given) return;
        check_extent(name, "group", s.output.extent(2), "by_group", s.groups.count);
        check_groups(s.groups, q);
    }
}

template <class S, class... Inputs>
void check_statistic_alias(S const& s, Inputs const*... inputs) {
    auto const check = [&](void const* mine) {
        if (mine != nullptr && ((mine == static_cast<void const*>(inputs)) || ...)) {
            fail<argument_error>("a statistic's array has the data pointer of another argument of the call");
        }
    };
    check(s.output.data());
    if constexpr (requires { s.keys; }) check(s.keys.data());
}

template <class T>
shape_facts facts_of(layout const& where, view<T const, 4> const& q, view<T const, 4> const& k,
                     index_t value_channels) {
    return {where.texts(), q.extent(1),   k.extent(1), position_limit(where, true), position_limit(where, false),
            q.extent(3),   value_channels};
}

template <class T>
accumulation_t<T> scale_of(options const& o, view<T const, 4> const& q) {
    double const scale = o.scale == o.scale ? o.scale : 1 / math::sqrt(static_cast<double>(q.extent(3)));
    if (!(math::abs(scale) < math::infinity<double>)) fail<argument_error>("scale: must be finite");
    return static_cast<accumulation_t<T>>(scale);
}

template <class T, class U>
void fill(view<T, 4> const& x, U value) {
    for (index_t b = 0; b < x.extent(0); ++b)
        for (index_t h = 0; h < x.extent(1); ++h)
            for (index_t i = 0; i < x.extent(2); ++i) {
                T* const row = x.extent(3) > 0 ? &x(b, h, i, 0) : nullptr;
                if (x.stride(3) == 1) { // compilers store many at once
                    for (index_t j = 0; j < x.extent(3); ++j) row[j] = static_cast<T>(value);
                } else {
                    for (index_t j = 0; j < x.extent(3); ++j) row[j * x.stride(3)] = static_cast<T>(value);
                }
            }
}

template <class S>
void reset(S const& s) {
    if (s.adds) return;
    fill(s.output, s.identity());
    if constexpr (requires { s.keys; }) fill(s.keys, -1);
}

/// Rows of memory that belong to no text.
template <class T>
void zero_padding(layout const& where, view<T, 4> const& out) {
    auto const zero = [&](index_t entry, index_t begin, index_t end) {
        for (index_t h = 0; h < out.extent(1); ++h)
            for (index_t i = begin; i < end; ++i)
                for (index_t c = 0; c < out.extent(3); ++c) out(entry, h, i, c) = T{};
    };
    if (where.query_offsets.given()) return zero(0, where.query_offsets[where.query_offsets.size() - 1], where.queries);
    if (!where.query_lengths.given()) return;
    for (index_t i = 0; i < where.batch; ++i) zero(i, where.query_lengths[i], where.queries);
}

} // namespace basin::detail
