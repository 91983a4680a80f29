// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include <basin/core/scalar.hpp>
#include <basin/core/view.hpp>

#include <concepts>

// Foreign arrays are recognised by their shape, never by their include: whoever uses Eigen, xtensor or mdspan has
// included it already, and whoever does not should not pay for it.
namespace basin {

/// The order or meaning of axes, said by the caller where the rank alone does not say it.
enum class naming : std::uint8_t { none, heads, batches, bthc };

namespace detail {

inline constexpr std::size_t max_rank = 4;

/// What every array becomes first: a view whose rank is known at run time. `T` is the storage scalar.
template <class T>
struct strided {
    T* data = nullptr;
    int rank = 0;
    index_t extents[max_rank] = {};
    std::ptrdiff_t strides[max_rank] = {};
    naming named = naming::none;
};

template <class T>
struct named_array {
    strided<T> array;
};

template <class X>
concept mdspan_like = requires(X const& x) {
    x.data_handle();
    x.extent(0);
    x.stride(0);
    { X::rank() } -> std::convertible_to<std::size_t>;
};
template <class X>
concept view_like = requires(X const& x) {
    x.data();
    x.extent(std::size_t{0});
    x.stride(std::size_t{0});
    { X::rank } -> std::convertible_to<std::size_t>;
};
template <class X>
concept xtensor_like = requires(X& x) {
    x.data();
    x.shape();
    x.strides();
    x.dimension();
    x.data_offset();
};
template <class X>
concept eigen_like = requires(X& x) {
    x.data();
    x.rows();
    x.cols();
    x.innerStride();
    x.outerStride();
    { X::IsRowMajor } -> std::convertible_to<bool>;
};
/// Has the look of a matrix but no memory: a sum, a product, a cast.
template <class X>
concept eigen_expression = requires(X& x) {
    x.rows();
    x.cols();
    x.eval();
} && !eigen_like<X>;
template <class X>
concept range_like = requires(X& x) {
    x.data();
    x.size();
    x[0];
} && !xtensor_like<X> && !eigen_like<X> && !view_like<X>;

template <class X>
inline constexpr bool is_named = false;
template <class T>
inline constexpr bool is_named<named_array<T>> = true;
template <class X>
inline constexpr bool is_view = false;
template <class T, std::size_t R>
inline constexpr bool is_view<view<T, R>> = true;

template <class X>
concept array_like = is_named<X> || mdspan_like<X> || view_like<X> || xtensor_like<X> || eigen_like<X> || range_like<X>;

// Reading Eigen::half as half needs the storage type; const stays const.
template <class T>
using stored = std::conditional_t<std::is_const_v<T>, typename scalar_traits<std::remove_const_t<T>>::storage const,
                                  typename scalar_traits<std::remove_const_t<T>>::storage>;

template <class T>
auto storage_pointer(T* data) {
    if constexpr (scalar<T>) {
        if constexpr (std::is_same_v<stored<T>, T>)
            return data;
        else
            return reinterpret_cast<stored<T>*>(data); // half and bfloat16 are may_alias
    } else
        return data;
}

inline index_t checked_extent(long long n, char const* argument) {
    if (n < 0 || n > 0x7fffffffLL) fail<shape_error>(argument, ": an extent of ", n, " is beyond what index_t counts");
    return static_cast<index_t>(n);
}

/// The array of an argument. `argument` is its name in error messages.
template <class X>
auto describe(X& x, char const* argument) {
    using U = std::remove_const_t<X>;
    static_assert(
        !eigen_expression<U>,
        "basin: this Eigen expression has no memory of its own: call .eval() and keep the result in a variable");
    static_assert(eigen_expression<U> || array_like<U>,
                  "basin: expected an array: basin::view or buffer, Eigen, xtensor, something like mdspan, or (rank 1) "
                  "a contiguous range");
    if constexpr (is_named<U>) {
        return x.array;
    } else if constexpr (mdspan_like<U>) {
        strided<std::remove_pointer_t<decltype(storage_pointer(x.data_handle()))>> result;
        static_assert(U::rank() <= max_rank, "basin: an array has at most 4 axes");
        result.data = storage_pointer(x.data_handle());
        result.rank = static_cast<int>(U::rank());
        for (std::size_t i = 0; i < U::rank(); ++i) {
            result.extents[i] = checked_extent(static_cast<long long>(x.extent(i)), argument);
            result.strides[i] = static_cast<std::ptrdiff_t>(x.stride(i));
        }
        return result;
    } else if constexpr (view_like<U>) {
        strided<std::remove_pointer_t<decltype(storage_pointer(x.data()))>> result;
        static_assert(U::rank <= max_rank, "basin: an array has at most 4 axes");
        result.data = storage_pointer(x.data());
        result.rank = static_cast<int>(U::rank);
        for (std::size_t i = 0; i < U::rank; ++i) {
            result.extents[i] = x.extent(i);
            result.strides[i] = x.stride(i);
        }
        return result;
    } else if constexpr (xtensor_like<U>) {
        strided<std::remove_pointer_t<decltype(storage_pointer(x.data()))>> result;
        if (x.dimension() > max_rank)
            fail<shape_error>(argument, ": an array has at most 4 axes, this one has ",
                              static_cast<int>(x.dimension()));
        result.data = storage_pointer(x.data()) + x.data_offset();
        result.rank = static_cast<int>(x.dimension());
        for (std::size_t i = 0; i < x.dimension();
             ++i) { // an axis of extent 1 has stride 0, which is harmless: it is never stepped
            result.extents[i] = checked_extent(static_cast<long long>(x.shape()[i]), argument);
            result.strides[i] = static_cast<std::ptrdiff_t>(x.strides()[i]);
        }
        return result;
    } else if constexpr (eigen_like<U>) {
        strided<std::remove_pointer_t<decltype(storage_pointer(x.data()))>> result;
        result.data = storage_pointer(x.data());
        auto const inner = static_cast<std::ptrdiff_t>(x.innerStride());
        auto const outer = static_cast<std::ptrdiff_t>(x.outerStride());
        if constexpr (U::ColsAtCompileTime == 1 || U::RowsAtCompileTime == 1) { // an Eigen vector
            result.rank = 1;
            result.extents[0] = checked_extent(static_cast<long long>(x.size()), argument);
            result.strides[0] = inner;
        } else {
            result.rank = 2;
            result.extents[0] = checked_extent(static_cast<long long>(x.rows()), argument);
            result.extents[1] = checked_extent(static_cast<long long>(x.cols()), argument);
            result.strides[0] = U::IsRowMajor ? outer : inner;
            result.strides[1] = U::IsRowMajor ? inner : outer;
        }
        return result;
    } else if constexpr (range_like<U>) {
        strided<std::remove_pointer_t<decltype(storage_pointer(x.data()))>> result;
        result.data = storage_pointer(x.data());
        result.rank = 1;
        result.extents[0] = checked_extent(static_cast<long long>(x.size()), argument);
        result.strides[0] = 1;
        return result;
    } else {
        return strided<float>{}; // the static_assert above has spoken
    }
}

template <class X>
using element_of = std::remove_pointer_t<decltype(describe(std::declval<std::remove_reference_t<X>&>(), "").data)>;

/// Types that own nothing: writing through a temporary of them reaches memory that lives on.
template <class U>
concept borrows = is_view<U> || is_named<U> || mdspan_like<U> || requires(U& x) { x.subspan(0); } ||
                  (eigen_like<U> && !requires(U& x) { x.conservativeResize(1, 1); }) ||
                  (xtensor_like<U> && !requires(U& x) { x.resize(x.shape()); });

/// An array that lives on after the call.
template <class X>
concept outlives_call = std::is_lvalue_reference_v<X> || borrows<std::remove_cvref_t<X>>;

template <class X>
auto name(X&& x, naming n, char const* function) {
    static_assert(outlives_call<X>,
                  "basin: heads(), batches() and bthc() borrow: give them a named array, not a temporary");
    auto array = describe(x, function);
    array.named = n;
    return named_array<std::remove_pointer_t<decltype(array.data)>>{array};
}

} // namespace detail

/// The scalar of an array, for deduction guides of one's own statistics.
template <class Array>
using element_t = detail::element_of<Array>;

/// The first axis counts heads: (head, token, channel), or (head, token) for a statistic.
template <class X>
auto heads(X&& x) {
    return detail::name(static_cast<X&&>(x), naming::heads, "heads");
}
/// The first axis counts batch entries: (batch, token, channel), or (batch, token) for a statistic.
template <class X>
auto batches(X&& x) {
    return detail::name(static_cast<X&&>(x), naming::batches, "batches");
}
/// The other common order, (batch, token, head, channel). It would pass every check of extents with wrong results.
template <class X>
auto bthc(X&& x) {
    return detail::name(static_cast<X&&>(x), naming::bthc, "bthc");
}

} // namespace basin
