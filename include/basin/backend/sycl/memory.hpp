// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include <basin/backend/sycl/queue.hpp>
#include <basin/core/view.hpp>

#include <exception>
#include <functional>
#include <vector>

namespace basin::detail::device {

/// What a call must know of a device before it starts.
struct device_facts {
    std::string name;
    bool has_double;
    std::size_t local_memory;

    static device_facts of(sycl::queue const& queue) {
        sycl::device const device = queue.get_device();
        return {device.get_info<sycl::info::device::name>(), device.has(sycl::aspect::fp64),
                static_cast<std::size_t>(device.get_info<sycl::info::device::local_mem_size>())};
    }
};

/// Refuses what a device cannot do. `local_memory`: the bytes that a work-group needs.
inline void check_device(device_facts const& d, bool in_double, std::size_t local_memory) {
    if (in_double && !d.has_double)
        fail<backend_error>("sycl_backend: ", d.name.c_str(),
                            " has no double precision (aspect fp64): use float arrays, or another device");
    if (d.local_memory < local_memory)
        fail<backend_error>("sycl_backend: ", d.name.c_str(), " has ", static_cast<long long>(d.local_memory),
                            " bytes of local memory, but the tile kernel needs ", static_cast<long long>(local_memory),
                            "; say .kernel = basin::sycl_kernel::coarse");
}

/// Whether the device reads what lies in ordinary memory of the host.
inline bool reads_the_host(sycl::queue const& queue) {
    return queue.get_device().has(sycl::aspect::usm_system_allocations);
}

/// What one call keeps on the device, and what it must bring back. Everything is freed when it ends.
class call_memory {
public:
    /// copies: arrays in the host's own memory are copied even where the device could read them. after: what must have
    /// happened before an array is read.
    call_memory(sycl_queue const& queue, bool copies, std::vector<sycl::event> const& after)
        : queue_(queue), copies_(copies), reads_all_(!copies && reads_the_host(queue)), after_(after) {}
    call_memory(call_memory const&) = delete;
    call_memory& operator=(call_memory const&) = delete;
    ~call_memory() {
        if (std::uncaught_exceptions() > begun_) wait_at_last();
        for (void* const p : owned_) sycl::free(p, queue_);
    }

    sycl_queue const& queue() const { return queue_; }

    template <class T>
    T* take(std::ptrdiff_t count) {
        std::size_t const bytes = static_cast<std::size_t>(count > 0 ? count : 1) * sizeof(T);
        void* const p = in_words(queue_, "an allocation", [&] { return sycl::malloc_device(bytes, queue_); });
        if (p == nullptr) {
            std::string const name = queue_.get_device().get_info<sycl::info::device::name>();
            fail<backend_error>("sycl_backend: ", name.c_str(), " has no room for ", static_cast<long long>(bytes),
                                " bytes; give a smaller batch, or a device with more memory");
        }
        owned_.push_back(p);
        return static_cast<T*>(p);
    }

    /// A list or table of a policy, or of the layout, where the device can read it: a carrier, see facet::carried.
    template <class T>
    T const* operator()(T const* p, std::ptrdiff_t count) {
        if (in_place(p)) return p;
        await();
        T* const there = take<T>(count);
        queue_.memcpy(there, p, static_cast<std::size_t>(count) * sizeof(T)).wait();
        return there;
    }
    template <class T, std::size_t R>
    view<T const, R> operator()(view<T const, R> const& x) {
        if (in_place(x.data())) return x;
        await();
        std::vector<T> dense(static_cast<std::size_t>(x.size()));
        std::size_t n = 0;
        each_element(x, [&](T const& y) { dense[n++] = y; });
        T* const there = take<T>(x.size());
        if (n != 0) queue_.memcpy(there, dense.data(), n * sizeof(T)).wait();
        return {there, x.extents()};
    }
    /// An array that kernels write into; brought back at the end. `reads`: they also read what it holds.
    template <class T>
    view<T, 4> writable(view<T, 4> const& x, bool reads) {
        if (in_place(x.data())) return x;
        T* const there = reads ? const_cast<T*>((*this)(view<T const, 4>(x)).data()) : take<T>(x.size());
        returns_.push_back([this, x, there] {
            std::vector<T> dense(static_cast<std::size_t>(x.size()));
            if (!dense.empty()) queue_.memcpy(dense.data(), there, dense.size() * sizeof(T)).wait();
            std::size_t n = 0;
            each_element(x, [&](T& y) { y = dense[n++]; });
        });
        return {there, x.extents()};
    }
    void bring_back() {
        for (auto const& bring : returns_) bring();
        returns_.clear();
    }

private:
    /// What failed halfway has nothing to bring back, but kernels of it may still use this memory.
    void wait_at_last() noexcept {
        try {
            sycl::queue(queue_).wait();
        } catch (...) { // the first error is on its way
        }
    }
    void await() {
        sycl::event::wait(after_);
        after_.clear();
    }
    bool in_place(void const* p) const {
        if (p == nullptr || reads_all_) return true;
        auto const kind = sycl::get_pointer_type(p, queue_.get_context());
        // A CPU device takes all of the host's memory for its own: where copies are asked for, they are made there too.
        if (copies_ && kind == sycl::usm::alloc::host) return false;
        return kind != sycl::usm::alloc::unknown;
    }
    template <class T, std::size_t R, class F>
    static void each_element(view<T, R> const& x, F const& f) {
        tuple_of<index_t, R> at{};
        for (std::ptrdiff_t left = x.size(); left > 0; --left) {
            std::ptrdiff_t offset = 0;
            for (std::size_t i = 0; i < R; ++i) offset += at[i] * x.stride(i);
            f(x.data()[offset]);
            for (std::size_t i = R; i-- > 0;) {
                if (++at[i] < x.extent(i)) break;
                at[i] = 0;
            }
        }
    }

    sycl_queue queue_;
    bool copies_, reads_all_;
    std::vector<sycl::event> after_;
    std::vector<void*> owned_;
    std::vector<std::function<void()>> returns_;
    int begun_ = std::uncaught_exceptions();
};

} // namespace basin::detail::device
