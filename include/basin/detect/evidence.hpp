// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include <basin/core/options.hpp>
#include <basin/detect/facts.hpp>
#include <basin/detect/visibility.hpp>

namespace basin {

/// What sinks are looked for in: attention received, and whatever else is known. Borrows its arrays.
///   evidence{mass}                              (batch, head, key), as `received` wrote it
///   evidence{mass}.seen(counts)                 how many queries see each key, as the statistic `seen` wrote it
///   evidence{mass}.under(visibility)            the same from a policy, with the baseline of uniform attention
///   evidence{mass}.norms(n)                     of values, (batch, key-value head or head, key)
///   evidence{mass}.activations(a).kinds(k).at(step, layer)
/// T is the scalar of the arrays.
template <class T>
class evidence {
public:
    template <class Array>
        requires detail::array_like<std::remove_cvref_t<Array>>
    explicit evidence(Array&& received) : received_(lift(static_cast<Array&&>(received), "received")) {}

    /// One group of a statistic by_group, (batch, head, group, key): masked and decoded queries keep separate sinks. Give
    /// `seen` of the same group, and `queries` if its size is known.
    template <class Array>
        requires detail::array_like<std::remove_cvref_t<Array>>
    static evidence of_group(Array&& received, index_t group) {
        evidence result;
        result.group_ = group;
        result.received_ = result.lift(static_cast<Array&&>(received), "received");
        return result;
    }

    /// How many queries see each key, as the statistic `seen` wrote it.
    template <class Array>
        requires detail::array_like<std::remove_cvref_t<Array>>
    evidence seen(Array&& counts) const {
        evidence e = *this;
        e.seen_ = lift(static_cast<Array&&>(counts), "seen");
        e.seen_per_pass_ = false;
        return e;
    }
    /// How many queries see each key, and the baseline of uniform attention, both from a policy: see visibility_of.
    evidence under(visibility<T> const& mask) const {
        evidence e = *this;
        auto const of = [](view<T const, 3> const& x) {
            return view<T const, 4>{
                x.data(), {{x.extent(0), x.extent(1), 1, x.extent(2)}}, {{x.stride(0), x.stride(1), 0, x.stride(2)}}};
        };
        e.seen_ = of(mask.seen);
        e.seen_per_pass_ = true;
        e.baseline_ = of(mask.uniform);
        return e;
    }
    evidence under(visibility<T>&&) const = delete; // would dangle
    /// The norms of values, (batch, key-value head or head, key).
    template <class Array>
        requires detail::array_like<std::remove_cvref_t<Array>>
    evidence norms(Array&& values) const {
        evidence e = *this;
        e.norms_ = lift(static_cast<Array&&>(values), "norms", false);
        return e;
    }
    /// `peaks` (batch, 1 or head, key) and, for each batch entry, the median magnitude: see activations_of.
    template <class Activations>
    evidence activations(Activations const& a) const {
        evidence e = *this;
        e.activations_ = lift(a.peaks, "activations", false);
        e.medians_ = a.medians;
        return e;
    }
    template <class Activations>
        requires(!std::is_lvalue_reference_v<Activations>)
    evidence activations(Activations&&) const = delete; // would dangle
    /// What the tokens are at this step, (key) or (batch, key).
    template <class Array>
    evidence kinds(Array&& list) const {
        static_assert(detail::outlives_call<Array>, "basin: evidence borrows its arrays: keep them in variables");
        auto const x = detail::describe(list, "kinds");
        evidence e = *this;
        if (x.rank == 1)
            e.kinds_ = {x.data, {{1, x.extents[0]}}, {{0, x.strides[0]}}};
        else if (x.rank == 2)
            e.kinds_ = {x.data, {{x.extents[0], x.extents[1]}}, {{x.strides[0], x.strides[1]}}};
        else
            detail::fail<shape_error>("kinds: rank 1 (key) or 2 (batch, key), not ", x.rank);
        return e;
    }
    /// How many queries the map had; without this, as many as keys.
    evidence queries(index_t n) const {
        if (n < 0) detail::fail<argument_error>("evidence: ", n, " queries");
        evidence e = *this;
        e.queries_ = n;
        return e;
    }
    /// How many calls were accumulated into the mass (over layers, steps, heads); 1 without this.
    evidence passes(index_t n) const {
        if (n < 1) detail::fail<argument_error>("evidence: ", n, " passes; at least one was made");
        evidence e = *this;
        e.passes_ = n;
        return e;
    }
    /// Tags that travel along.
    evidence at(index_t step, index_t layer = 0) const {
        evidence e = *this;
        e.step_ = step;
        e.layer_ = layer;
        return e;
    }

