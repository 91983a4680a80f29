// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#include "call.hpp"

#include <basin/backend/thread_pool.hpp>

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <thread>

using basin::index_t;
using basin::thread_pool;

TEST_CASE("thread pool: every task runs once, whatever the numbers of tasks and threads") {
    for (index_t const threads : {1, 2, 3, 8}) {
        thread_pool pool{threads};
        CHECK(pool.threads() == threads);
        for (index_t const n : {0, 1, 2, 7, 64}) {
            std::vector<std::atomic<int>> times(static_cast<std::size_t>(n));
            pool(n, [&](index_t i) { ++times[static_cast<std::size_t>(i)]; });
            for (auto const& t : times) CHECK(t == 1);
        }
    }
}

TEST_CASE("thread pool: results are there when the call returns, call after call") {
    thread_pool pool{3};
    std::vector<long> sums(3);
    for (long round = 0; round < 3000; ++round) {
        if (round % 1000 == 500) std::this_thread::sleep_for(std::chrono::milliseconds{2}); // the workers fall asleep
        pool(3, [&](index_t i) { sums[static_cast<std::size_t>(i)] += round; });
    }
    for (long const sum : sums) CHECK(sum == 3000L * 2999 / 2);
}

TEST_CASE("thread pool: tasks run side by side on different threads") {
    thread_pool pool{2};
    std::atomic<int> here{0};
    std::thread::id who[2];
    pool(2, [&](index_t i) {
        who[i] = std::this_thread::get_id();
        ++here;
        while (here.load() < 2) std::this_thread::yield(); // each waits for the other
    });
    CHECK(who[0] != who[1]);
}

TEST_CASE("thread pool: a task that calls the pool again does not deadlock") {
    thread_pool pool{2};
    std::atomic<int> runs{0};
    pool(4, [&](index_t) { pool(5, [&](index_t) { ++runs; }); });
    CHECK(runs == 20);
}

TEST_CASE("thread pool: two threads may call it at once") {
    thread_pool pool{2};
    std::atomic<int> runs{0};
    auto const call = [&] {
        for (int i = 0; i < 500; ++i) pool(3, [&](index_t) { ++runs; });
    };
    std::thread other(call); // not std::jthread, which older versions of libc++ lack
    call();
    other.join();
    CHECK(runs == 3000);
}

TEST_CASE("thread pool: an exception of a task reaches the caller, and the threads go on working") {
    thread_pool pool{2};
    for (int round = 0; round < 50; ++round) {
        CHECK_THROWS_AS(pool(4,
                             [](index_t i) {
                                 if (i == 2) throw std::runtime_error("two");
                             }),
                        std::runtime_error);
        std::atomic<int> runs{0};
        pool(4, [&](index_t) { ++runs; });
        CHECK(runs == 4);
    }
}

TEST_CASE("thread pool: no threads at all are refused in words") {
    CHECK_THROWS_WITH_AS(thread_pool{0}, "thread_pool: threads is 0; it must be at least 1", basin::argument_error);
}

#if defined(BASIN_TEST_SIMD)
TEST_CASE("thread pool: attention on it has the bits of one thread") {
    basin::buffer<float, 4> q({2, 3, 70, 16}), k({2, 3, 150, 16}), v({2, 3, 150, 16}), one({2, 3, 70, 16}), more = one;
    basin::buffer<float, 3> mass_one({2, 3, 150}), mass_more({2, 3, 150});
    basin_test::random_numbers r{3, 0};
    for (auto* x : {&q, &k, &v})
        for (float& y : *x) y = static_cast<float>(r.uniform(-1, 1));
    basin::attention(basin::simd_backend{}, q, k, v, one, basin::causal{}, basin::received{mass_one});
    for (index_t const threads : {2, 3}) {
        thread_pool pool{threads};
        basin::attention(basin::simd_backend{.threads = threads}.on(pool), q, k, v, more, basin::causal{},
                         basin::received{mass_more});
        CHECK(std::equal(one.begin(), one.end(), more.begin()));
        CHECK(std::equal(mass_one.begin(), mass_one.end(), mass_more.begin()));
    }
}
#endif
