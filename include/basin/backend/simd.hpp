// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include <basin/backend/simd/backward_schedule.hpp>
#include <basin/backend/simd/schedule.hpp>
#include <basin/backend/threads.hpp>

#include <cstddef>
#include <new>

namespace basin {

/// Attention at the speed of the machine: register-blocked kernels on xsimd, statistics in the same pass. The architecture
/// is that of the compiler's flags (-march) and part of the type, so that translation units with different flags never
/// share a kernel. `simd_backend{.threads = 2}` splits heads, and inside heads queries, over threads; results are the
/// same bits for any number of them.
template <class Arch, class Executor = void>
struct basic_simd_backend {
    index_t threads = 1;
    /// Memory for the call, at least workspace_bytes(...) of it; empty: allocated once per call.
    std::byte* workspace = nullptr;
    /// Bytes at `workspace`.
    std::size_t workspace_size = 0;
    /// Who runs the threads: see on(). Null: threads of the call's own.
    Executor* executor = nullptr;

    /// The same backend on the caller's threads: `executor(n, task)` runs task(0) ... task(n - 1), in any order and on any
    /// threads, and returns when all are done. `threads` says how many may run at once.
    template <class E>
    basic_simd_backend<Arch, E> on(E& e) const {
        return {threads, workspace, workspace_size, &e};
    }

    /// How much workspace a forward call needs; basin::workspace_bytes asks it with the arguments of attention.
    template <class Task>
    std::size_t workspace_bytes(Task const& task) const {
        check_threads();
        return detail::simd::schedule<Task, Arch>(task, threads).bytes() + detail::simd::arena<Arch>::alignment;
    }
    template <class Task>
    void check(Task const& task) const {
        check_threads();
        if (workspace != nullptr && workspace_size < workspace_bytes(task)) {
            detail::fail<argument_error>("simd_backend: the workspace has ", static_cast<long long>(workspace_size),
                                         " bytes, but the call needs ", static_cast<long long>(workspace_bytes(task)),
                                         "; ask workspace_bytes(...)");
        }
    }
    /// Refuses a number of threads below 1.
    void check_threads() const {
        if (threads < 1) detail::fail<argument_error>("simd_backend: threads is ", threads, "; it must be at least 1");
    }
    template <class Task>
    void run(Task const& task) const {
        check(task);
        detail::simd::schedule<Task, Arch> plan(task, threads);
        detail::simd::memory<Arch> const memory(workspace, plan.bytes());
        plan.run(memory.data(), [&](index_t n, auto const& f) { execute(n, f); });
    }

    /// How much workspace a backward call needs.
    template <class Task>
    std::size_t backward_workspace_bytes(Task const& task) const {
        check_threads();
        return detail::simd::backward_schedule<Task, Arch>(task, threads).bytes() +
               detail::simd::arena<Arch>::alignment;
    }
    template <class Task>
    void check_backward(Task const& task) const {
        check_threads();
        if (workspace != nullptr && workspace_size < backward_workspace_bytes(task)) {
            detail::fail<argument_error>("simd_backend: the workspace has ", static_cast<long long>(workspace_size),
                                         " bytes, but the backward pass needs ",
                                         static_cast<long long>(backward_workspace_bytes(task)),
                                         "; ask backward_workspace_bytes(...)");
        }
    }
    template <class Task>
    void run_backward(Task const& task) const {
        check_backward(task);
        detail::simd::backward_schedule<Task, Arch> plan(task, threads);
        detail::simd::memory<Arch> const memory(workspace, plan.bytes());
        plan.run(memory.data(), [&](index_t n, auto const& f) { execute(n, f); });
    }

private:
    template <class F>
    void execute(index_t n, F const& f) const {
        if constexpr (std::is_void_v<Executor>)
            detail::run_tasks(threads, n, f);
        else
            (*executor)(n, f);
    }
};

/// The one for the instruction set that the compiler was told to use.
using simd_backend = basic_simd_backend<xsimd::default_arch>;

} // namespace basin
