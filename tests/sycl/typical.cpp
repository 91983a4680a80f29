// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT

// Twelve policies as people use them, each on the tile kernel, once with 64 and once with 128 channels, and one in double,
// against the reference. assemble.py takes the device code of this program and has it assembled for GPUs; `--sizes` is
// for it.

#include <basin/backend/sycl.hpp>
#include <basin/basin.hpp>
#include <basin/testing/sample.hpp>

#include <cstdio>
#include <cstring>

using namespace basin;

namespace {

int failures = 0;

/// The largest difference to the reference, relative for large numbers; NaN where one is and the other is not.
template <class X>
double off(X const& got, X const& expected) {
    double worst = 0;
    for (std::ptrdiff_t i = 0; i < got.size(); ++i) {
        auto const a = static_cast<double>(got.data()[i]), b = static_cast<double>(expected.data()[i]);
        double const here = testing::close(a, b, 0) ? 0 : math::abs(a - b) / (1 + math::abs(b));
        if (!(here <= worst)) worst = here;
        if (worst != worst) break;
    }
    return worst;
}

template <class T = float, class Policy>
void run(sycl_queue const& queue, char const* name, Policy const& policy) {
    for (index_t const channels : {64, 128}) {
        index_t const tokens = 70;
        testing::sample<T> const x({.batch = 1,
                                    .heads = 2,
                                    .key_value_heads = 2,
                                    .queries = tokens,
                                    .keys = tokens,
                                    .channels = channels,
                                    .value_channels = channels});
        buffer<T, 4> out(x.q.extents()), expected(x.q.extents());
        buffer<T, 3> mass(1, 2, tokens), expected_mass(mass.extents()), rows(mass.extents()),
            expected_rows(mass.extents());
        attention(reference_backend{}, x.q, x.k, x.v, expected, policy, received{expected_mass}, lse{expected_rows});
        attention(sycl_backend{.queue = queue, .kernel = sycl_kernel::tile}, x.q, x.k, x.v, out, policy, received{mass},
                  lse{rows});
        double const differences[] = {off(out, expected), off(mass, expected_mass), off(rows, expected_rows)};
        bool good = true;
        for (double const d : differences) good = good && d < (sizeof(T) == 8 ? 1e-12 : 2e-5);
        std::printf("%-28s %3d channels: out %.1e, received %.1e, lse %.1e%s\n", name, channels, differences[0],
                    differences[1], differences[2], good ? "" : ", TOO MUCH");
        failures += good ? 0 : 1;
    }
}

} // namespace

int main(int count, char** arguments) {
    if (count > 1 && std::strcmp(arguments[1], "--sizes") == 0) {
        using detail::device::tile_memory;
        std::printf("local memory: float %d, double %d bytes\n", static_cast<int>(tile_memory<float, 128>::bytes),
                    static_cast<int>(tile_memory<double, 64>::bytes));
        return 0;
    }
    sycl_queue const queue;
    buffer<float, 4> table(1, 1, 70, 70);
    for (index_t i = 0; i < 70; ++i) table(0, 0, i, (3 * i) % 70) = 1;
    run(queue, "full", full{});
    run(queue, "causal", causal{});
    run(queue, "window", window{16, 16});
    run(queue, "block_causal", block_causal{32});
    run(queue, "block_diffusion", block_diffusion{8, 35});
    run(queue, "softcap", causal{} & softcap{30});
    run(queue, "alibi", alibi::geometric(2));
    run(queue, "bias", bias{table});
    run(queue, "sink_logit", sink_logit{0.5});
    run(queue, "sink_token over a window", sink_token{{0, 1}, window{8, 8}});
    run(queue, "sink_masked", sink_masked{key_set(70, {0, 64})} & causal{});
    run(queue, "key_bits", key_bits::of({1, 1, 70, 70}, [](site s) { return (s.query ^ s.key) % 3 != 1; }));
    run<double>(queue, "causal, in double", causal{});
    std::printf("%d failures\n", failures);
    return failures == 0 ? 0 : 1;
}
