// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT

// Shapes that are not long and square: one query against a cache, which memory bounds; a block of queries against a
// prompt; other widths of heads; many short texts.

#include "support.hpp"

namespace {

using basin::index_t;

bench::contender full(char const* name, bench::heads<float>& x, index_t threads = 1) {
    return {name, x.pairs(), x.flops(),
            [&x, threads] {
                basin::attention(basin::simd_backend{.threads = threads}, x.q, x.k, x.v, x.out, basin::full{});
            },
            threads};
}

/// The same keys and values, read and summed: what memory gives.
bench::contender reading(bench::heads<float> const& x, index_t threads) {
    return {"reading keys and values", x.pairs(), 0.0,
            [&x, threads] {
                std::ptrdiff_t const n = x.k.size() / (8 * threads);
                basin::detail::run_tasks(threads, 8 * threads, [&](index_t part) {
                    ankerl::nanobench::doNotOptimizeAway(bench::read_all(x.k.data() + part * n, n));
                    ankerl::nanobench::doNotOptimizeAway(bench::read_all(x.v.data() + part * n, n));
                });
            },
            threads};
}

void decode(index_t keys, index_t d, index_t threads, bench::arguments const& args) {
    bench::heads<float> x(1, 16, 1, keys, d);
    basin::buffer<float, 3> mass(1, 16, keys);
    double const bytes = 2.0 * sizeof(float) * double(x.k.size());
    auto const r = bench::race({reading(x, threads),
                                full("1 query, 16 heads", x, threads),
                                {"the same, received", x.pairs(), x.flops(),
                                 [&] {
                                     basin::attention(basin::simd_backend{.threads = threads}, x.q, x.k, x.v, x.out,
                                                      basin::full{}, basin::received{mass});
                                 },
                                 threads}},
                               args);
    char title[64];
    std::snprintf(title, sizeof title, "decode: %d keys, d = %d, %d thr.", keys, d, threads);
    bench::print_columns(title, "bytes of keys and values per second, share of reading");
    for (auto const& t : r) {
        char last[64];
        std::snprintf(last, sizeof last, "%.1f GB/s %.1f%%", bytes / t.seconds * 1e-9, 100 / t.over_first);
        bench::print_row(t, last);
    }
}

} // namespace

int main(int argc, char** argv) {
    bench::arguments const args(argc, argv);
    bench::print_machine("Short shapes: float");
    for (index_t const threads : {1, 2}) {
        if (threads > 1 && std::thread::hardware_concurrency() < 2) break;
        for (index_t const d : {64, 128}) decode(8192, d, threads, args);
    }

    bench::heads<float> square(1, 4, 1024, 1024, 64), block(1, 16, 32, 4096, 64), six(1, 16, 6, 4096, 64),
        ten(1, 16, 10, 4096, 64);
    bench::print_columns("few queries, d = 64", "time per pair over the first");
    auto const per_pair = [](std::vector<bench::timing> const& rows) {
        for (auto const& t : rows) {
            char last[32];
            std::snprintf(last, sizeof last, "%.2f", t.over_first * rows[0].pairs / t.pairs);
            bench::print_row(t, last);
        }
    };
    per_pair(bench::race({full("1024 queries x 1024 keys", square), full("32 queries x 4096 keys", block),
                          full("10 queries x 4096 keys", ten), full("6 queries x 4096 keys", six)},
                         args));

    bench::heads<float> w64(1, 4, 1024, 1024, 64), w32(1, 4, 1024, 1024, 32), w80(1, 4, 1024, 1024, 80),
        w96(1, 4, 1024, 1024, 96), w128(1, 4, 1024, 1024, 128), w256(1, 4, 1024, 1024, 256);
    bench::print_columns("widths, N = 1024, 4 heads", "");
    for (auto const& t : bench::race({full("d = 32", w32), full("d = 64", w64), full("d = 80", w80),
                                      full("d = 96", w96), full("d = 128", w128), full("d = 256", w256)},
                                     args)) {
        bench::print_row(t);
    }

    index_t const texts = 64, tokens = 64;
    bench::heads<float> batch(texts, 4, tokens, tokens, 64), packed(1, 4, texts * tokens, texts * tokens, 64);
    std::vector<index_t> borders;
    for (index_t i = 0; i <= texts; ++i) borders.push_back(i * tokens);
    bench::print_columns("64 texts of 64 tokens, d = 64", "time over the first");
    bench::print_over_first(bench::race(
        {full("a batch of 64", batch),
         {"packed: offsets", batch.pairs(), batch.flops(),
          [&] {
              basin::attention(basin::simd_backend{}, packed.q, packed.k, packed.v, packed.out, basin::full{},
                               basin::options{.offsets = borders});
          }},
         {"packed: blocks{64}", batch.pairs(), batch.flops(),
          [&] {
              basin::attention(basin::simd_backend{}, packed.q, packed.k, packed.v, packed.out, basin::blocks{tokens});
          }}},
        args));
}
