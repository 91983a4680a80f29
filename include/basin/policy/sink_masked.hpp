// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include <basin/core/key_set.hpp>
#include <basin/core/policy.hpp>

namespace basin {
namespace detail {

// What kernels take of the policy. No class of its own: kernels are named after their types, and SYCL names kernels only
// by what can be declared ahead.
struct bound_sink_masked {
    using lanes = supported;
    key_set_view keys;
    /// Whether a hidden key's own query still sees it.
    bool except_itself;

    template <class Lane>
    auto visible(basic_site<Lane> const& s) const {
        return !math::lookup_bit(keys.row(s.batch, s.head), s.key) || (s.query == s.key && except_itself);
    }
    coverage cover(tile const& t) const {
        index_t const hidden = keys.count(t.batch, t.head, t.key_begin, t.key_end);
        if (hidden == 0) return coverage::all;
        bool const own = except_itself && t.query_begin < t.key_end && t.key_begin < t.query_end;
        return hidden == t.key_end - t.key_begin && !own ? coverage::none : coverage::some;
    }
    coverage cover_unhidden(tile const& t) const { return !except_itself ? coverage::all : cover(t); }
    template <class Carrier>
    bound_sink_masked carried(Carrier& carrier) const {
        bound_sink_masked result = *this;
        result.keys = keys.carried(carrier);
        return result;
    }
    bool hides(head_site const& s, index_t key) const { return !except_itself && keys.contains(s.batch, s.head, key); }
};

} // namespace detail

/// Hides a set of keys, per batch entry and head, from every query; or, with `sink_masked::except_itself`, from every
/// query but the key's own. Keys hidden from all are not even packed: masking sinks makes attention faster.
class sink_masked {
public:
    /// Who still sees a hidden key: nobody, or its own query.
    enum class seen_by : std::uint8_t { nobody, itself };
    /// Says that a hidden key still sees itself.
    static constexpr seen_by except_itself = seen_by::itself;

    using bound = detail::bound_sink_masked;

    explicit sink_masked(key_set keys, seen_by who = seen_by::nobody)
        : keys_(static_cast<key_set&&>(keys)), who_(who) {}

    bound bind(shape_facts const& facts) const {
        if ((keys_.batch() != 1 && keys_.batch() < facts.batch) ||
            (keys_.heads() != 1 && keys_.heads() != facts.heads) || keys_.keys() < facts.keys) {
            detail::fail<shape_error>("sink_masked: the key_set has extents (", keys_.batch(), ", ", keys_.heads(),
                                      ", ", keys_.keys(), "), but the call needs (", facts.batch, ", ", facts.heads,
                                      ", ", facts.keys,
                                      "); an extent of 1 on batch or head is shared, and of_head(batch, head) "
                                      "gives the set of one head");
        }
        return {keys_.bits(), who_ == seen_by::itself};
    }
    bool visible(site const& s) const { return bound{keys_.bits(), who_ == seen_by::itself}.visible(s); }
    key_set const& keys() const { return keys_; }

private:
    key_set keys_;
    seen_by who_;
};

} // namespace basin
