// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include <basin/core/layout.hpp>
#include <basin/detect/evidence.hpp>

#include <vector>

namespace basin::detail {

/// The live keys of one head in columns, in double: the decision then depends on the evidence alone, not on its scalar. Reused
/// from head to head of one evidence and layout.
class row_columns {
public:
    index_t *key = nullptr, *place = nullptr;
    double *received = nullptr, *seen = nullptr, *share = nullptr, *baseline = nullptr, *norm = nullptr,
           *activation = nullptr, *ratio = nullptr, *reach = nullptr;
    index_t invalid = 0;
    /// The text whose keys, places, counts and baselines stand here, alike for all of its heads; -1: none.
    index_t alike = -1;

    row_columns() = default;
    row_columns(row_columns const&) = delete; // columns point into its own memory
    row_columns& operator=(row_columns const&) = delete;

    /// Room for n keys in each column. One piece of memory: short texts would notice ten.
    void resize(index_t n) {
        auto const size = static_cast<std::size_t>(n);
        places_.resize(2 * size);
        numbers_.resize(8 * size);
        key = places_.data();
        place = key + size;
        double* next = numbers_.data();
        for (double** column : {&received, &seen, &share, &baseline, &norm, &activation, &ratio, &reach}) {
            *column = next;
            next += size;
        }
    }

private:
    std::vector<index_t> places_;
    std::vector<double> numbers_;
};

/// Folds f(0) ... f(n - 1) in eight strands: one would wait for each of its sums. The order is fixed.
template <class F, class Join>
double in_strands(index_t n, F const& f, Join const& join) {
    double s[8] = {};
    index_t i = 0;
    for (; i + 8 <= n; i += 8)
        for (index_t j = 0; j < 8; ++j) s[j] = join(s[j], f(i + j));
    for (; i < n; ++i) s[0] = join(s[0], f(i));
    for (index_t half = 4; half > 0; half /= 2)
        for (index_t j = 0; j < half; ++j) s[j] = join(s[j], s[j + half]);
    return s[0];
}
template <class F>
double sum_of(index_t n, F const& f) {
    return in_strands(n, f, [](double a, double b) { return a + b; });
}
inline double highest_of(index_t n, double const* x) {
    return in_strands(n, [x](index_t i) { return x[i]; }, [](double a, double b) { return math::max(a, b); });
}

inline moments<double> moments_of(double const* x, index_t n) {
    moments<double> m;
    m.sum = sum_of(n, [x](index_t i) { return x[i]; });
    m.max = highest_of(n, x);
    double const mean = m.mean = m.sum / n;
    m.deviation = math::sqrt(sum_of(n, [x, mean](index_t i) { return (x[i] - mean) * (x[i] - mean); }) / n);
    return m;
}

template <class T>
void check_evidence(evidence<T> const& e) {
    auto const& mass = e.received_view();
    auto const same = [&](view<T const, 4> const& x, char const* name) {
        if (x.data() == nullptr) return;
        check_extent(name, "batch", x.extent(0), "received", mass.extent(0));
        check_extent(name, "head", x.extent(1), "received", mass.extent(1));
        check_extent(name, "key", x.extent(3), "received", mass.extent(3));
    };
    same(e.seen_view(), "seen");
    same(e.baseline_view(), "baseline");
    auto const grouped = [&](view<T const, 4> const& x, char const* name) {
        if (x.data() == nullptr) return;
        check_extent(name, "batch", x.extent(0), "received", mass.extent(0));
        check_extent(name, "key", x.extent(3), "received", mass.extent(3));
        if (x.extent(1) == 0 || mass.extent(1) % x.extent(1) != 0)
            fail<shape_error>(name, ": head extent is ", x.extent(1), ", which does not divide the ", mass.extent(1),
                              " heads of received");
    };
    grouped(e.norms_view(), "norms");
    grouped(e.activations_view(), "activations");
    if (e.medians_view().data() != nullptr)
        check_extent("activations", "batch", e.medians_view().extent(0), "received", mass.extent(0));
    if (e.kinds_view().data() != nullptr) {
        if (e.kinds_view().extent(0) != 1)
            check_extent("kinds", "batch", e.kinds_view().extent(0), "received", mass.extent(0));
        check_extent("kinds", "key", e.kinds_view().extent(1), "received", mass.extent(3));
    }
    if (mass.size() == 0)
        fail<argument_error>("evidence: the received mass is empty: extents (", mass.extent(0), ", ", mass.extent(1),
                             ", ", mass.extent(3), ")");
}

/// The columns of a head whose every key is seen by all queries and has a mass in range; false if there is one that is not.
template <class T>
bool read_plain(T const* mass, layout const& where, text const& t, double queries, double most, row_columns& c) {
    index_t const n = t.key_end - t.key_begin;
    int odd = 0; // tested once, at the end: compilers take many keys at once
    for (index_t i = 0; i < n; ++i) {
        double const received = static_cast<double>(mass[i]);
        c.received[i] = received;
        odd |= static_cast<int>(!(received >= 0)) | static_cast<int>(!(received <= most));
    }
    if (odd != 0) return false;
    for (index_t i = 0; i < n; ++i) c.share[i] = c.received[i] / queries;
    if (c.alike == t.number) return true;
    c.alike = t.number;
    double const baseline = queries / n; // a full map: every query sees every live key
    for (index_t i = 0; i < n; ++i) {
        c.place[i] = t.key_begin + i;
        c.seen[i] = queries;
        c.baseline[i] = baseline;
    }
    for (index_t i = 0; i < n; ++i) c.key[i] = where.key_at(t, t.key_begin + i);
    return true;
}

/// The live keys of a head; refuses mass that no attention can have produced.
template <class T>
row_of_keys<double> read_row(evidence<T> const& e, layout const& where, text const& t, index_t head, row_columns& c) {
    constexpr double slack = 1e-3; // what float sums over thousands of queries may lose
    double const absent = __builtin_nan("");
    auto const& mass = e.received_view();
    double const queries = static_cast<double>(t.query_end - t.query_begin) * e.pass_count();
    bool const has_seen = e.seen_view().data() != nullptr, has_baseline = e.baseline_view().data() != nullptr;
    bool const has_norm = e.norms_view().data() != nullptr, has_activation = e.activations_view().data() != nullptr;
    index_t const norm_head = has_norm ? head / (mass.extent(1) / e.norms_view().extent(1)) : 0;
    index_t const activation_head = has_activation ? head / (mass.extent(1) / e.activations_view().extent(1)) : 0;
    c.resize(t.key_end - t.key_begin);
    c.invalid = 0;
    index_t n = 0;
    bool const plain = !has_seen && !has_baseline && !has_norm && !has_activation && mass.stride(3) == 1 &&
                       queries > 0 && t.key_end > t.key_begin &&
                       read_plain(&mass(t.entry, head, 0, t.key_begin), where, t, queries, queries * (1 + slack), c);
    if (plain)
        n = t.key_end - t.key_begin;
    else
        c.alike = -1;
    for (index_t place = plain ? t.key_end : t.key_begin; place < t.key_end; ++place) {
        index_t const i = n;
        double const seen =
            has_seen ? static_cast<double>(e.seen_view()(t.entry, head, 0, place)) * e.seen_factor() : queries;
        if (seen == 0) continue; // nobody sees it: nothing was observed
        double const received = static_cast<double>(mass(t.entry, head, 0, place));
        if (received != received) {
            ++c.invalid;
            continue;
        }
        if (!(seen > 0))
            fail<argument_error>("evidence: seen is ", seen, " at batch ", t.entry, ", head ", head, ", key ", place);
        if (received < 0 || received == math::infinity<double>)
            fail<argument_error>("evidence: received is ", received, " at batch ", t.entry, ", head ", head, ", key ",
                                 place, "; attention is never negative nor infinite");
        if (received > seen * (1 + slack)) {
            fail<argument_error>("evidence: key ", place, " of batch ", t.entry, ", head ", head, " received ",
                                 received, " from ", seen,
                                 " queries: probabilities do not sum to 1, or the mass was accumulated over several "
                                 "calls (say passes(n)) or queries (say queries(n))");
        }
        c.key[i] = where.key_at(t, place);
        c.place[i] = place;
        c.received[i] = received;
        c.seen[i] = seen;
        c.share[i] = received / seen;
        c.baseline[i] =
            has_baseline ? static_cast<double>(e.baseline_view()(t.entry, head, 0, place)) * e.pass_count() : absent;
        if (has_norm) c.norm[i] = static_cast<double>(e.norms_view()(t.entry, norm_head, 0, place));
        if (has_activation)
            c.activation[i] = static_cast<double>(e.activations_view()(t.entry, activation_head, 0, place));
        ++n;
    }
    // Where uniform attention gives each key 1, ratios are the masses themselves.
    bool const unscaled = plain && queries == static_cast<double>(n);
    moments<double> ratios;
    if (unscaled) ratios = moments_of(c.received, n);
    double const total = unscaled ? ratios.sum : sum_of(n, [&](index_t i) { return c.received[i]; });
    if (total > queries * (1 + slack))
        fail<argument_error>("evidence: the mass of batch ", t.entry, ", head ", head, " sums to ", total, ", but ",
                             queries, " queries give at most that many: probabilities do not sum to 1");
    if (!plain && !has_baseline && !has_seen) { // as read_plain
        for (index_t i = 0; i < n; ++i) c.baseline[i] = queries / n;
    }

    row_of_keys<double> row;
    row.key = c.key;
    row.received = c.received;
    row.seen = c.seen;
    row.share = c.share;
    row.baseline = c.baseline;
    row.norm = has_norm ? c.norm : nullptr;
    row.activation = has_activation ? c.activation : nullptr;
    head_facts<double>& facts = row.head;
    facts.batch = t.number;
    facts.head = head;
    facts.keys = n;
    facts.queries = queries;
    if (n == 0) return row;
    facts.share = moments_of(row.share, n);
    double *const ratio = c.ratio, *const reach = c.reach;
    if (!unscaled) {
        for (index_t i = 0; i < n; ++i) ratio[i] = row.received[i] / row.baseline[i];
        ratios = moments_of(ratio, n);
    }
    facts.ratio = ratios; // not a multiple of the other: rules compare it with quotients, to the last bit
    if (plain) {          // all keys alike
        facts.highest_ratio = row.seen[0] / row.baseline[0];
    } else {
        for (index_t i = 0; i < n; ++i) reach[i] = row.seen[i] / row.baseline[i];
        facts.highest_ratio = highest_of(n, reach);
    }
    if (e.medians_view().data() != nullptr) facts.median_activation = static_cast<double>(e.medians_view()(t.entry));
    return row;
}

} // namespace basin::detail
