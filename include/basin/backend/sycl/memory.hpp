// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include <basin/backend/sycl/queue.hpp>
#include <basin/core/view.hpp>

#include <exception>
#include <functional>
#include <memory>
#include <vector>

namespace basin {

/// What a sycl_backend does with arrays in ordinary memory of the host: `automatic` uses them in place where the device
/// can, and copies them where it cannot; `copied` copies them always.
enum class host_arrays : std::uint8_t { automatic, copied };

} // namespace basin

namespace basin::detail::device {

/// Refuses what a device cannot do. `in_double`: why double is needed, in words, or nullptr; `local_memory`: the bytes
/// that a work-group needs.
inline void check_device(device_facts const& d, char const* in_double, std::size_t local_memory) {
    if (in_double != nullptr && !d.has_double)
        fail<backend_error>("sycl_backend: ", d.name.c_str(), " has no double precision (aspect fp64)", in_double);
    if (d.local_memory < local_memory)
        fail<backend_error>("sycl_backend: ", d.name.c_str(), " has ", static_cast<long long>(d.local_memory),
                            " bytes of local memory, but the tile kernel needs ", static_cast<long long>(local_memory),
                            "; say .kernel = basin::sycl_kernel::coarse");
}

/// Whether an array is used where it lies, by the kind of its pointer.
constexpr bool used_in_place(sycl::usm::alloc kind, host_arrays choice, bool device_reads_the_host) {
    switch (kind) {
    case sycl::usm::alloc::device:
    case sycl::usm::alloc::shared:
        return true;
    // A CPU device takes all of the host's memory for its own: where copies are asked for, they are made there too.
    case sycl::usm::alloc::host:
        return choice == host_arrays::automatic;
    default:
        return choice == host_arrays::automatic && device_reads_the_host;
    }
}

/// Whether the elements lie one after the other, in the order of their indices.
template <class T, std::size_t R>
bool in_one_piece(view<T, R> const& x) {
    std::ptrdiff_t step = 1;
    for (std::size_t i = R; i-- > 0;) {
        if (x.extent(i) != 1 && x.stride(i) != step) return x.size() == 0;
        step *= x.extent(i);
    }
    return true;
}
/// f(first element, how far apart they are, how many) for each row of an array, in order.
template <class T, std::size_t R, class F>
void each_row(view<T, R> const& x, F const& f) {
    if (x.size() == 0) return;
    tuple_of<index_t, R> at{};
    for (;;) {
        std::ptrdiff_t offset = 0;
        for (std::size_t i = 0; i + 1 < R; ++i) offset += at[i] * x.stride(i);
        f(x.data() + offset, x.stride(R - 1), x.extent(R - 1));
        std::size_t axis = R - 1;
        while (axis-- > 0) {
            if (++at[axis] < x.extent(axis)) break;
            at[axis] = 0;
        }
        if (axis >= R) return;
    }
}

/// What one call keeps on the device, and what it must bring back. Everything is freed when it ends.
class call_memory {
public:
    /// after: what must have happened before an array is read.
    call_memory(sycl_queue const& queue, host_arrays choice, std::vector<sycl::event> const& after)
        : queue_(queue), choice_(choice), after_(after) {}
    call_memory(call_memory const&) = delete;
    call_memory& operator=(call_memory const&) = delete;
    ~call_memory() {
        if (!ended_ && std::uncaught_exceptions() > begun_) wait_at_last();
        for (void* const p : owned_) sycl::free(p, queue_);
    }

    sycl_queue const& queue() const { return queue_; }

    template <class T>
    T* take(std::ptrdiff_t count) {
        std::size_t const bytes = static_cast<std::size_t>(count > 0 ? count : 1) * sizeof(T);
        owned_.reserve(owned_.size() + 1); // so that nothing can fail once the memory is there
        void* const p = in_words(queue_, "an allocation", [&] { return sycl::malloc_device(bytes, queue_); });
        if (p == nullptr) {
            fail<backend_error>("sycl_backend: ", queue_.facts().name.c_str(), " has no room for ",
                                static_cast<long long>(bytes),
                                " bytes; give a smaller batch, or a device with more memory");
        }
        owned_.push_back(p);
        return static_cast<T*>(p);
    }

    /// A list or table of a policy, or of the layout, where the device can read it: a carrier, see facet::carried.
    template <class T>
    T const* operator()(T const* p, std::ptrdiff_t count) {
        if (in_place(p)) return p;
        T* const there = take<T>(count);
        await();
        copy(there, p, count);
        return there;
    }
    template <class T, std::size_t R>
    view<T const, R> operator()(view<T const, R> const& x) {
        if (in_place(x.data())) return x;
        T* const there = take<T>(x.size()); // first: where the device has no room, the host need not make any
        await();
        if (in_one_piece(x)) {
            copy(there, x.data(), x.size());
        } else {
            auto const dense = room<T>(x.size());
            T* to = dense.get();
            each_row(x, [&](T const* from, std::ptrdiff_t stride, index_t count) {
                for (index_t i = 0; i < count; ++i) *to++ = from[i * stride];
            });
            copy(there, dense.get(), x.size());
        }
        return {there, x.extents()};
    }
    /// An array that kernels write into; brought back at the end. `reads`: they also read what it holds.
    template <class T>
    view<T, 4> writable(view<T, 4> const& x, bool reads) {
        if (in_place(x.data())) return x;
        T* const there = reads ? const_cast<T*>((*this)(view<T const, 4>(x)).data()) : take<T>(x.size());
        if (in_one_piece(x)) {
            returns_.push_back([this, x, there] { copy(x.data(), there, x.size()); });
        } else {
            returns_.push_back([this, x, there, dense = room<T>(x.size())] {
                copy(dense.get(), there, x.size());
                T const* from = dense.get();
                each_row(x, [&](T* to, std::ptrdiff_t stride, index_t count) {
                    for (index_t i = 0; i < count; ++i) to[i * stride] = *from++;
                });
            });
        }
        return {there, x.extents()};
    }
    void bring_back() {
        for (auto const& bring : returns_) bring();
        returns_.clear();
        ended_ = true;
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
        bool const reads_the_host = queue_.facts().reads_the_host;
        if (p == nullptr || (choice_ == host_arrays::automatic && reads_the_host)) return true;
        return used_in_place(sycl::get_pointer_type(p, queue_.get_context()), choice_, reads_the_host);
    }
    template <class T>
    void copy(T* to, T const* from, std::ptrdiff_t count) {
        if (count > 0) queue_.memcpy(to, from, static_cast<std::size_t>(count) * sizeof(T)).wait();
    }
    /// Of the host, not filled with zeros that nobody reads.
    template <class T>
    static std::shared_ptr<T[]> room(std::ptrdiff_t count) {
        return std::shared_ptr<T[]>(new T[static_cast<std::size_t>(count)]);
    }

    sycl_queue queue_;
    host_arrays choice_;
    std::vector<sycl::event> after_;
    std::vector<void*> owned_;
    std::vector<std::function<void()>> returns_;
    int begun_ = std::uncaught_exceptions();
    bool ended_ = false; // its kernels have: another failure on the way need not wait for the queue
};

} // namespace basin::detail::device