    // (batch, head, 1, key); those that were not given have no data
    /// What each key received.
    view<T const, 4> const& received_view() const { return received_; }
    /// How many queries see each key.
    view<T const, 4> const& seen_view() const { return seen_; }
    /// What each key would receive of uniform attention.
    view<T const, 4> const& baseline_view() const { return baseline_; }
    /// The norm of each key's value.
    view<T const, 4> const& norms_view() const { return norms_; }
    /// The largest magnitude in each key's hidden state.
    view<T const, 4> const& activations_view() const { return activations_; }
    /// The median magnitude of each batch entry's hidden states.
    view<T const, 1> const& medians_view() const { return medians_; }
    /// What each token is, (batch or 1, key).
    view<token_kind const, 2> const& kinds_view() const { return kinds_; }
    /// How many queries the map had.
    index_t query_count() const { return queries_ < 0 ? received_.extent(3) : queries_; }
    /// How many calls were accumulated into the mass.
    index_t pass_count() const { return passes_; }
    /// A mask says what one call sees; the statistic was accumulated like the mass.
    index_t seen_factor() const { return seen_per_pass_ ? passes_ : 1; }
    index_t step() const { return step_; }
    index_t layer() const { return layer_; }

    /// The same evidence with its arrays elsewhere (see facet::carried).
    template <class Carrier>
    evidence carried(Carrier& carrier) const {
        evidence e = *this;
        for (auto* const x : {&e.received_, &e.seen_, &e.baseline_, &e.norms_, &e.activations_})
            if (x->data() != nullptr) *x = carrier(*x);
        if (medians_.data() != nullptr) e.medians_ = carrier(medians_);
        if (kinds_.data() != nullptr) e.kinds_ = carrier(kinds_);
        return e;
    }

private:
    evidence() = default;

    template <class Array>
    view<T const, 4> lift(Array&& array, char const* name, bool grouped = true) const {
        static_assert(detail::outlives_call<Array>, "basin: evidence borrows its arrays: keep them in variables");
        view<T const, 4> const all =
            detail::lift_statistic(detail::describe(array, name), grouped && group_ >= 0, name);
        if (all.data() == nullptr && all.size() != 0) detail::fail<argument_error>("evidence: ", name, " has no data");
        if (!grouped || group_ < 0) return all;
        if (group_ >= all.extent(2)) detail::fail<shape_error>(name, ": group ", group_, " of ", all.extent(2));
        return {all.data() + group_ * all.stride(2),
                {{all.extent(0), all.extent(1), 1, all.extent(3)}},
                {{all.stride(0), all.stride(1), 0, all.stride(3)}}};
    }

    index_t group_ = -1; // before the views: lifting asks for it
    view<T const, 4> received_{}, seen_{}, baseline_{}, norms_{}, activations_{};
    view<T const, 1> medians_{};
    view<token_kind const, 2> kinds_{};
    bool seen_per_pass_ = false;
    index_t queries_ = -1, passes_ = 1, step_ = 0, layer_ = 0;
};
template <class Array>
evidence(Array&&) -> evidence<std::remove_const_t<detail::element_of<Array>>>;

} // namespace basin
