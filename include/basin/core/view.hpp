// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include <basin/core/error.hpp>
#include <basin/core/site.hpp>

#include <cstddef>
#include <initializer_list>
#include <new>
#include <type_traits>
#include <utility>

namespace basin {

/// A fixed number of values; std::array would cost every includer <array>.
template <class T, std::size_t N>
struct tuple_of {
    /// The values themselves.
    T values[N] = {};
    constexpr T& operator[](std::size_t i) { return values[i]; }
    constexpr T const& operator[](std::size_t i) const { return values[i]; }
    friend constexpr bool operator==(tuple_of const&, tuple_of const&) = default;
};

/// An array that someone else owns: pointer, extents, strides (in elements). Trivially copyable, so that it can travel
/// to kernels and devices.
template <class T, std::size_t Rank>
class view {
public:
    using element_type = T;
    static constexpr std::size_t rank = Rank;

    view() = default;
    view(T* data, tuple_of<index_t, Rank> const& extents, tuple_of<std::ptrdiff_t, Rank> const& strides)
        : data_(data), extents_(extents), strides_(strides) {}
    /// Row-major: the last axis is contiguous.
    view(T* data, tuple_of<index_t, Rank> const& extents) : data_(data), extents_(extents) {
        std::ptrdiff_t step = 1;
        for (std::size_t i = Rank; i-- > 0;) {
            strides_[i] = step;
            step *= extents_[i];
        }
    }
    template <class U>
        requires(std::is_same_v<T, U const> && !std::is_const_v<U>)
    view(view<U, Rank> const& other) // NOLINT: reading is always allowed
        : data_(other.data()), extents_(other.extents()), strides_(other.strides()) {}

    T* data() const { return data_; }
    tuple_of<index_t, Rank> const& extents() const { return extents_; }
    /// By axis, in elements.
    tuple_of<std::ptrdiff_t, Rank> const& strides() const { return strides_; }
    index_t extent(std::size_t i) const { return extents_[i]; }
    std::ptrdiff_t stride(std::size_t i) const { return strides_[i]; }
    std::ptrdiff_t size() const {
        std::ptrdiff_t n = 1;
        for (std::size_t i = 0; i < Rank; ++i) n *= extents_[i];
        return n;
    }

    template <class... I>
        requires(sizeof...(I) == Rank)
    T& operator()(I... index) const {
        std::size_t axis = 0;
        std::ptrdiff_t offset = 0;
        ((offset += static_cast<std::ptrdiff_t>(index) * strides_[axis++]), ...);
        return data_[offset];
    }
    /// Of one axis, as a vector has it.
    T& operator[](std::size_t index) const
        requires(Rank == 1)
    {
        return (*this)(index);
    }

private:
    T* data_ = nullptr;
    tuple_of<index_t, Rank> extents_{};
    tuple_of<std::ptrdiff_t, Rank> strides_{};
};

/// The one owning array: row-major, zero-initialised, aligned to a cache line.
template <class T, std::size_t Rank>
class buffer {
    static_assert(std::is_trivially_copyable_v<T>, "a buffer holds plain numbers");

public:
    using element_type = T;
    static constexpr std::size_t rank = Rank;

    buffer() = default;
    template <class... I>
        requires(sizeof...(I) == Rank && (std::is_convertible_v<I, index_t> && ...))
    explicit buffer(I... extents) : buffer({static_cast<index_t>(extents)...}) {}
    explicit buffer(std::initializer_list<index_t> extents) {
        if (extents.size() != Rank)
            detail::fail<shape_error>("buffer: expected ", static_cast<int>(Rank), " extents, got ",
                                      static_cast<int>(extents.size()));
        std::size_t axis = 0;
        for (index_t const n : extents) {
            if (n < 0)
                detail::fail<shape_error>("buffer: extent of axis ", static_cast<int>(axis), " is ", n,
                                          "; extents are never negative");
            extents_[axis++] = n;
        }
        allocate();
    }
    explicit buffer(tuple_of<index_t, Rank> const& extents) : extents_(extents) { allocate(); }
    buffer(buffer const& other) : extents_(other.extents_) {
        allocate();
        for (std::ptrdiff_t i = 0; i < size(); ++i) data_[i] = other.data_[i];
    }
    buffer(buffer&& other) noexcept
        : data_(std::exchange(other.data_, nullptr)), extents_(std::exchange(other.extents_, {})) {}
    buffer& operator=(buffer other) noexcept {
        std::swap(data_, other.data_);
        std::swap(extents_, other.extents_);
        return *this;
    }
    ~buffer() { ::operator delete(static_cast<void*>(data_), std::align_val_t{alignment}); }

    T* data() { return data_; }
    T const* data() const { return data_; }
    tuple_of<index_t, Rank> const& extents() const { return extents_; }
    index_t extent(std::size_t i) const { return extents_[i]; }
    std::ptrdiff_t stride(std::size_t axis) const { return as_view(*this).stride(axis); }
    std::ptrdiff_t size() const { return as_view(*this).size(); }
    /// The elements in row-major order, as a range.
    T* begin() { return data_; }
    /// One past the last element.
    T* end() { return data_ + size(); }
    /// The elements in row-major order, as a range.
    T const* begin() const { return data_; }
    /// One past the last element.
    T const* end() const { return data_ + size(); }
    /// Makes every element equal to value.
    void fill(T value) {
        for (T& x : *this) x = value;
    }

    template <class... I>
        requires(sizeof...(I) == Rank)
    T& operator()(I... index) {
        return as_view(*this)(index...);
    }
    template <class... I>
        requires(sizeof...(I) == Rank)
    T const& operator()(I... index) const {
        return as_view(*this)(index...);
    }
    /// Of one axis, as a vector has it: what takes a list of numbers takes a buffer, too.
    T& operator[](std::size_t index)
        requires(Rank == 1)
    {
        return (*this)(index);
    }
    T const& operator[](std::size_t index) const
        requires(Rank == 1)
    {
        return (*this)(index);
    }

    operator view<T, Rank>() & { return {data_, extents_}; }            // NOLINT: a buffer is an array
    operator view<T const, Rank>() const& { return {data_, extents_}; } // NOLINT
    operator view<T const, Rank>() && = delete;                         // would dangle

private:
    static constexpr std::size_t alignment = 64;
    friend view<T, Rank> as_view(buffer& b) { return {b.data_, b.extents_}; }
    friend view<T const, Rank> as_view(buffer const& b) { return {b.data_, b.extents_}; }

    void allocate() {
        std::size_t n = 1;
        for (std::size_t i = 0; i < Rank; ++i) n *= static_cast<std::size_t>(extents_[i]);
        data_ = static_cast<T*>(::operator new((n == 0 ? 1 : n) * sizeof(T), std::align_val_t{alignment}));
        for (std::size_t i = 0; i < n; ++i) ::new (static_cast<void*>(data_ + i)) T{};
    }

    T* data_ = nullptr;
    tuple_of<index_t, Rank> extents_{};
};

} // namespace basin
