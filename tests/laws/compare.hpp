// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include "oracle.hpp"

namespace laws {

/// "" or where two arrays differ; a negative tolerance asks for the same bits.
template <std::size_t R>
std::string differ(char const* what, buffer<double, R> const& got, buffer<double, R> const& expected,
                   double tolerance) {
    testing::report r;
    if (!(got.extents() == expected.extents())) return std::string(what) + ": extents differ";
    testing::compare(r, what, got, expected, tolerance);
    return r.ok() ? "" : r.failures().front();
}

/// Votes and favourites are consistent with the probabilities of the same outcome. (Two outcomes may break a tie apart.)
inline std::string favourites(problem const& x, outcome const& o, double tolerance) {
    if (x.q.size() == 0) return ""; // untouched
    buffer<double, 3> votes(o.votes.extents());
    for (index_t b = 0; b < x.batch(); ++b)
        for (index_t h = 0; h < x.heads(); ++h)
            for (index_t i = 0; i < x.queries(); ++i) {
                auto const best = static_cast<index_t>(o.favourite(b, h, i));
                double high = 0;
                for (index_t j = 0; j < x.keys(); ++j) high = math::max(high, o.p(b, h, i, j));
                if (best < -1 || best >= x.keys())
                    return "favourite of query " + std::to_string(i) + " is " + std::to_string(best);
                if (best >= 0) votes(b, h, best) += 1;
                double const p = best < 0 ? 0 : o.p(b, h, i, best);
                if (!testing::close(p, high, tolerance) || !testing::close(o.favourite_p(b, h, i), p, tolerance)) {
                    return "favourite of query " + std::to_string(i) + " is key " + std::to_string(best) + " with " +
                           std::to_string(o.favourite_p(b, h, i)) + ", but the largest probability is " +
                           std::to_string(high);
                }
            }
    return differ("votes", o.votes, votes, -1);
}

/// Everything but favourites, which may be broken apart by a tie.
inline std::string differ(runner const& r, outcome const& got, outcome const& expected, bool exactly = false,
                          bool outputs = true) {
    double const t = exactly ? -1 : r.tolerance, s = exactly ? -1 : r.stored;
    std::string w;
    if (outputs) w = differ("out", got.out, expected.out, s);
    if (w.empty()) w = differ("lse", got.lse, expected.lse, t);
    if (w.empty()) w = differ("p", got.p, expected.p, t);
    if (w.empty()) w = differ("received", got.received, expected.received, t);
    if (w.empty()) w = differ("peak", got.peak, expected.peak, t);
    if (w.empty()) w = differ("seen", got.seen, expected.seen, -1);
    if (w.empty()) w = differ("entropy", got.entropy, expected.entropy, 4 * t);
    if (w.empty()) w = differ("escaped", got.escaped, expected.escaped, t);
    if (w.empty()) w = differ("favourite_p", got.favourite_p, expected.favourite_p, t);
    return w;
}

} // namespace laws
