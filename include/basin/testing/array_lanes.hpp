// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include <basin/core/lanes.hpp>

namespace basin::testing {

/// Lanes as a plain array: what a SIMD batch does, spelled out, so that a policy's lanes are tested without any SIMD library.
template <class T, int N>
struct array_of {
    T at[N];

    template <class F>
    static array_of make(F const& f) {
        array_of result;
        for (int i = 0; i < N; ++i) result.at[i] = f(i);
        return result;
    }
    friend array_of operator+(array_of a, array_of b) {
        return make([&](int i) { return T(a.at[i] + b.at[i]); });
    }
    friend array_of operator-(array_of a, array_of b) {
        return make([&](int i) { return T(a.at[i] - b.at[i]); });
    }
    friend array_of operator*(array_of a, array_of b) {
        return make([&](int i) { return T(a.at[i] * b.at[i]); });
    }
    friend array_of operator/(array_of a, array_of b) {
        return make([&](int i) { return T(a.at[i] / b.at[i]); });
    }
    friend array_of operator&(array_of a, array_of b) {
        return make([&](int i) { return T(a.at[i] & b.at[i]); });
    }
    friend array_of operator|(array_of a, array_of b) {
        return make([&](int i) { return T(a.at[i] | b.at[i]); });
    }
    friend array_of operator^(array_of a, array_of b) {
        return make([&](int i) { return T(a.at[i] ^ b.at[i]); });
    }
    friend array_of operator-(array_of a) {
        return make([&](int i) { return T(-a.at[i]); });
    }
    friend array_of operator~(array_of a) // of a mask
        requires std::same_as<T, bool>
    {
        return make([&](int i) { return !a.at[i]; });
    }
    using answers = array_of<bool, N>;
    friend answers operator<(array_of a, array_of b) {
        return answers::make([&](int i) { return a.at[i] < b.at[i]; });
    }
    friend answers operator<=(array_of a, array_of b) {
        return answers::make([&](int i) { return a.at[i] <= b.at[i]; });
    }
    friend answers operator==(array_of a, array_of b) {
        return answers::make([&](int i) { return a.at[i] == b.at[i]; });
    }
    friend answers operator!=(array_of a, array_of b) {
        return answers::make([&](int i) { return a.at[i] != b.at[i]; });
    }
};

/// The family of lanes (see core/lanes.hpp) whose batches are plain arrays.
template <class T, int N>
struct array_family {
    using number_type = T;
    using number = array_of<T, N>;
    using index = array_of<index_t, N>;
    using mask = array_of<bool, N>;
    static constexpr int width = N;

    static number broadcast(T x) {
        return number::make([&](int) { return x; });
    }
    static index broadcast(index_t x) {
        return index::make([&](int) { return x; });
    }
    static mask all(bool x) {
        return mask::make([&](int) { return x; });
    }
    static mask as_mask(mask x) { return x; }
    static index_t first(index x) { return x.at[0]; }
    template <class F>
    static index each(index a, index b, F const& f) {
        return index::make([&](int i) { return f(a.at[i], b.at[i]); });
    }
    template <class F>
    static mask mask_of(index query, index key, F const& f) {
        return mask::make([&](int i) { return f(query.at[i], key.at[i]); });
    }
    template <class F>
    static number number_of(number x, index query, index key, F const& f) {
        return number::make([&](int i) { return f(x.at[i], query.at[i], key.at[i]); });
    }
    static number exp(number x) {
        return number::make([&](int i) { return math::exp(x.at[i]); });
    }
    static number log(number x) {
        return number::make([&](int i) { return math::log(x.at[i]); });
    }
    static number tanh(number x) {
        return number::make([&](int i) { return math::tanh(x.at[i]); });
    }
    static number sqrt(number x) {
        return number::make([&](int i) { return math::sqrt(x.at[i]); });
    }
    template <class U>
    static array_of<U, N> abs(array_of<U, N> x) {
        return array_of<U, N>::make([&](int i) { return math::abs(x.at[i]); });
    }
    static number select(mask condition, number yes, number no) {
        return number::make([&](int i) { return condition.at[i] ? yes.at[i] : no.at[i]; });
    }
    static number to_number(index x) {
        return number::make([&](int i) { return static_cast<T>(x.at[i]); });
    }
    static mask bits(std::uint64_t const* words, index at) {
        return mask::make([&](int i) { return math::lookup_bit(words, at.at[i]); });
    }
    template <class U>
    static number gather(U const* base, std::ptrdiff_t stride, index at) {
        return number::make([&](int i) { return static_cast<T>(base[at.at[i] * stride]); });
    }
};

} // namespace basin::testing
