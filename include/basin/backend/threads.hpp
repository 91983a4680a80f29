// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include <basin/core/site.hpp>

#include <atomic>
#include <exception>
#include <thread>
#include <vector>

namespace basin::detail {

/// A borrowed callable, f(index_t). What runs tasks is compiled once, not for every policy: threads and their exceptions are a
/// third of a second of compile time each.
class task_ref {
public:
    template <class F>
    task_ref(F const& f) // NOLINT: a reference in a parameter list
        : f_(&f), call_([](void const* g, index_t i) { (*static_cast<F const*>(g))(i); }) {}
    void operator()(index_t i) const { call_(f_, i); }

private:
    void const* f_;
    void (*call_)(void const*, index_t);
};

/// A thread that runs f(argument) and is joined when it goes. std::jthread would do, but libc++ has it only since version 20; and
/// without an argument clang 17 can start none in C++23 with the libstdc++ of g++ 14.
class joined_thread {
public:
    template <class F, class Argument>
    joined_thread(F const& f, Argument argument) : thread_(f, argument) {}
    joined_thread(joined_thread&&) = default;
    ~joined_thread() {
        if (thread_.joinable()) thread_.join();
    }

private:
    std::thread thread_;
};

/// Runs f(0) ... f(tasks - 1) on up to `threads` threads, the caller's among them; returns when all are done. Threads live
/// as long as the call: nothing is global, nothing stays behind. Whoever has a pool gives it to the backend instead.
inline void run_tasks(index_t threads, index_t tasks, task_ref f) {
    if (threads > tasks) threads = tasks;
    if (threads <= 1) {
        for (index_t i = 0; i < tasks; ++i) f(i);
        return;
    }
    std::atomic<index_t> next{0};
    std::vector<std::exception_ptr> failures(static_cast<std::size_t>(threads));
    auto const work = [&](index_t who) {
#if defined(__cpp_exceptions)
        try {
#endif
            for (index_t i = next++; i < tasks; i = next++) f(i);
#if defined(__cpp_exceptions)
        } catch (...) {
            failures[static_cast<std::size_t>(who)] = std::current_exception();
            next = tasks;
        }
#endif
    };
    {
        std::vector<joined_thread> others;
        others.reserve(static_cast<std::size_t>(threads - 1));
        for (index_t who = 1; who < threads; ++who) others.emplace_back(work, who);
        work(0);
    }
#if defined(__cpp_exceptions)
    for (auto const& failure : failures) {
        if (failure) std::rethrow_exception(failure);
    }
#endif
}

} // namespace basin::detail
