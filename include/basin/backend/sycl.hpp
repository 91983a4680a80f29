// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include <basin/attention.hpp>
#include <basin/backend/sycl/coarse_backward.hpp>
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
    /// Ends the call that this one was, as the destructor does.
    sycl_call& operator=(sycl_call&& other) noexcept {
        if (this == &other) return *this;
        end();
        event_ = other.event_;
        memory_ = static_cast<decltype(memory_)&&>(other.memory_);
        return *this;
    }
    ~sycl_call() { end(); }
    /// For what is to run after the call on the device. Arrays that were copied are not yet back then.
    sycl::event event() const { return event_; }
    /// Until the call has ended.
    void wait() {
        if (memory_ == nullptr) return;
        auto const memory = static_cast<decltype(memory_)&&>(memory_);
        detail::device::in_words(memory->queue(), "a kernel", [&] {
            event_.wait();
            detail::device::hear(memory->queue());
            memory->bring_back();
        });
    }

private:
    friend struct sycl_backend;
    void end() noexcept {
        try {
            wait();
        } catch (...) { // the caller did not want to know
        }
    }
    sycl::event event_;
    std::unique_ptr<detail::device::call_memory> memory_;
};

/// Attention on whatever a SYCL queue runs on: `sycl_backend{queue}`. USM pointers are used in place, ordinary memory of
/// the host too where the device reads it (CPUs), and is copied elsewhere; lists of lengths, positions and groups must be
/// readable by the host. A call waits for its results; submit(...) does not.
struct sycl_backend {
    /// Where kernels run: `sycl_queue{selector}`, or a sycl::queue of your own.
    sycl_queue queue{};
    /// Which kernel computes.
    sycl_kernel kernel = sycl_kernel::automatic;
    /// What happens to arrays that are not in USM memory.
    host_arrays host = host_arrays::automatic;
    /// What must have happened before anything is read or written. Where arrays are copied, the host waits for it.
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
    void check(Task const& task) const {
        using A = typename Task::accumulation;
        detail::device::check_device(detail::device::device_facts::of(queue), sizeof(A) == sizeof(double),
                                     uses_tiles() ? detail::device::tile_memory<A, 128>::bytes : 0);
        auto const x = detail::device::task_of(task);
        if (uses_tiles())
            detail::device::check_tile_counts(x);
        else
            detail::device::check_coarse_counts(x, detail::device::coarse_plan::of(x, workers()));
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
        // Only a call that was started brings arrays back.
        auto memory = std::make_unique<detail::device::call_memory>(queue, host == host_arrays::copied, after);
        detail::device::in_words(queue, "a call",
                                 [&] { call.event_ = launch(carry(detail::device::task_of(task), *memory), *memory); });
        call.memory_ = static_cast<decltype(memory)&&>(memory);
        return call;
    }

