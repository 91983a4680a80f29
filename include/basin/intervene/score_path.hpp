// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include <basin/core/key_set.hpp>
#include <basin/core/policy.hpp>

// Interventions on scores and probabilities. `sink_masked` (policy/) hides keys; these fade them. Each is a policy: combine
// them with others by all_of.
namespace basin {
namespace detail {

inline key_set_view fitting(char const* name, key_set const& keys, shape_facts const& facts) {
    if ((keys.batch() != 1 && keys.batch() < facts.batch) || (keys.heads() != 1 && keys.heads() != facts.heads) ||
        keys.keys() < facts.keys) {
        fail<shape_error>(name, ": the key_set has extents (", keys.batch(), ", ", keys.heads(), ", ", keys.keys(),
                          "), but the call needs (", facts.batch, ", ", facts.heads, ", ", facts.keys,
                          "); an extent of 1 on batch or head is shared");
    }
    return keys.bits();
}

// What kernels take of the policies below. No classes of theirs: kernels are named after their types, and SYCL names kernels
// only by what can be declared ahead.
struct bound_probability_scaled {
    key_set_view keys;
    /// What probabilities of the keys are multiplied by.
    double factor;
    template <class X>
    X weight(X p, site const& s) const {
        return keys.contains(s.batch, s.head, s.key) ? p * static_cast<X>(factor) : p;
    }
    template <class Carrier>
    bound_probability_scaled carried(Carrier& carrier) const {
        bound_probability_scaled result = *this;
        result.keys = keys.carried(carrier);
        return result;
    }
};

struct bound_probability_faded {
    /// What the probabilities of each key are multiplied by.
    view<double const, 3> factors;
    template <class X>
    X weight(X p, site const& s) const {
        return p * static_cast<X>(
                       factors(factors.extent(0) == 1 ? 0 : s.batch, factors.extent(1) == 1 ? 0 : s.head, s.key));
    }
    template <class Carrier>
    bound_probability_faded carried(Carrier& carrier) const {
        bound_probability_faded result = *this;
        result.factors = carrier(factors);
        return result;
    }
};

struct bound_logit_added {
    key_set_view keys;
    /// What is added to the scores of the keys.
    double amount;
    template <class X>
    X score(X x, site const& s) const {
        return keys.contains(s.batch, s.head, s.key) ? x + X(amount_in<X>()) : x;
    }
    template <class Carrier>
    bound_logit_added carried(Carrier& carrier) const {
        bound_logit_added result = *this;
        result.keys = keys.carried(carrier);
        return result;
    }

private:
    template <class X>
    auto amount_in() const {
        if constexpr (std::is_floating_point_v<X>)
            return static_cast<X>(amount);
        else
            return amount;
    }
};

} // namespace detail

/// Multiplies the probability of the keys of a set after the softmax. What is taken away goes nowhere: the other keys keep
/// what they had, unlike under a mask. Statistics see the probabilities before this.
class probability_scaled {
public:
    using bound = detail::bound_probability_scaled;
    probability_scaled(key_set keys, double factor) : keys_(static_cast<key_set&&>(keys)), factor_(factor) {
        if (!(factor >= 0) || factor == math::infinity<double>)
            detail::fail<argument_error>("probability_scaled: a factor of ", factor);
    }
    bound bind(shape_facts const& facts) const {
        return {detail::fitting("probability_scaled", keys_, facts), factor_};
    }
    template <class X>
    X weight(X p, site const& s) const {
        return bound{keys_.bits(), factor_}.weight(p, s);
    }

private:
    key_set keys_;
    double factor_;
};

/// The same with a factor for each key, (batch, head, key), where 1 on batch or head is shared: one minus soft_weights fades
/// each key by how much of a sink it is.
class probability_faded {
public:
    using bound = detail::bound_probability_faded;
    explicit probability_faded(buffer<double, 3> factors) : factors_(static_cast<buffer<double, 3>&&>(factors)) {
        for (double const f : factors_) {
            if (!(f >= 0) || f == math::infinity<double>)
                detail::fail<argument_error>("probability_faded: a factor of ", f);
        }
    }
    bound bind(shape_facts const& facts) const {
        auto const fits = [](index_t have, index_t need) { return have == 1 || have >= need; };
        if (!fits(factors_.extent(0), facts.batch) || !fits(factors_.extent(1), facts.heads) ||
            factors_.extent(2) < facts.keys) {
            detail::fail<shape_error>("probability_faded: extents are (", factors_.extent(0), ", ", factors_.extent(1),
                                      ", ", factors_.extent(2), "), but the call needs (", facts.batch, ", ",
                                      facts.heads, ", ", facts.keys, ")");
        }
        return {factors_};
    }
    template <class X>
    X weight(X p, site const& s) const {
        return bound{factors_}.weight(p, s);
    }

private:
    buffer<double, 3> factors_;
};

/// Adds to the logit of the keys of a set, before the softmax: mass moves between them and the others.
class logit_added {
public:
    using bound = detail::bound_logit_added;
    logit_added(key_set keys, double amount) : keys_(static_cast<key_set&&>(keys)), amount_(amount) {
        if (amount != amount || amount == math::infinity<double>)
            detail::fail<argument_error>("logit_added: an amount of ", amount);
    }
    bound bind(shape_facts const& facts) const { return make(detail::fitting("logit_added", keys_, facts)); }
    template <class X>
    X score(X x, site const& s) const {
        return make(keys_.bits()).score(x, s);
    }

private:
    bound make(key_set_view bits) const {
        bound b{};
        b.keys = bits;
        b.amount = amount_;
        return b;
    }
    key_set keys_;
    double amount_;
};

} // namespace basin
