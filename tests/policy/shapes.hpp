// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include <support/erased.hpp>
#include <support/problem.hpp>

namespace basin_test {

/// The calls on which every policy is compared with the oracle.
inline std::vector<shape> const& policy_shapes() {
    static std::vector<shape> const all = [] {
        std::vector<shape> list;
        int const channels[] = {16, 5, 24, 1, 64, 80, 8};
        int const values[] = {16, 7, 5, 64, 1, 24};
        int turn = 0;
        for (int const n : {0, 1, 2, 3, 7, 8, 15, 16, 17, 31, 33, 64, 65, 127, 257}) {
            shape s{.queries = n, .keys = n};
            s.channels = channels[turn % 7];
            s.values = values[turn % 6];
            ++turn;
            list.push_back(s);
        }
        auto const add = [&](shape s) { list.push_back(s); };
        // rectangles
        add({.queries = 5, .keys = 33, .heads = 2, .kv_heads = 2});
        add({.queries = 33, .keys = 5, .channels = 24, .values = 5});
        add({.queries = 1, .keys = 65, .channels = 64, .values = 80});
        add({.queries = 17, .keys = 0});
        // a block of queries inside a longer text; a cache that recomputes scattered tokens
        add({.queries = 9, .keys = 40, .channels = 80, .values = 16, .first_query = 31});
        add({.queries = 6, .keys = 33, .heads = 2, .query_positions = {3, 0, 17, 32, 8, 9}});
        add({.queries = 4, .keys = 7, .query_positions = {11, 2, 5, 0}, .key_positions = {11, 0, 3, 5, 2, 9, 8}});
        // grouped queries, strides
        add({.queries = 17,
             .keys = 17,
             .batch = 2,
             .heads = 4,
             .kv_heads = 2,
             .channels = 5,
             .lies = memory::token_major});
        add({.queries = 19, .keys = 35, .batch = 2, .heads = 4, .kv_heads = 2, .values = 9, .lies = memory::gaps});
        add({.queries = 34,
             .keys = 18,
             .batch = 1,
             .heads = 4,
             .kv_heads = 2,
             .channels = 24,
             .lies = memory::transposed});
        // padded and packed
        add({.queries = 12,
             .keys = 20,
             .batch = 3,
             .heads = 2,
             .kv_heads = 1,
             .query_lengths = {12, 0, 7},
             .key_lengths = {20, 9, 0}});
        add({.queries = 23, .keys = 23, .heads = 2, .query_offsets = {0, 5, 5, 20}, .key_offsets = {0, 6, 8, 23}});
        return list;
    }();
    return all;
}

/// A policy and the formulas that it is compared with.
template <class Policy>
struct made {
    Policy policy;
    formulas says;
};
template <class Policy>
made(Policy, formulas) -> made<Policy>;

// In kernels.cpp: compiled once, not for every policy.
template <class T>
std::vector<named_solver<T>> solvers_of_erased(erased<T> const& policy);
template <class T>
void run_once(problem<T>& p, formulas const& f, std::vector<named_solver<T>> const& solvers);

/// Whether kernels are compiled for erased policies alone: always for 16-bit scalars, and for all where a kernel is dear.
#if defined(BASIN_TEST_ERASED)
template <class T>
inline constexpr bool erases = true;
#else
template <class T>
inline constexpr bool erases = sizeof(T) == 2;
#endif

/// Calls `make(shape, T{}, variant)`, which gives an object with .policy and .says, for every shape, scalar and variant, and
/// compares every backend with the oracle.
template <class Make>
void check_against_oracle(Make const& make, int variants = 1) {
    for_each_type(policy_scalars{}, [&]<class T>() {
        std::uint64_t seed = 7;
        for (shape const& s : policy_shapes()) {
            for (int variant = 0; variant < variants; ++variant) {
                CAPTURE(variant);
                problem<T> p(s, seed++);
                auto const made = make(s, T{}, variant);
                if constexpr (erases<T>) {
                    erased<T> const policy(made.policy);
                    run_once<T>(p, made.says, solvers_of_erased<T>(policy));
                } else {
                    run_once<T>(p, made.says, solvers_of<T>(made.policy));
                }
            }
        }
    });
}

} // namespace basin_test
