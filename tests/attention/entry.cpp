// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#include <support/problem.hpp>

using namespace basin_test;

// The entry on every backend and scalar: shapes that are about reading and writing, not about policies.
namespace {

template <class T>
void check_shapes(std::vector<shape> const& shapes) {
    std::uint64_t seed = 2000;
    auto const policy = basin::all_of(basin::causal{}, basin::sink_logit{-0.5});
    for (shape const& s : shapes) {
        problem<T> p(s, seed++);
        formulas const says{.sees = [](place x) { return x.key <= x.query; },
                            .logits = std::vector<std::vector<double>>(static_cast<std::size_t>(s.heads), {-0.5})};
        run_and_compare(p, says, solvers_of<T>(policy));
    }
}

std::vector<shape> all_shapes() {
    std::vector<shape> list;
    // Every channel count that meets a border of registers, next to other value widths.
    for (int const d : {1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 24, 31, 32, 33, 40, 64, 65, 80, 128, 130})
        for (int const dv : {1, 6, 16, 24, 64, 80})
            list.push_back({.queries = 9, .keys = 21, .channels = d, .values = dv, .first_query = 12});
    // Every layout with every other, and token counts around blocks.
    for (memory const lies : {memory::dense, memory::token_major, memory::gaps, memory::transposed})
        for (int const n : {1, 5, 16, 63, 66, 129})
            list.push_back({.queries = n,
                            .keys = n + 3,
                            .batch = 2,
                            .heads = 2,
                            .kv_heads = 1,
                            .channels = 12,
                            .values = 20,
                            .lies = lies});
    // Grouped queries.
    for (auto const& [heads, kv] : {std::pair{4, 2}, std::pair{6, 1}, std::pair{3, 3}, std::pair{8, 2}})
        list.push_back({.queries = 7, .keys = 11, .batch = 2, .heads = heads, .kv_heads = kv});
    // Long keys, few queries; many queries, few keys.
    list.push_back({.queries = 2, .keys = 1000, .heads = 2, .first_query = 998});
    list.push_back({.queries = 700, .keys = 9});
    // A scale of one's own: 0 makes all scores equal, a negative one turns them around.
    for (double const scale : {0.0, -0.7, 2.5}) list.push_back({.queries = 13, .keys = 13, .scale = scale});
    // Packed texts of many sizes, one after the other, the last tokens belonging to none.
    list.push_back({.queries = 90,
                    .keys = 90,
                    .heads = 2,
                    .query_offsets = {0, 1, 3, 3, 20, 84},
                    .key_offsets = {0, 1, 3, 3, 20, 84}});
    list.push_back({.queries = 10, .keys = 10, .query_offsets = {0}, .key_offsets = {0}});
    // Padded batches with every length.
    list.push_back(
        {.queries = 20, .keys = 20, .batch = 5, .query_lengths = {0, 1, 16, 19, 20}, .key_lengths = {20, 1, 16, 3, 0}});
    // Positions: far away, repeated, backwards.
    list.push_back({.queries = 5,
                    .keys = 6,
                    .query_positions = {1000000, 3, 3, 0, 2000000000},
                    .key_positions = {5, 4, 3, 2, 1999999999, 0}});
    return list;
}

} // namespace

TEST_CASE("attention: shapes and strides against the oracle, float") { check_shapes<float>(all_shapes()); }
TEST_CASE("attention: shapes and strides against the oracle, double") { check_shapes<double>(all_shapes()); }
TEST_CASE("attention: shapes and strides against the oracle, half") { check_shapes<basin::half>(all_shapes()); }
TEST_CASE("attention: shapes and strides against the oracle, bfloat16") { check_shapes<basin::bfloat16>(all_shapes()); }

TEST_CASE("attention: without statistics it gives the same output") {
    for_each_backend([]<class Backend>() {
        for (int const n : {1, 17, 130}) {
            problem<float> p({.queries = n, .keys = n, .heads = 2}, 3), bare({.queries = n, .keys = n, .heads = 2}, 3);
            basin::attention(Backend{}, p.query(), p.key(), p.value(), p.out.view(), basin::causal{},
                             basin::received{p.received.flat()});
            basin::attention(Backend{}, bare.query(), bare.key(), bare.value(), bare.out.view(), basin::causal{});
            CHECK(difference("out", bare.out.numbers(), p.out.numbers(), [](std::size_t) { return 1e-6; }) == "");
        }
    });
}

TEST_CASE("attention: inputs with stride 0 are broadcast") {
    // One key-value head given four times by its stride equals grouped queries over one head.
    for_each_backend([]<class Backend>() {
        problem<float> p({.queries = 9, .keys = 12, .heads = 4, .kv_heads = 1}, 8),
            q({.queries = 9, .keys = 12, .heads = 4, .kv_heads = 1}, 8);
        auto const repeated = [](basin::view<float const, 4> const& x) {
            return basin::view<float const, 4>(x.data(), {{1, 4, x.extent(2), x.extent(3)}},
                                               {{0, 0, x.stride(2), x.stride(3)}});
        };
        basin::attention(Backend{}, p.query(), p.key(), p.value(), p.out.view(), basin::causal{});
        basin::attention(Backend{}, q.query(), repeated(q.key()), repeated(q.value()), q.out.view(), basin::causal{});
        CHECK(difference("out", q.out.numbers(), p.out.numbers(), [](std::size_t) { return 1e-6; }) == "");
    });
}

TEST_CASE("attention: lists of positions per batch entry") {
    int const n = 6;
    problem<double> p({.queries = n, .keys = n, .batch = 2}, 4);
    basin::buffer<index_t, 2> where(2, n);
    for (int i = 0; i < n; ++i) {
        where(0, i) = i;
        where(1, i) = n - 1 - i; // the second text is stored backwards
    }
    basin::options o;
    o.query_position = where;
    o.key_position = where;
    auto in = describe(p, {});
    for (int b = 0; b < 2; ++b)
        for (int i = 0; i < n; ++i)
            for (int j = 0; j < n; ++j) in.mask.push_back(b == 0 ? j <= i : j >= i);
    checker<double> const c{oracle(in), 16, n};
    for_each_backend([&]<class Backend>() {
        p.blank();
        basin::attention(Backend{}, p.query(), p.key(), p.value(), p.out.view(), basin::causal{}, o,
                         basin::lse{p.lse.flat()}, basin::received{p.received.flat()},
                         basin::escaped{p.escaped.flat()});
        compare(p, c, name_of<Backend>);
    });
    CHECK(true);
}
