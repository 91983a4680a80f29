// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include <basin/testing/cover_laws.hpp>

namespace basin::testing {

/// A backend that first asks cover() about tiles of every size a kernel may use and compares the answers with visible().
/// A contradiction is an argument_error that names the tile and the pair; otherwise the wrapped backend runs. Use it
/// once on a policy of your own: kernels believe cover, and a wrong one loses keys without a word.
template <class Backend>
struct checked_backend {
    /// The backend that is checked.
    Backend backend;

    /// Before anything is written.
    template <class Task>
    void check(Task const& task) const {
        for (index_t i = 0; i < task.where.texts(); ++i) {
            text const t = task.where.at(i);
            if (t.query_begin == t.query_end || t.key_begin == t.key_end) continue;
            range const queries = positions_of(task.where.query_position.listed(), t.query_begin, t.query_end,
                                               [&](index_t j) { return task.where.query_at(t, j); });
            range const keys = positions_of(task.where.key_position.listed(), t.key_begin, t.key_end,
                                            [&](index_t j) { return task.where.key_at(t, j); });
            for (index_t head = 0; head < task.query_heads(); ++head) check_head(task, t, head, queries, keys);
        }
        if constexpr (requires { backend.check(task); }) backend.check(task);
    }
    template <class Task>
    void run(Task const& task) const {
        backend.run(task);
    }

private:
    struct range {
        index_t begin, end;
    };
    /// Scattered tokens are taken as the stretch of text they stand in: a policy must hold its word there, too.
    template <class At>
    static range positions_of(bool listed, index_t begin, index_t end, At const& at) {
        if (!listed) return {at(begin), at(end - 1) + 1};
        range result{at(begin), at(begin) + 1};
        for (index_t j = begin; j < end; ++j)
            result = {math::min(result.begin, at(j)), math::max(result.end, at(j) + 1)};
        return result;
    }

    template <class Task>
    static void check_head(Task const& task, text const& t, index_t head, range queries, range keys) {
        auto const& p = task.policy;
        index_t const rows = queries.end - queries.begin, columns = keys.end - keys.begin;
        visible_counts const counts(rows, columns, [&](index_t i, index_t j) {
            return facet::visible(p, site{t.number, head, queries.begin + i, keys.begin + j});
        });
        auto const ask = [&](index_t q0, index_t q1, index_t k0, index_t k1) {
            tile const asked{t.number, head, queries.begin + q0, queries.begin + q1, keys.begin + k0, keys.begin + k1};
            coverage const said = facet::cover(p, asked);
            if (counts.allows(said, q0, q1, k0, k1)) return;
            site const s = inner::contradiction(p, asked, said);
            detail::fail<argument_error>("cover: says ", said == coverage::all ? "all" : "none",
                                         " for the tile of batch ", asked.batch, ", head ", asked.head, ", queries ",
                                         asked.query_begin, " ... ", asked.query_end - 1, ", keys ", asked.key_begin,
                                         " ... ", asked.key_end - 1, ", but query ", s.query,
                                         (said == coverage::all ? " does not see key " : " sees key "), s.key);
        };
        for (index_t high = 1; high < 2 * rows; high *= 2)
            for (index_t wide = 1; wide < 2 * columns; wide *= 2)
                for (index_t i = 0; i < rows; i += high)
                    for (index_t j = 0; j < columns; j += wide)
                        ask(i, math::min(i + high, rows), j, math::min(j + wide, columns));
        inner::for_each_tile(rows, columns, 4000, 23, ask); // kernels also have tiles that are no power of two
        for (index_t key = 0; key < columns; ++key) {
            if (!facet::hides(p, task.heads_of(t, head), keys.begin + key) || counts.within(0, rows, key, key + 1) == 0)
                continue;
            detail::fail<argument_error>("hides: says that nobody sees key ", keys.begin + key, " of batch ", t.number,
                                         ", head ", head, ", but a query does");
        }
    }
};

template <class Backend>
checked_backend<Backend> checked(Backend const& backend) {
    return {backend};
}

} // namespace basin::testing
