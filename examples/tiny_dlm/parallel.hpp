// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace tiny_dlm {

/// Runs f(0) ... f(tasks - 1), each on one of `threads` threads, the caller's among them. The first error is thrown again.
template <class F>
void parallel(int threads, int tasks, F const& f) {
    std::atomic<int> next{0};
    std::exception_ptr failure;
    std::mutex guard;
    auto const work = [&] {
        try {
            for (int i = next++; i < tasks; i = next++) f(i);
        } catch (...) {
            std::lock_guard const lock(guard);
            if (!failure) failure = std::current_exception();
            next = tasks;
        }
    };
    {
        std::vector<std::jthread> others;
        for (int i = 1; i < threads && i < tasks; ++i) others.emplace_back(work);
        work();
    }
    if (failure) std::rethrow_exception(failure);
}

} // namespace tiny_dlm
