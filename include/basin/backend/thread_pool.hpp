// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include <basin/backend/threads.hpp>
#include <basin/core/error.hpp>
#include <basin/core/site.hpp>

#include <atomic>
#include <chrono>
#include <exception>
#include <thread>
#include <vector>

namespace basin {

/// Threads that stay between calls: `simd_backend{.threads = 2}.on(pool)`. Starting threads costs about as much as the
/// attention of a few hundred tokens, so a model with short texts keeps a pool; results are the same bits with or without.
/// The caller's thread works too: thread_pool{2} starts one thread. A waiting thread looks for work for a tenth of a
/// millisecond, then sleeps. Whoever calls while the pool is busy, from another thread or from inside a task, does the work
/// alone: nothing can deadlock.
class thread_pool {
public:
    explicit thread_pool(index_t threads) {
        if (threads < 1) detail::fail<argument_error>("thread_pool: threads is ", threads, "; it must be at least 1");
        struct undo { // if the system refuses a thread, those that run are told to stop, or joining them would hang
            thread_pool* pool;
            ~undo() {
                if (pool != nullptr) pool->stop();
            }
        } unless_all_run{this};
        workers_.reserve(static_cast<std::size_t>(threads - 1));
        for (index_t i = 1; i < threads; ++i) workers_.emplace_back([](thread_pool* pool) { pool->serve(); }, this);
        unless_all_run.pool = nullptr;
    }
    ~thread_pool() { stop(); }
    thread_pool(thread_pool const&) = delete;
    thread_pool& operator=(thread_pool const&) = delete;

    /// How many tasks run at once: the workers and the caller.
    index_t threads() const { return static_cast<index_t>(workers_.size()) + 1; }

    /// Runs task(0) ... task(n - 1), in any order, and returns when all are done. If some throw, one of their exceptions
    /// is thrown here, and tasks that had not begun are left out.
    template <class Task>
    void operator()(index_t n, Task const& task) {
        if (n <= 1 || workers_.empty() || busy_.test_and_set()) {
            for (index_t i = 0; i < n; ++i) task(i);
            return;
        }
        job now{n, &task, [](void const* t, index_t i) { (*static_cast<Task const*>(t))(i); }};
        current_.store(&now);
        calls_.fetch_add(1);
        calls_.notify_all();
        now.work();
        // A worker counts itself in before it looks at current_: once it is null and nobody is inside, nobody has seen it.
        current_.store(nullptr);
        while (inside_.load() != 0) relax();
        busy_.clear();
#if defined(__cpp_exceptions)
        if (now.failure) std::rethrow_exception(now.failure);
#endif
    }

private:
    struct job {
        index_t n;
        void const* task;
        void (*call)(void const*, index_t);
        std::atomic<index_t> next{0};
        std::atomic<bool> failed{false};
        std::exception_ptr failure{};

        void work() {
#if defined(__cpp_exceptions)
            try {
#endif
                for (index_t i = next++; i < n; i = next++) call(task, i);
#if defined(__cpp_exceptions)
            } catch (...) {
                next = n;
                if (!failed.exchange(true)) failure = std::current_exception();
            }
#endif
        }
    };

    static void relax() {
#if defined(__x86_64__) || defined(__i386__)
        __builtin_ia32_pause();
#else
        std::this_thread::yield();
#endif
    }

    void stop() {
        stopping_.store(true);
        calls_.fetch_add(1);
        calls_.notify_all();
    }
    void serve() {
        unsigned seen = 0;
        while (!stopping_.load()) {
            await_call(seen);
            seen = calls_.load();
            inside_.fetch_add(1);
            if (job* const now = current_.load()) now->work();
            inside_.fetch_sub(1);
        }
    }
    void await_call(unsigned seen) const {
        using clock = std::chrono::steady_clock;
        for (auto const end = clock::now() + std::chrono::microseconds{100}; clock::now() < end;) {
            for (int i = 0; i < 32; ++i, relax()) {
                if (calls_.load(std::memory_order_relaxed) != seen) return;
            }
        }
        calls_.wait(seen);
    }

    std::atomic<unsigned> calls_{0};
    std::atomic<job*> current_{nullptr};
    std::atomic<int> inside_{0};
    std::atomic_flag busy_{};
    std::atomic<bool> stopping_{false};
    std::vector<detail::joined_thread> workers_; // the last member: it is joined before anything it uses is gone
};

} // namespace basin
