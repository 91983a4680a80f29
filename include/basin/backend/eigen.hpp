// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include <basin/backend/eigen/backward.hpp>
#include <basin/backend/eigen/head.hpp>
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
    template <class Task>
    void check_backward(Task const& task) const {
        check(task);
    }
    template <class Task>
    void run_backward(Task const& task) const {
        index_t const heads = task.k.extent(1), group = task.group_size();
        // Sums of learned parameters: each head has its own, added up in order, so that threads change no bit.
        buffer<double, 2> sums(task.where.texts() * task.query_heads(), task.sums);
        detail::run_tasks(task.in_order ? 1 : threads, task.where.texts() * heads, [&](index_t i) {
            detail::eigen::backward<Task>(task, task.where.at(i / heads), i % heads)
                .run(sums.data() + std::ptrdiff_t{i} * group * task.sums);
        });
        for (index_t i = 0; i < sums.extent(0); ++i)
            task.finish_head(task.where.at(i / task.query_heads()), i % task.query_heads(),
                             sums.data() + std::ptrdiff_t{i} * task.sums);
    }
};

} // namespace basin
