// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT

// How fast is the backward pass at each length, against the multiply-add peak measured in the same run; what do policies and
// gradients through statistics cost, and what do threads bring? 10 d operations per pair: five products.

#include "support.hpp"

#include <basin/attention_backward.hpp>

namespace {

/// The arrays of a forward call with its lse, and of its backward call.
struct training : bench::heads<float> {
    basin::buffer<float, 4> d_out, d_q, d_k, d_v;
    basin::buffer<float, 3> lse, d_rows, d_keys;
    training(basin::index_t batch, basin::index_t count, basin::index_t n, basin::index_t d)
        : bench::heads<float>(batch, count, n, n, d), d_out(batch, count, n, d), d_q(batch, count, n, d),
          d_k(batch, count, n, d), d_v(batch, count, n, d), lse(batch, count, n), d_rows(batch, count, n),
          d_keys(batch, count, n) {
        bench::fill(d_out, 4);
        bench::fill(d_rows, 5);
        bench::fill(d_keys, 6);
    }
    double backward_flops() const { return 10 * pairs() * q.extent(3); }
    template <class Policy>
    void forward(Policy const& policy, basin::options const& o = {}, basin::index_t threads = 1) {
        basin::attention(basin::simd_backend{.threads = threads}, q, k, v, out, policy, o, basin::lse{lse});
    }
    template <class Policy, class... Terms>
    void backward(Policy const& policy, basin::options const& o, basin::index_t threads, Terms const&... terms) {
        basin::attention_backward(basin::simd_backend{.threads = threads}, basin::saved{q, k, v, out, lse},
                                  basin::upstream{d_out, terms...}, basin::gradients{d_q, d_k, d_v}, policy, o);
    }
};

void by_length(bench::arguments const& args) {
    for (basin::index_t const d : {64, 128}) {
        std::printf("\n%6s %4s %9s %9s %7s %6s  %17s\n", "N", "d", "ns/pair", "GFLOP/s", "peak", "+-",
                    "forward, GFLOP/s");
        for (basin::index_t const n : {512, 1024, 2048, 4096, 8192}) {
            if (args.quick && n > 512) break;
            training x(1, n > 4096 ? 1 : 4, n, d);
            x.forward(basin::full{});
            auto const r =
                bench::race({{"backward", x.pairs(), x.backward_flops(), [&] { x.backward(basin::full{}, {}, 1); }},
                             {"forward", x.pairs(), x.flops(), [&] { x.forward(basin::full{}); }}},
                            args);
            std::printf("%6d %4d %9.4f %9.1f %6.1f%% %5.1f%%  %17.1f\n", n, d, r[0].seconds / x.pairs() * 1e9,
                        x.backward_flops() / r[0].seconds * 1e-9, 100 * r[0].share_of_peak, 100 * r[0].spread,
                        x.flops() / r[1].seconds * 1e-9);
            std::fflush(stdout);
        }
    }
}

/// Each policy's forward call gives its own lse; then only backward calls are measured.
void by_policy(bench::arguments const& args, basin::index_t n, basin::index_t d) {
    std::vector<training> all;
    all.reserve(10);
    std::vector<bench::contender> line;
    auto const add = [&](char const* name, double share, auto const& policy, basin::options const& o,
                         auto const&... terms) {
        all.emplace_back(1, 4, n, d);
        training& x = all.back();
        x.forward(policy, o);
        line.push_back({name, share * x.pairs(), share * x.backward_flops(),
                        [&x, policy, o, terms...] { x.backward(policy, o, 1, terms...); }});
    };
    training const terms(1, 4, n, d);
    std::vector<basin::index_t> const lengths{n - n / 8};
    double const kept = double(lengths[0]) / n;
    add("full", 1, basin::full{}, {});
    add("padded to 8/7 of the length", kept * kept, basin::full{}, {.lengths = lengths});
    add("sink_token, 4 tokens", 1, basin::sink_token{{0, 1, 2, 3}}, {});
    add("sink_logit", 1, basin::sink_logit{{0.5, -1, 0, 1}}, {});
    add("causal", 0.5, basin::causal{}, {});
    add("softcap", 1, basin::softcap{30}, {});
    add("full, through lse", 1, basin::full{}, {}, basin::through_lse{terms.d_rows});
    add("full, through received", 1, basin::full{}, {}, basin::through_received{terms.d_keys});
    add("full, through entropy", 1, basin::full{}, {}, basin::through_entropy{terms.d_rows});
    char title[64];
    std::snprintf(title, sizeof title, "N = %d, d = %d, 4 heads", n, d);
    bench::print_columns(title, "time per computed pair over full");
    auto const rows = bench::race(line, args);
    for (std::size_t i = 0; i < rows.size(); ++i) {
        char last[64] = "";
        double const over = rows[i].over_first * rows[0].pairs / rows[i].pairs;
        if (i > 0) std::snprintf(last, sizeof last, "%.3f (%+.1f%%)", over, 100 * (over - 1));
        bench::print_row(rows[i], last);
    }
}

void by_threads(bench::arguments const& args, basin::index_t n, basin::index_t d) {
    auto const cores = static_cast<basin::index_t>(std::thread::hardware_concurrency());
    for (basin::index_t const heads : {8, 1}) {
        training x(1, heads, n, d);
        x.forward(basin::full{});
        std::vector<bench::contender> line;
        for (basin::index_t const threads : {1, 2, 4, 8, 16, 32}) {
            if (threads > 1 && threads > cores) break;
            line.push_back({std::to_string(threads) + " thread(s)", x.pairs(), x.backward_flops(),
                            [&x, threads] { x.backward(basin::full{}, {}, threads); }, threads});
        }
        char title[64];
        std::snprintf(title, sizeof title, "N = %d, d = %d, %d head(s)", n, d, heads);
        bench::print_columns(title, "speed over 1 thread");
        for (auto const& t : bench::race(line, args)) {
            char last[32];
            std::snprintf(last, sizeof last, "%.2f", 1 / t.over_first);
            bench::print_row(t, last);
        }
    }
}

void print_memory() {
    std::printf("\nworkspace, 16 heads, d = 64:");
    for (basin::index_t const n : {2048, 16384}) {
        for (basin::index_t const threads : {1, 2}) {
            static float places[9]; // shapes only: nothing is read
            auto const at = [&](int i) { return basin::view<float, 4>(places + i, {{1, 16, n, 64}}); };
            basin::view<float, 3> const lse(places, {{1, 16, n}});
            basin::view<float, 4> const q = at(1), k = at(2), v = at(3), out = at(4), d_out = at(5), d_q = at(6),
                                        d_k = at(7), d_v = at(8);
            std::size_t const bytes = basin::backward_workspace_bytes(
                basin::simd_backend{.threads = threads}, basin::saved{q, k, v, out, lse}, basin::upstream{d_out},
                basin::gradients{d_q, d_k, d_v}, basin::full{});
            std::printf("  N = %d, %d thread(s): %.1f MB", n, threads, double(bytes) * 0x1p-20);
        }
    }
    std::printf("\n");
}

} // namespace

int main(int argc, char** argv) {
    bench::arguments const args(argc, argv);
    bench::print_machine("The backward pass: float, 1 thread, 4 heads (1 from N = 8192)");
    by_length(args);
    by_policy(args, args.quick ? 512 : 2048, 64);
    by_threads(args, args.quick ? 512 : 2048, 64);
    print_memory();
}
