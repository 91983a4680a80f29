// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include <basin/basin.hpp>
#include <support/random.hpp>

#include <cstring>
#include <vector>

namespace basin_test {

using basin::index_t;

/// How an array (batch, head, token, channel) lies in memory.
enum class memory { dense, token_major, gaps, transposed };

/// An array of rank 4 with known strides. What lies between its elements, before and after them holds a pattern that is NaN as
/// a number: whoever reads it is seen in the result, whoever writes it is seen by `intact`.
template <class T>
class array {
public:
    array(index_t b, index_t h, index_t t, index_t c, memory kind = memory::dense) {
        basin::tuple_of<index_t, 4> const extents{{b, h, t, c}};
        basin::tuple_of<std::ptrdiff_t, 4> strides{};
        auto const order = [&](std::size_t a0, std::size_t a1, std::size_t a2, std::size_t a3, std::ptrdiff_t step,
                               std::ptrdiff_t pad) {
            for (std::size_t const axis : {a0, a1, a2, a3}) {
                strides[axis] = step;
                step = step * extents[axis] + pad;
            }
            return step;
        };
        std::ptrdiff_t size = 0;
        switch (kind) {
        case memory::dense:
            size = order(3, 2, 1, 0, 1, 0);
            break;
        case memory::token_major:
            size = order(3, 1, 2, 0, 1, 0);
            break;
        case memory::gaps:
            size = order(3, 2, 1, 0, 2, 3);
            break;
        case memory::transposed:
            size = order(2, 3, 1, 0, 1, 1);
            break;
        }
        memory_.resize(static_cast<std::size_t>(size) + 2 * margin);
        std::memset(static_cast<void*>(memory_.data()), 0xff, memory_.size() * sizeof(T));
        view_ = {memory_.data() + margin, extents, strides};
    }
    array(array const&) = delete;
    array& operator=(array const&) = delete;

    basin::view<T, 4> view() const { return view_; }
    /// Without the third axis, as statistics are given: (batch, head, token).
    basin::view<T, 3> flat() const {
        return {view_.data(),
                {{view_.extent(0), view_.extent(1), view_.extent(3)}},
                {{view_.stride(0), view_.stride(1), view_.stride(3)}}};
    }
    T& operator()(index_t b, index_t h, index_t t, index_t c) const { return view_(b, h, t, c); }

    template <class F>
    void for_each(F&& f) const {
        for (index_t b = 0; b < view_.extent(0); ++b)
            for (index_t h = 0; h < view_.extent(1); ++h)
                for (index_t t = 0; t < view_.extent(2); ++t)
                    for (index_t c = 0; c < view_.extent(3); ++c) f(view_(b, h, t, c));
    }
    void fill_random(random_numbers r, double low, double high) const {
        for_each([&](T& x) { x = make(r.uniform(low, high)); });
    }
    void fill(double value) const {
        for_each([&](T& x) { x = make(value); });
    }
    static T make(double x) {
        if constexpr (sizeof(T) == 2)
            return T(static_cast<float>(x));
        else
            return static_cast<T>(x);
    }
    std::vector<double> numbers() const {
        std::vector<double> result;
        for_each([&](T const& x) { result.push_back(static_cast<double>(x)); });
        return result;
    }
    /// Whether only elements were written, nothing between them.
    bool intact() const {
        std::vector<bool> mine(memory_.size(), false);
        for_each([&](T& x) { mine[static_cast<std::size_t>(&x - memory_.data())] = true; });
        for (std::size_t i = 0; i < memory_.size(); ++i) {
            unsigned char raw[sizeof(T)];
            std::memcpy(raw, &memory_[i], sizeof(T));
            for (unsigned char const byte : raw)
                if (!mine[i] && byte != 0xff) return false;
        }
        return true;
    }
    /// Whether nothing was written since construction or blank().
    bool untouched() const {
        for (T const& x : memory_) {
            unsigned char raw[sizeof(T)];
            std::memcpy(raw, &x, sizeof(T));
            for (unsigned char const byte : raw)
                if (byte != 0xff) return false;
        }
        return true;
    }
    void blank() { std::memset(static_cast<void*>(memory_.data()), 0xff, memory_.size() * sizeof(T)); }

private:
    static constexpr std::size_t margin = 16;
    std::vector<T> memory_;
    basin::view<T, 4> view_;
};

/// The bits of an array, for comparisons that allow no rounding.
template <class T>
std::vector<unsigned char> bytes_of(array<T> const& x) {
    std::vector<unsigned char> result;
    x.for_each([&](T const& element) {
        unsigned char raw[sizeof(T)];
        std::memcpy(raw, &element, sizeof(T));
        result.insert(result.end(), raw, raw + sizeof(T));
    });
    return result;
}

} // namespace basin_test
