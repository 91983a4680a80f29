// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include <basin/core/layout.hpp>
#include <basin/intervene/random.hpp>
#include <basin/intervene/score_path.hpp>

// Interventions on what sinks carry: the probabilities stay as they are. Each is a policy.
namespace basin {
namespace detail {

// What kernels take of the policies below. No classes of theirs: kernels are named after their types, and SYCL names kernels
// only by what can be declared ahead.
struct bound_value_replaced {
    key_set_view keys;
    /// The value that is put in place of the keys' own.
    view<double const, 3> target; // (batch or 1, heads of some group, channel)
    /// How many query heads share a head of `target`.
    index_t group;
    /// How much of the value is replaced: 0 nothing, 1 all.
    double part;

    template <class X>
    X value(X x, value_site const& s) const {
        if (!keys.contains(s.batch, s.head, s.key)) return x;
        X const aim = target.data() == nullptr
                          ? X(0)
                          : static_cast<X>(target(target.extent(0) == 1 ? 0 : s.batch, s.head / group, s.channel));
        return part == 1 ? aim : x + static_cast<X>(part) * (aim - x);
    }
    template <class Carrier>
    bound_value_replaced carried(Carrier& carrier) const {
        bound_value_replaced result = *this;
        result.keys = keys.carried(carrier);
        if (target.data() != nullptr) result.target = carrier(target);
        return result;
    }
};

struct bound_value_noised {
    key_set_view keys;
    /// The standard deviation of the noise.
    double deviation;
    /// Noise that depends on seed and place alone.
    counter_random random;
    template <class X>
    X value(X x, value_site const& s) const {
        if (!keys.contains(s.batch, s.head, s.key)) return x;
        return x + static_cast<X>(deviation * random.normal(s.batch, s.head, s.key, s.channel));
    }
    template <class Carrier>
    bound_value_noised carried(Carrier& carrier) const {
        bound_value_noised result = *this;
        result.keys = keys.carried(carrier);
        return result;
    }
};

} // namespace detail

/// The mean value of each head, (batch, head, channel), over all keys or over those that are not in `except`: what "mean" puts
/// in place of a sink. With a set per query head the result has as many heads as the set.
template <class V>
buffer<double, 3> mean_values(V&& values, key_set const& except = {}, counts const& lengths = {}) {
    auto const v = detail::lift_tensor(detail::describe(values, "v"), "v");
    bool const all = except.keys() == 0;
    index_t const heads = all ? v.extent(1) : math::max(v.extent(1), except.heads());
    detail::check_lengths(lengths, "lengths", v.extent(0), v.extent(2));
    if (!all && ((except.batch() != 1 && except.batch() != v.extent(0)) || except.keys() < v.extent(2) ||
                 (v.extent(1) != 0 && heads % v.extent(1) != 0) || (except.heads() != 1 && except.heads() != heads))) {
        detail::fail<shape_error>("mean_values: the key_set has extents (", except.batch(), ", ", except.heads(), ", ",
                                  except.keys(), "), v has (", v.extent(0), ", ", v.extent(1), ", ", v.extent(2), ")");
    }
    buffer<double, 3> result(v.extent(0), heads, v.extent(3));
    for (index_t b = 0; b < v.extent(0); ++b)
        for (index_t h = 0; h < heads; ++h) {
            index_t counted = 0;
            for (index_t key = 0; key < (lengths.given() ? lengths[b] : v.extent(2)); ++key) {
                if (!all && except.bits().contains(b, h, key)) continue;
                ++counted;
                for (index_t c = 0; c < v.extent(3); ++c)
                    result(b, h, c) += static_cast<double>(v(b, h / (heads / v.extent(1)), key, c));
            }
            if (counted == 0)
                detail::fail<argument_error>("mean_values: no key is left in batch entry ", b, ", head ", h);
            for (index_t c = 0; c < v.extent(3); ++c) result(b, h, c) /= counted;
        }
    return result;
}

/// Moves the values of a set towards a target: all the way by default, or by a part of it (interpolation). Without a
/// target, towards zero. A value that is replaced leaves no trace, not even NaN.
class value_replaced {
public:
    using bound = detail::bound_value_replaced;

    /// Zero.
    explicit value_replaced(key_set keys) : keys_(static_cast<key_set&&>(keys)) {}
    /// The mean (or whatever else is given), or something between it and the value itself.
    value_replaced(key_set keys, buffer<double, 3> target, double part = 1)
        : keys_(static_cast<key_set&&>(keys)), target_(static_cast<buffer<double, 3>&&>(target)), aimed_(true),
          part_(part) {
        if (!(part >= 0 && part <= 1))
            detail::fail<argument_error>("value_replaced: a part of ", part, "; it is in [0, 1]");
    }

    bound bind(shape_facts const& facts) const {
        auto const bits = detail::fitting("value_replaced", keys_, facts);
        if (!aimed_) return {bits, {}, 1, part_};
        bool const batch = target_.extent(0) == 1 || target_.extent(0) >= facts.batch;
        if (!batch || target_.extent(1) == 0 || facts.heads % target_.extent(1) != 0 ||
            target_.extent(2) != facts.value_channels) {
            detail::fail<shape_error>("value_replaced: the target has extents (", target_.extent(0), ", ",
                                      target_.extent(1), ", ", target_.extent(2), "), but the call needs (",
                                      facts.batch, ", a divisor of ", facts.heads, ", ", facts.value_channels, ")");
        }
        return {bits, target_, facts.heads / target_.extent(1), part_};
    }
    template <class X>
    X value(X x, value_site const& s) const { // unbound: the target's heads are taken for query heads
        return bound{keys_.bits(), aimed_ ? view<double const, 3>(target_) : view<double const, 3>{}, 1, part_}.value(
            x, s);
    }

private:
    key_set keys_;
    buffer<double, 3> target_{0, 0, 0};
    bool aimed_ = false;
    double part_ = 1;
};

/// Adds normal noise to the values of a set; after value_replaced it is noise instead of the value. The noise belongs to
/// (batch, head, key, channel): every query reads the same.
class value_noised {
public:
    using bound = detail::bound_value_noised;
    value_noised(key_set keys, double deviation, std::uint64_t seed)
        : keys_(static_cast<key_set&&>(keys)), deviation_(deviation), random_{seed} {
        if (!(deviation >= 0) || deviation == math::infinity<double>)
            detail::fail<argument_error>("value_noised: a deviation of ", deviation);
    }
    bound bind(shape_facts const& facts) const {
        return {detail::fitting("value_noised", keys_, facts), deviation_, random_};
    }
    template <class X>
    X value(X x, value_site const& s) const {
        return bound{keys_.bits(), deviation_, random_}.value(x, s);
    }

private:
    key_set keys_;
    double deviation_;
    counter_random random_;
};

} // namespace basin
