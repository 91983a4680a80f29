// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT

// How far are sycl_backend's coarse kernels from simd_backend on the same CPU, forwards and backwards, and what do statistics
// cost on them?
// The shape is the usual one: 1024 tokens, 64 channels, 8 heads, float. Times are the best of several turns, in which
// the contenders take turns.

#include <basin/attention_backward.hpp>
#include <basin/backend/simd.hpp>
#include <basin/backend/sycl.hpp>
#include <basin/basin.hpp>

#include <chrono>
#include <cstdio>
#include <cstdlib>

using namespace basin;

namespace {

double milliseconds(auto const& f) {
    auto const begin = std::chrono::steady_clock::now();
    f();
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
}

} // namespace

int main(int argc, char** argv) {
    index_t const tokens = argc > 1 ? std::atoi(argv[1]) : 1024;
    int const turns = argc > 2 ? std::atoi(argv[2]) : 15;
    sycl_backend const device{.kernel = sycl_kernel::coarse};
    sycl_backend copies = device;
    copies.host = host_arrays::copied;
    index_t const units =
        static_cast<index_t>(device.queue.get_device().get_info<sycl::info::device::max_compute_units>());
    simd_backend const simd{.threads = units};
    buffer<float, 4> q(1, 8, tokens, 64), k(1, 8, tokens, 64), v(1, 8, tokens, 64), out(1, 8, tokens, 64);
    buffer<float, 3> mass(1, 8, tokens), top(1, 8, tokens), rows(1, 8, tokens);
    std::uint32_t state = 1;
    for (auto* const x : {&q, &k, &v})
        for (float& y : *x) y = static_cast<float>((state = state * 1664525U + 1013904223U) >> 8U) * 0x1p-23F - 1.0F;

    attention(simd, q, k, v, out, full{}, lse{rows});
    buffer<float, 3> const known = rows;
    buffer<float, 4> const d_out = v;
    buffer<float, 4> d_q(q.extents()), d_k(k.extents()), d_v(v.extents());
    auto const backward = [&](auto const& backend) {
        attention_backward(backend, saved{q, k, v, out, known}, upstream{d_out}, gradients{d_q, d_k, d_v}, full{});
    };

    double best[7] = {1e30, 1e30, 1e30, 1e30, 1e30, 1e30, 1e30};
    for (int turn = 0; turn < turns; ++turn) {
        double const times[7] = {
            milliseconds([&] { attention(simd, q, k, v, out, full{}); }),
            milliseconds([&] { attention(device, q, k, v, out, full{}); }),
            milliseconds([&] { attention(device, q, k, v, out, full{}, received{mass}, lse{rows}); }),
            milliseconds([&] { attention(device, q, k, v, out, full{}, received{mass}, peak{top}, entropy{rows}); }),
            milliseconds([&] { attention(copies, q, k, v, out, full{}); }),
            milliseconds([&] { backward(simd); }),
            milliseconds([&] { backward(device); })};
        for (int i = 0; i < 7; ++i) best[i] = times[i] < best[i] ? times[i] : best[i];
    }
    std::printf("%s, %d tokens, 64 channels, 8 heads, float, %d threads\n",
                device.queue.get_device().get_info<sycl::info::device::name>().c_str(), tokens, units);
    std::printf("simd_backend                           %8.2f ms\n", best[0]);
    std::printf("sycl_backend, coarse                   %8.2f ms  %.2f x simd\n", best[1], best[1] / best[0]);
    std::printf("  with received and lse                %8.2f ms  %+.1f %%\n", best[2], 100 * (best[2] / best[1] - 1));
    std::printf("  with received, peak and entropy      %8.2f ms  %+.1f %%\n", best[3], 100 * (best[3] / best[1] - 1));
    std::printf("  with all arrays copied               %8.2f ms  %+.1f %%\n", best[4], 100 * (best[4] / best[1] - 1));
    std::printf("simd_backend, backward                 %8.2f ms\n", best[5]);
    std::printf("sycl_backend, backward, coarse         %8.2f ms  %.2f x simd\n", best[6], best[6] / best[5]);
    sycl_backend const other{.kernel = sycl_kernel::tile}; // backwards it is plain loops
    double const plain = milliseconds([&] { backward(other); });
    std::printf("sycl_backend, backward, plain, once    %8.2f ms  %.2f x simd\n", plain, plain / best[5]);
}
