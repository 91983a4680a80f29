// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include <basin/core/layout.hpp>
#include <basin/core/several.hpp>
#include <basin/core/sinks.hpp>
#include <basin/core/statistic.hpp>

// What a backend gets and what it must do. A backend is a type with
//   template <class Task> void run(Task const&) const;
// for every attention_task below. The entry has checked every extent and alias, bound the policy, zeroed the outputs of
// padded queries and filled the statistics with their identities (unless they accumulate); the backend writes the output
// of the queries of each text and *combines* its results into the statistics. A backend that may refuse a task (too many
// threads, too little workspace) has a member check(task) as well, which is called before anything is written.
namespace basin {

/// What a call asks for: attention, or only statistics of probabilities exp(score - known_lse), without values or output.
enum class purpose : std::uint8_t { attend, observe };

/// One call of an entry. T: storage scalar.
template <purpose Purpose, class T, class Policy, class... Statistics>
struct attention_task {
    /// Statistics only: v and out have no data, and known_lse has.
    static constexpr bool observing = Purpose == purpose::observe;
    using scalar_type = T;
    using accumulation = accumulation_t<T>;
    using policy_type = Policy;

    view<T const, 4> q, k, v;
    view<T, 4> out;
    /// The lse of an earlier call, which makes probabilities of scores; only when observing.
    view<accumulation const, 4> known_lse; // (batch, head, 1, query)
    accumulation scale;
    Policy policy;
    layout where;
    /// The statistics to combine results into, their outputs inside.
    several<Statistics...> statistics;

    index_t query_heads() const { return q.extent(1); }
    index_t key_value_head(index_t head) const { return head / (q.extent(1) / k.extent(1)); }
    head_site heads_of(text const& t, index_t head) const { return {t.number, head, key_value_head(head)}; }

    static constexpr bool needs_key_weight = (basin::needs_key_weight<Statistics> || ...);
    static constexpr bool needs_favourite = (basin::needs_favourite<Statistics> || ...);
    /// Whether any statistic looks at pairs, and not only at rows.
    static constexpr bool needs_pairs = (!basin::only_rows<Statistics> || ...);

    /// f(statistic) for each of them, in the order of the call.
    template <class F>
    void for_each_statistic(F&& f) const {
        statistics.each([&](auto, auto const& s) { f(s); });
    }
};

namespace detail {
struct no_policy {
    constexpr bool visible(site) const { return true; }
};
using probe_task = attention_task<purpose::attend, float, no_policy>;
} // namespace detail

/// A type whose run(task) does what any attention_task asks.
template <class B>
concept backend = std::copyable<B> && requires(B const& b, detail::probe_task const& task) { b.run(task); };

} // namespace basin
