// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT

// How much memory does a call need beside its arguments? What workspace_bytes says, and by how much the process really
// grew (Linux).

#include "support.hpp"

namespace {

/// A line of /proc/self/status, in MB; 0 where there is none.
double status_megabytes(char const* name) {
    double kilobytes = 0;
    if (std::FILE* f = std::fopen("/proc/self/status", "r")) {
        char line[256];
        while (std::fgets(line, sizeof line, f)) {
            if (std::strncmp(line, name, std::strlen(name)) == 0) kilobytes = std::atof(line + std::strlen(name) + 1);
        }
        std::fclose(f);
    }
    return kilobytes * 1024e-6;
}

/// VmHWM, the highest resident size, starts again from now.
void forget_highest() {
    if (std::FILE* f = std::fopen("/proc/self/clear_refs", "w")) {
        std::fputs("5", f);
        std::fclose(f);
    }
}

} // namespace

int main(int argc, char** argv) {
    bench::arguments const args(argc, argv);
    basin::index_t const n = args.quick ? 2048 : 16384, heads = 16, d = 64;
    bench::print_machine("Memory beside the arguments: float, full attention, 16 heads, d = 64, MB of 10^6 bytes");
    bench::heads<float> x(1, heads, n, n, d);
    basin::buffer<float, 3> mass(1, heads, n), top(1, heads, n), spread(1, heads, n), sums(1, heads, n);
    std::printf("\nN = %d; a matrix of scores would be %.0f MB per head\n", n, 4e-6 * n * double(n));
    std::printf("%-32s %7s %12s %12s %12s\n", "statistics", "threads", "workspace", "per thread", "measured");
    auto const line = [&](char const* name, basin::index_t threads, auto const&... statistics) {
        basin::simd_backend const backend{.threads = threads};
        double const megabytes =
            1e-6 * double(basin::workspace_bytes(backend, x.q, x.k, x.v, x.out, basin::full{}, statistics...));
        forget_highest();
        double const before = status_megabytes("VmRSS:");
        basin::attention(backend, x.q, x.k, x.v, x.out, basin::full{}, statistics...);
        double const grown = status_megabytes("VmHWM:") - before;
        std::printf("%-32s %7d %9.2f MB %9.2f MB %9.2f MB\n", name, threads, megabytes, megabytes / threads, grown);
        std::fflush(stdout);
    };
    for (basin::index_t const threads : {1, 2}) {
        line("none", threads);
        line("received", threads, basin::received{mass});
        line("received, peak, entropy, lse", threads, basin::received{mass}, basin::peak{top}, basin::entropy{spread},
             basin::lse{sums});
    }
}
