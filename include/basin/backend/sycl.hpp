// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include <basin/attention.hpp>
#include <basin/backend/sycl/launch.hpp>

#include <memory>

namespace basin {

/// How a sycl_backend computes: `automatic` takes the coarse kernel on CPUs and the tile kernel elsewhere.
enum class sycl_kernel : std::uint8_t { automatic, coarse, tile };

/// What a sycl_backend does with arrays in ordinary memory of the host: `automatic` uses them in place where the device
/// can, and copies them where it cannot; `copied` copies them always.
enum class host_arrays : std::uint8_t { automatic, copied };

/// A call that may still run. wait() ends it: errors are thrown and arrays that were copied are brought back; so does the
/// destructor, but an error there is lost. What the call was given must live until then.
class sycl_call {
public:
    sycl_call() = default;
    sycl_call(sycl_call&&) noexcept = default;
    sycl_call& operator=(sycl_call&&) noexcept = default;
    ~sycl_call() {
        try {
            wait();
        } catch (...) { // the caller did not want to know
        }
    }
    /// For what is to run after the call on the device. Arrays that were copied are not yet back then.
    sycl::event event() const { return event_; }
    /// Until the call has ended.
    void wait() {
        if (memory_ == nullptr) return;
        auto const memory = static_cast<decltype(memory_)&&>(memory_);
        detail::device::in_words(queue_, "a kernel", [&] {
            event_.wait();
            queue_.throw_asynchronous(); // to the queue's handler; one that throws is heard here
            memory->bring_back();
        });
    }

private:
    friend struct sycl_backend;
    sycl::queue queue_;
    sycl::event event_;
    std::unique_ptr<detail::device::call_memory> memory_;
};

/// Attention on whatever a SYCL queue runs on: `sycl_backend{queue}`. USM pointers are used in place, ordinary memory of
/// the host too where the device reads it (CPUs), and is copied elsewhere; lists of lengths, positions and groups must be
/// readable by the host. A call waits for its results; submit(...) does not.
struct sycl_backend {
    /// Where kernels run. The default one rethrows what the device reports.
    sycl::queue queue{sycl::default_selector_v, [](sycl::exception_list const& errors) {
                          for (std::exception_ptr const& e : errors) std::rethrow_exception(e);
                      }};
    /// Which kernel computes.
    sycl_kernel kernel = sycl_kernel::automatic;
    /// What happens to arrays that are not in USM memory.
    host_arrays host = host_arrays::automatic;
    /// What must have happened before the first kernel starts.
    std::vector<sycl::event> after = {};

    /// Outputs may lie where the host cannot write.
    using clears_outputs = void;

    /// The memory on the device that a call allocates beside its arguments (copies of arrays not counted).
    template <class Task>
    std::size_t workspace_bytes(Task const& task) const {
        using A = typename Task::accumulation;
        auto const x = detail::device::task_of(task);
        if (uses_tiles()) return static_cast<std::size_t>(rows_of(x)) * sizeof(row_facts<A>);
        return static_cast<std::size_t>(detail::device::coarse_plan::of(x, workers()).total) * sizeof(A);
    }

    /// Refuses what the device cannot do, before anything is written.
    template <class Task>
    void check(Task const&) const {
        using A = typename Task::accumulation;
        sycl::device const device = queue.get_device();
        auto const name = device.get_info<sycl::info::device::name>();
        if (sizeof(A) == sizeof(double) && !device.has(sycl::aspect::fp64))
            detail::fail<backend_error>("sycl_backend: ", name.c_str(),
                                        " has no double precision (aspect fp64): use float arrays, or another device");
        std::size_t const needed = detail::device::tile_memory<A, 128>::bytes;
        if (uses_tiles() && device.get_info<sycl::info::device::local_mem_size>() < needed)
            detail::fail<backend_error>("sycl_backend: ", name.c_str(), " has ",
                                        static_cast<long long>(device.get_info<sycl::info::device::local_mem_size>()),
                                        " bytes of local memory, but the tile kernel needs ",
                                        static_cast<long long>(needed), "; say .kernel = basin::sycl_kernel::coarse");
    }

    /// One call of an entry, until its results are there.
    template <class Task>
    void run(Task const& task) const {
        start(task).wait();
    }

    /// Everything that run does, without waiting.
    template <class Task>
    sycl_call start(Task const& task) const {
        sycl_call call;
        call.queue_ = queue;
        detail::device::in_words(queue, "a call", [&] {
            call.memory_ = std::make_unique<detail::device::call_memory>(queue, host == host_arrays::copied);
            call.event_ = launch(carry(detail::device::task_of(task), *call.memory_), *call.memory_);
        });
        return call;
    }

private:
    bool uses_tiles() const {
        return kernel == sycl_kernel::automatic ? !queue.get_device().is_cpu() : kernel == sycl_kernel::tile;
    }
    index_t workers() const {
        return static_cast<index_t>(queue.get_device().get_info<sycl::info::device::max_compute_units>());
    }
    template <class X>
    static std::ptrdiff_t rows_of(X const& x) {
        return std::ptrdiff_t{x.q.extent(0)} * x.q.extent(1) * x.q.extent(2);
    }

    template <class X>
    static X carry(X x, detail::device::call_memory& memory) {
        x.q = memory(x.q);
        x.k = memory(x.k);
        x.v = memory(x.v);
        x.known_lse = memory(x.known_lse);
        x.out = memory.writable(x.out, false);
        x.where = x.where.carried(memory);
        x.policy = facet::carried(x.policy, memory);
        x.statistics = x.statistics.map([&](auto const& given) {
            auto s = facet::carried(given, memory);
            s.output = memory.writable(s.output, s.adds);
            if constexpr (requires { s.keys; }) s.keys = memory.writable(s.keys, s.adds);
            if constexpr (requires { s.groups; }) s.groups.ids = memory(s.groups.ids);
            return s;
        });
        return x;
    }

    template <class X>
    sycl::event launch(X const& x, detail::device::call_memory& memory) const {
        using A = typename X::accumulation;
        detail::device::launcher go(queue, after);
        detail::device::clear_kernel<X> const clear{x};
        go.numbers(clear, std::ptrdiff_t{x.where.batch} * x.query_heads() * clear.tokens(), 64);
        if (uses_tiles()) {
            auto* const facts = memory.take<row_facts<A>>(rows_of(x));
            if (X::observing || x.v.extent(3) <= 64)
                detail::device::launch_tile<64>(go, x, facts);
            else
                detail::device::launch_tile<128>(go, x, facts);
        } else {
            auto const plan = detail::device::coarse_plan::of(x, workers());
            detail::device::launch_coarse(go, x, plan, memory.take<A>(plan.total));
        }
        return go.last();
    }
};

namespace detail {
struct submitting {
    sycl_backend const* backend;
    sycl_call* call;
    using clears_outputs = void;
    template <class Task>
    void check(Task const& task) const {
        backend->check(task);
    }
    template <class Task>
    void run(Task const& task) const {
        *call = backend->start(task);
    }
};
} // namespace detail

/// submit(sycl_backend, q, k, v, out, policy, [options,] statistics...): attention that does not wait.
template <class... Arguments>
[[nodiscard]] sycl_call submit(sycl_backend const& backend, Arguments&&... arguments) {
    sycl_call call;
    attention(detail::submitting{&backend, &call}, static_cast<Arguments&&>(arguments)...);
    return call;
}

} // namespace basin
