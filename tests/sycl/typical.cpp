// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT

// Twelve policies as people use them, each on the tile kernel, once with 64 and once with 128 channels, against the
// reference. assemble.py takes the device code of this program and has it assembled for GPUs; `--sizes` is for it.

#include <basin/backend/sycl.hpp>
#include <basin/basin.hpp>

#include <cmath>
#include <cstdio>
#include <cstring>

using namespace basin;

namespace {

int failures = 0;

template <class Policy>
void run(sycl_queue const& queue, char const* name, Policy const& policy) {
    for (index_t const channels : {64, 128}) {
        index_t const tokens = 70;
        buffer<float, 4> q(1, 2, tokens, channels), k(1, 2, tokens, channels), v(1, 2, tokens, channels);
        std::uint32_t state = 1;
        for (auto* const x : {&q, &k, &v})
            for (float& y : *x)
                y = static_cast<float>((state = state * 1664525U + 1013904223U) >> 8U) * 0x1p-24F - 0.5F;
        buffer<float, 4> out(q.extents()), expected(q.extents());
        buffer<float, 3> mass(1, 2, tokens), expected_mass(1, 2, tokens), rows(1, 2, tokens);
        attention(reference_backend{}, q, k, v, expected, policy, received{expected_mass}, lse{rows});
        attention(sycl_backend{.queue = queue, .kernel = sycl_kernel::tile}, q, k, v, out, policy, received{mass},
                  lse{rows});
        float worst = 0;
        for (std::ptrdiff_t i = 0; i < out.size(); ++i)
            worst = std::fmax(worst, std::fabs(out.data()[i] - expected.data()[i]));
        for (std::ptrdiff_t i = 0; i < mass.size(); ++i)
            worst = std::fmax(worst, std::fabs(mass.data()[i] - expected_mass.data()[i]));
        bool const good = worst < 2e-5F;
        std::printf("%-28s %3d channels: off by %.1e%s\n", name, channels, static_cast<double>(worst),
                    good ? "" : ", TOO MUCH");
        failures += good ? 0 : 1;
    }
}

} // namespace

int main(int count, char** arguments) {
    if (count > 1 && std::strcmp(arguments[1], "--sizes") == 0) {
        std::printf("local memory: %d bytes\n", static_cast<int>(detail::device::tile_memory<float, 128>::bytes));
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
    std::printf("%d failures\n", failures);
    return failures == 0 ? 0 : 1;
}
