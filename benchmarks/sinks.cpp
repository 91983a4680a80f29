// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT

// What do sinks cost? Detection against the attention that fed it, a sweep of thresholds in one pass against the loop, and a
// tracker's update.
#include <basin/backend/simd.hpp>
#include <basin/basin.hpp>
#include <basin/detect.hpp>
#include <basin/intervene/random.hpp>
#include <basin/measure/sweep.hpp>
#include <basin/track.hpp>

#include <chrono>
#include <cstdio>

namespace {
double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }
/// The least of several runs, in seconds.
template <class F>
double time_of(int runs, F const& f) {
    double best = 1e300;
    for (int i = 0; i < runs; ++i) {
        double const start = now();
        f();
        best = std::min(best, now() - start);
    }
    return best;
}
} // namespace

int main() {
    using namespace basin;
    for (index_t const n : {1024, 4096}) {
        index_t const heads = 2, channels = 64;
        buffer<float, 4> q({1, heads, n, channels}), k = q, v = q, out = q;
        counter_random const random{1};
        std::ptrdiff_t at = 0;
        for (auto* a : {&q, &k, &v})
            for (float& x : *a) x = static_cast<float>(random.unit(at++) * 2 - 1);
        buffer<float, 3> mass({1, heads, n});
        double const attend = time_of(3, [&] { attention(simd_backend{}, q, k, v, out, full{}, received{mass}); });
        std::printf("%d keys, %d heads: attention with received %.1f ms\n", n, heads, attend * 1e3);
        auto const rule = [&](char const* name, auto const& r) {
            double const t = time_of(20, [&] { (void)detect(simd_backend{}, evidence{mass}, r); });
            std::printf("  detect %-28s %7.1f us   %.3f %% of attention\n", name, t * 1e6, 100 * t / attend);
        };
        rule("exceeds_others", exceeds_others{});
        rule("outlier", outlier{});
        rule("soft", soft{});
        rule("mass_share", mass_share{});
        rule("top_keys{10}", top_keys{10});
        rule("exceeds_others & top_keys{10}", exceeds_others{} & top_keys{10});
        rule("vote of four", vote{2, exceeds_others{}, outlier{}, soft{}, mass_share{}});

        std::vector<double> thresholds;
        for (int i = 0; i < 100; ++i) thresholds.push_back(0.1 * i);
        double const one = time_of(10, [&] { (void)sweep(evidence{mass}, exceeds_others{}, thresholds); });
        double const loop = time_of(3, [&] {
            for (double const e : thresholds)
                (void)detect(simd_backend{}, evidence{mass}, exceeds_others{.epsilon = e});
        });
        std::printf("  sweep of 100 thresholds: one pass %.2f ms, a loop of detect %.2f ms: %.0f times\n", one * 1e3,
                    loop * 1e3, loop / one);
    }

    // 64 sinks among 4,096 keys: standing, drifting by one each step, and drawn anew.
    for (int const kind : {0, 1, 2}) {
        index_t const keys = 4096, sinks = 64;
        std::vector<detection> frames;
        counter_random const random{3};
        for (index_t t = 0; t < 64; ++t) {
            detection d(t, 0, 1, 1, keys);
            for (index_t key = 0; key < keys; ++key) d.observe(0, 0, key);
            for (index_t i = 0; i < sinks; ++i) {
                sink s;
                s.key = i * 64 + (kind == 0 ? 5 : kind == 1 ? t % 64 : static_cast<index_t>(random(t, i) % 64));
                s.received = 5;
                d.add(s);
            }
            frames.push_back(std::move(d));
        }
        tracker track{{.max_shift = 4, .keep_paths = false}};
        index_t const updates = kind == 2 ? 100000 : 1000000; // every one of them makes 55 tracks
        double const start = now();
        for (index_t t = 0; t < updates; ++t) track.update(t, 0, frames[static_cast<std::size_t>(t % 64)]);
        double const took = now() - start;
        std::printf("tracker, %-20s %d updates of 64 sinks: %.2f s, %.2f us each, %.0f ns per sink; %lld tracks\n",
                    kind == 0   ? "standing"
                    : kind == 1 ? "drifting"
                                : "drawn anew",
                    updates, took, took * 1e6 / updates, took * 1e9 / updates / sinks, track.births());
    }
}