    /// Refuses what the device cannot do, before anything is written.
    template <class Task>
    void check_backward(Task const& task) const {
        detail::device::check_device(detail::device::device_facts::of(queue),
                                     sizeof(typename Task::accumulation) == sizeof(double), 0);
        auto const counts = detail::device::plain_backward_counts(task);
        detail::device::check_pieces(math::max(counts.rows, counts.keys));
    }
    /// Zeroes the gradients of q, k and v, which may lie where the host cannot write.
    template <class Task>
    void clear_gradients(Task const& task) const {
        detail::device::in_words(queue, "a call", [&] {
            detail::device::call_memory memory(queue, host == host_arrays::copied, after);
            detail::device::launcher go(queue, after);
            for (auto const* const d : {&task.d_q, &task.d_k, &task.d_v}) {
                auto const there = memory.writable(*d, false);
                go.numbers(detail::device::zero_kernel<typename Task::accumulation>{there},
                           std::ptrdiff_t{there.extent(0)} * there.extent(1) * there.extent(2), 64);
            }
            go.finish();
            memory.bring_back();
        });
    }
    /// The memory on the device that a call of attention_backward allocates beside its arguments (copies not counted).
    template <class Task>
    std::size_t backward_workspace_bytes(Task const& task) const {
        using A = typename Task::accumulation;
        if constexpr (Task::learns)
            return numbers_to_learn(task) * sizeof(double);
        else if (uses_tiles())
            return static_cast<std::size_t>(rows_of(task)) * sizeof(A);
        else
            return static_cast<std::size_t>(detail::device::backward_plan::of(task, workers()).total) * sizeof(A);
    }
    /// One call of attention_backward. Where the policy learns, a head is one work-item: plain, and not parallel inside it.
    template <class Task>
    void run_backward(Task const& task) const {
        detail::device::in_words(queue, "a call", [&] {
            detail::device::call_memory memory(queue, host == host_arrays::copied, after);
            detail::device::launcher go(queue, after);
            auto const x = carry_backward(task, memory);
            detail::device::backward_math<Task> const math{x};
            if constexpr (Task::learns)
                learn(task, math, go, memory);
            else
                pull(math, go, memory);
            memory.bring_back();
        });
    }

private:
    template <class Task>
    static Task carry_backward(Task x, detail::device::call_memory& memory) {
        x.q = memory(x.q);
        x.k = memory(x.k);
        x.v = memory(x.v);
        x.out = memory(x.out);
        x.lse = memory(x.lse);
        x.d_out = memory(x.d_out);
        x.d_lse = memory(x.d_lse);
        x.d_entropy = memory(x.d_entropy);
        x.d_received = memory(x.d_received);
        x.groups.ids = memory(x.groups.ids);
        x.d_q = memory.writable(x.d_q, true);
        x.d_k = memory.writable(x.d_k, true);
        x.d_v = memory.writable(x.d_v, true);
        x.where = x.where.carried(memory);
        detail::device::replace(x.policy, facet::carried(x.policy, memory));
        // Gradients without sums are written by kernels, the others by the host at the end.
        facet::visit_learned(x.policy, [&](auto& node) {
            if (node.sums == 0) node.gradient = memory.writable(node.gradient, true);
        });
        return x;
    }
    template <class Task>
    void pull(detail::device::backward_math<Task> const& math, detail::device::launcher& go,
              detail::device::call_memory& memory) const {
        using A = typename Task::accumulation;
        auto const& x = math.x;
        if (!uses_tiles()) {
            auto const plan = detail::device::backward_plan::of(x, workers());
            detail::device::launch_coarse_backward(go, math, plan, memory.take<A>(plan.total));
            return go.finish();
        }
        A* const centres = memory.take<A>(rows_of(x));
        auto const counts = detail::device::plain_backward_counts(x);
        go.numbers(detail::device::backward_rows_kernel<Task>{math, centres}, counts.rows, 64);
        go.numbers(detail::device::backward_keys_kernel<Task>{math, centres}, counts.keys, 64);
        go.finish();
    }
    template <class Task>
    static std::size_t numbers_to_learn(Task const& task) {
        return static_cast<std::size_t>(task.where.texts()) * static_cast<std::size_t>(task.query_heads()) *
               static_cast<std::size_t>(task.sums + detail::device::device_sums::more);
    }
    template <class Task>
    void learn(Task const& task, detail::device::backward_math<Task> const& math, detail::device::launcher& go,
               detail::device::call_memory& memory) const {
        std::vector<double> sums(numbers_to_learn(task));
        double* const there = memory.take<double>(static_cast<std::ptrdiff_t>(sums.size()));
        if (!sums.empty()) queue_copy(there, sums.data(), sums.size());
        detail::device::backward_learning_kernel<Task> const learning{math, there};
        go.numbers(learning, learning.units(), 1);
        go.finish();
        if (!sums.empty()) queue_copy(sums.data(), there, sums.size());
        auto const stride = static_cast<std::size_t>(task.sums + detail::device::device_sums::more);
        for (std::size_t end = stride; end <= sums.size(); end += stride) {
            if (sums[end - 2] != 0)
                detail::refuse_parameter(static_cast<index_t>(sums[end - 1]), static_cast<index_t>(sums[end - 2]) - 1);
        }
        memory.bring_back();
        double const* from = sums.data();
        for (index_t i = 0; i < task.where.texts(); ++i)
            for (index_t head = 0; head < task.query_heads(); ++head, from += stride)
                task.finish_head(task.where.at(i), head, from);
    }
    void queue_copy(double* to, double const* from, std::size_t count) const {
        sycl::queue q = queue;
        q.memcpy(to, from, count * sizeof(double)).wait();
    }
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
        detail::device::replace(x.policy, facet::carried(x.policy, memory));
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
    static void launch_tiles(detail::device::launcher& go, X const& x, row_facts<typename X::accumulation>* facts) {
        constexpr bool wide = !X::observing && detail::device::tile_channels<typename X::accumulation> > 64;
        if constexpr (wide) {
            if (x.v.extent(3) > 64) return detail::device::launch_tile<128>(go, x, facts);
        }
        detail::device::launch_tile<64>(go, x, facts);
    }

    template <class X>
    sycl::event launch(X const& x, detail::device::call_memory& memory) const {
        using A = typename X::accumulation;
        // All memory first: without it, nothing is touched.
        auto const plan = detail::device::coarse_plan::of(x, workers());
        auto* const facts = uses_tiles() ? memory.take<row_facts<A>>(rows_of(x)) : nullptr;
        A* const work = uses_tiles() ? nullptr : memory.take<A>(plan.total);
        detail::device::launcher go(queue, after);
        detail::device::clear_kernel<X> const clear{x};
        go.numbers(clear, clear.units(), 64);
        if (!uses_tiles())
            detail::device::launch_coarse(go, x, plan, work);
        else
            launch_tiles(go, x, facts);
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
