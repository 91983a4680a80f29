// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include <basin/basin.hpp>
#if defined(BASIN_TEST_EIGEN) && __has_include(<basin/backend/eigen.hpp>)
#include <basin/backend/eigen.hpp>
#define BASIN_TEST_EIGEN_BACKEND 1
#endif
#if defined(BASIN_TEST_SIMD) && __has_include(<basin/backend/simd.hpp>)
#include <basin/backend/simd.hpp>
#define BASIN_TEST_SIMD_BACKEND 1
#endif

#if defined(BASIN_TEST_SYCL)
#include <basin/backend/sycl.hpp>
#endif

// The backends and scalars that the suite runs on: a new backend is one line here.
namespace basin_test {

template <class... T>
struct list {};

namespace detail {
template <class... A>
struct joined {
    using type = list<A...>;
};
template <class... A, class... B, class... Rest>
struct joined<list<A...>, list<B...>, Rest...> : joined<list<A..., B...>, Rest...> {};
template <class... A>
struct joined<list<A...>> {
    using type = list<A...>;
};
} // namespace detail

#if defined(BASIN_TEST_SYCL)
// Programs that a SYCL compiler makes: its two kernels, one on arrays in place, the other on copies of them.
inline basin::sycl_queue const& sycl_queue() {
    static basin::sycl_queue const queue;
    return queue;
}
struct sycl_coarse : basin::sycl_backend {
    sycl_coarse() : sycl_backend{.queue = sycl_queue(), .kernel = basin::sycl_kernel::coarse} {}
};
struct sycl_tile : basin::sycl_backend {
    sycl_tile()
        : sycl_backend{.queue = sycl_queue(), .kernel = basin::sycl_kernel::tile, .host = basin::host_arrays::copied} {}
};
using backends = list<sycl_coarse, sycl_tile>;
#else
using backends = detail::joined<list<basin::reference_backend>
#if defined(BASIN_TEST_EIGEN_BACKEND)
                                ,
                                list<basin::eigen_backend>
#endif
#if defined(BASIN_TEST_SIMD_BACKEND)
                                ,
                                list<basin::simd_backend>
#endif
                                >::type;
#endif

template <class Backend>
inline constexpr char const* name_of = "a backend";
template <>
inline constexpr char const* name_of<basin::reference_backend> = "reference_backend";
#if defined(BASIN_TEST_EIGEN_BACKEND)
template <>
inline constexpr char const* name_of<basin::eigen_backend> = "eigen_backend";
#endif
#if defined(BASIN_TEST_SIMD_BACKEND)
template <>
inline constexpr char const* name_of<basin::simd_backend> = "simd_backend";
#endif
#if defined(BASIN_TEST_SYCL)
template <>
inline constexpr char const* name_of<sycl_coarse> = "sycl_backend, coarse kernel";
template <>
inline constexpr char const* name_of<sycl_tile> = "sycl_backend, tile kernel";
#endif
template <>
inline constexpr char const* name_of<float> = "float";
template <>
inline constexpr char const* name_of<double> = "double";
template <>
inline constexpr char const* name_of<basin::half> = "half";
template <>
inline constexpr char const* name_of<basin::bfloat16> = "bfloat16";

template <class... B, class F>
void for_each_type(list<B...>, F&& f) {
    (f.template operator()<B>(), ...);
}

/// f.operator()<Backend>() for every backend.
template <class F>
void for_each_backend(F&& f) {
    for_each_type(backends{}, f);
}

using scalars = list<float, double, basin::half, basin::bfloat16>;
/// Where the scalar multiplies a long list of policies, sanitizers and extra compilers look at fewer of them.
#if defined(BASIN_TEST_REDUCED) && BASIN_TEST_REDUCED
using policy_scalars = list<float, basin::half>;
#else
using policy_scalars = scalars;
#endif

} // namespace basin_test
