// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include <sycl/sycl.hpp>

#include <cstddef>

namespace basin_test {

/// An array in USM memory.
template <class T>
struct on_device {
    sycl::queue queue;
    T* data;
    std::size_t count;
    on_device(sycl::queue const& q, std::ptrdiff_t n, sycl::usm::alloc kind)
        : queue(q), data(static_cast<T*>(sycl::malloc(static_cast<std::size_t>(n) * sizeof(T), q, kind))),
          count(static_cast<std::size_t>(n)) {}
    on_device(on_device const&) = delete;
    on_device& operator=(on_device const&) = delete;
    ~on_device() { sycl::free(data, queue); }
    void read(T const* from) { queue.memcpy(data, from, count * sizeof(T)).wait(); }
    void write(T* to) { queue.memcpy(to, data, count * sizeof(T)).wait(); }
};

} // namespace basin_test
