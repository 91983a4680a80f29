// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include <basin/backend/eigen/head.hpp>
#include <basin/backend/reference_backward.hpp>
#include <basin/backend/threads.hpp>

namespace basin {

/// Matrix products by Eigen, in blocks of queries and keys, never a token-by-token matrix. Portable speed without SIMD code
/// of our own. `eigen_backend{.threads = 4}` spreads heads over threads; results are the same bits for any number.
struct eigen_backend {
    index_t threads = 1;

    template <class Task>
    void check(Task const&) const {
        if (threads < 1) detail::fail<argument_error>("eigen_backend: threads is ", threads, "; it must be at least 1");
    }
    template <class Task>
    void run(Task const& task) const {
        index_t const heads = task.query_heads();
        detail::run_tasks(threads, task.where.texts() * heads, [&](index_t i) {
            detail::eigen::head<Task>(task, task.where.at(i / heads), i % heads).run();
        });
    }
    // Not yet a backward pass of its own: plain loops on one thread.
    template <class Task>
    void run_backward(Task const& task) const {
        detail::reference_backward<Task>(task).run();
    }
};

} // namespace basin
