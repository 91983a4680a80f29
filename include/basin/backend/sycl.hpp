// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include <basin/attention.hpp>
#include <basin/backend/sycl/coarse_backward.hpp>
#include <basin/backend/sycl/launch.hpp>
#include <basin/backend/sycl/precision.hpp>

#include <memory>

namespace basin {

/// How a sycl_backend computes: `automatic` takes the coarse kernel on CPUs and the tile kernel elsewhere.
enum class sycl_kernel : std::uint8_t { automatic, coarse, tile };

struct sycl_backend;

/// A call that may still run. wait() ends it: errors are thrown and arrays that were copied are brought back; so does the
/// destructor, but an error there is lost. Arrays, and a policy that is a variable, must live until then; a policy made
/// on the spot moves into the call.
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
        policy_ = static_cast<decltype(policy_)&&>(other.policy_);
        return *this;
    }
    ~sycl_call() { end(); }
    /// For what is to run after the call on the device. Arrays that were copied are not yet back then.
    sycl::event event() const { return event_; }
    /// Until the call has ended.
    void wait() {
        if (memory_ == nullptr) return;
        auto const policy = static_cast<decltype(policy_)&&>(policy_); // may own what kernels read
        auto const memory = static_cast<decltype(memory_)&&>(memory_);
        detail::device::in_words(memory->queue(), "a kernel", [&] {
            event_.wait();
            detail::device::hear(memory->queue());
            memory->bring_back();
        });
    }

private:
    friend struct sycl_backend;
    template <class Q, class K, class V, class Out, class Policy, class... Rest>
    friend sycl_call submit(sycl_backend const&, Q&&, K&&, V&&, Out&&, Policy&&, Rest const&...);
    void end() noexcept {
        try {
            wait();
        } catch (...) { // the caller did not want to know
        }
    }
    sycl::event event_;
    std::shared_ptr<void const> policy_;
    std::unique_ptr<detail::device::call_memory> memory_; // last: its end waits for kernels where something went wrong
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
    /// Gradients too, those of learned parameters among them.
    using clears_gradients = void;

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
        detail::device::check_device(
            queue.facts(), detail::device::why_double<A, typename Task::policy_type, false>(),
            uses_tiles() ? detail::device::tile_memory<A, detail::device::tile_channels<A>>::bytes : 0);
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
        detail::device::in_words(queue, "a call", [&] {
            auto memory = std::make_unique<detail::device::call_memory>(queue, host, after);
            call.event_ = launch(carry(detail::device::task_of(task), *memory), *memory);
            call.memory_ = static_cast<decltype(memory)&&>(memory); // only what was started brings arrays back
        });
        return call;
    }

    /// A call that has nothing to do but to wait for `after`.
    sycl_call start_nothing() const {
        sycl_call call;
        detail::device::in_words(queue, "a call", [&] {
            auto memory = std::make_unique<detail::device::call_memory>(queue, host, after);
            call.event_ = detail::device::launcher(queue, after).last();
            call.memory_ = static_cast<decltype(memory)&&>(memory);
        });
        return call;
    }

    /// Refuses what the device cannot do, before anything is written.
    template <class Task>
    void check_backward(Task const& task) const {
        using A = typename Task::accumulation;
        detail::device::check_device(queue.facts(),
                                     detail::device::why_double<A, typename Task::policy_type, Task::learns>(), 0);
        auto const counts = detail::device::plain_backward_counts(task);
        detail::device::check_pieces(math::max(counts.rows, counts.keys));
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
            detail::device::call_memory memory(queue, host, after);
            detail::device::launcher go(queue, after);
            auto const x = carry_backward(task, memory);
            if (task.q.extent(0) == 0 || task.q.extent(1) == 0 || task.q.extent(2) == 0) {
                clear(x, go);
                go.finish();
            } else if constexpr (Task::learns) {
                learn(x, go, memory);
            } else {
                pull(x, go, memory);
            }
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
        x.d_q = memory.writable(x.d_q, x.adds);
        x.d_k = memory.writable(x.d_k, x.adds);
        x.d_v = memory.writable(x.d_v, x.adds);
        x.where = x.where.carried(memory);
        detail::device::replace(x.policy, facet::carried(x.policy, memory));
        facet::visit_learned(x.policy, [&](auto& node) {
            node.gradient = memory.writable(node.gradient, node.adds);
            node.second = memory.writable(node.second, node.adds);
        });
        return x;
    }
    template <class A>
    static void clear(view<A, 4> const& x, detail::device::launcher& go) {
        go.numbers(detail::device::zero_kernel<A>{x}, std::ptrdiff_t{x.extent(0)} * x.extent(1) * x.extent(2), 64);
    }
    /// The gradients that are not added to; once all memory is there.
    template <class Task>
    static void clear(Task const& x, detail::device::launcher& go) {
        if (!x.adds)
            for (auto const* const d : {&x.d_q, &x.d_k, &x.d_v}) clear(*d, go);
        facet::visit_learned(x.policy, [&](auto const& node) {
            if (node.adds) return;
            clear(node.gradient, go);
            clear(node.second, go);
        });
    }
    template <class Task>
    void pull(Task const& x, detail::device::launcher& go, detail::device::call_memory& memory) const {
        using A = typename Task::accumulation;
        detail::device::backward_math<Task> const math{x};
        if (!uses_tiles()) {
            auto const plan = detail::device::backward_plan::of(x, workers());
            A* const work = memory.take<A>(plan.total);
            clear(x, go);
            detail::device::launch_coarse_backward(go, math, plan, work);
            return go.finish();
        }
        A* const centres = memory.take<A>(rows_of(x));
        auto const counts = detail::device::plain_backward_counts(x);
        clear(x, go);
        go.numbers(detail::device::backward_rows_kernel<Task>{math, centres}, counts.rows, 64);
        go.numbers(detail::device::backward_keys_kernel<Task>{math, centres}, counts.keys, 64);
        go.finish();
    }
    template <class Task>
    static std::size_t numbers_to_learn(Task const& task) {
        return static_cast<std::size_t>(task.where.texts()) * static_cast<std::size_t>(task.query_heads()) *
                   static_cast<std::size_t>(task.sums + detail::device::device_sums::more) +
               detail::device::device_sums::more;
    }
    template <class Task>
    void learn(Task const& x, detail::device::launcher& go, detail::device::call_memory& memory) const {
        sycl::queue q = queue;
        std::size_t const count = numbers_to_learn(x);
        double* const sums = memory.take<double>(static_cast<std::ptrdiff_t>(count));
        double* const refused = sums + count - detail::device::device_sums::more;
        q.memset(sums, 0, count * sizeof(double)).wait();
        clear(x, go);
        detail::device::backward_learning_kernel<Task> const learning{{x}, sums};
        go.numbers(learning, learning.units(), 1);
        go.numbers(detail::device::finish_learning_kernel<Task>{x, sums, refused}, 1, 1);
        go.finish();
        double said[detail::device::device_sums::more];
        q.memcpy(said, refused, sizeof said).wait();
        if (said[0] != 0) detail::refuse_parameter(static_cast<index_t>(said[1]), static_cast<index_t>(said[0]) - 1);
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

/// submit(sycl_backend, q, k, v, out, policy, [options,] statistics...): attention that does not wait. The call keeps a
/// policy that is made on the spot; arrays must be variables.
template <class Q, class K, class V, class Out, class Policy, class... Rest>
[[nodiscard]] sycl_call submit(sycl_backend const& backend, Q&& q, K&& k, V&& v, Out&& out, Policy&& policy,
                               Rest const&... rest) {
    constexpr bool live = detail::outlives_call<Q> && detail::outlives_call<K> && detail::outlives_call<V>;
    static_assert(live, "basin: submit returns before its arrays are read: keep q, k and v in variables, temporaries "
                        "would be gone");
    std::shared_ptr<void const> kept;
    sycl_call call;
    auto const start = [&](auto const& p) {
        attention(detail::submitting{&backend, &call}, static_cast<Q&&>(q), static_cast<K&&>(k), static_cast<V&&>(v),
                  static_cast<Out&&>(out), p, rest...);
    };
    if constexpr (std::is_lvalue_reference_v<Policy>) {
        start(policy);
    } else {
        auto const own = detail::device::in_words(backend.queue, "a call", [&] {
            return std::make_shared<std::remove_cvref_t<Policy> const>(static_cast<Policy&&>(policy));
        });
        start(*own);
        kept = own;
    }
    if (call.memory_ == nullptr) call = backend.start_nothing(); // no batch entries, heads or queries
    call.policy_ = static_cast<decltype(kept)&&>(kept);
    return call;
}

} // namespace basin
