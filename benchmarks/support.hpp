// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

// What every benchmark needs: data, the machine's multiply-add peak, and rounds in which rivals take turns. Times of one
// run on a shared machine mean little; ratios inside a run do.

#include "support/peak.hpp"

#include <basin/basin.hpp>

#include <nanobench.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <thread>
#include <vector>

namespace bench {

using basin::buffer;

/// `program [seconds] [--quick]`: how long each contender is measured. Quick is for trying the programs out: five rounds
/// and short texts, figures that mean nothing.
struct arguments {
    double seconds = 1.0;
    bool quick = false;
    arguments(int count, char** words) {
        for (int i = 1; i < count; ++i) {
            if (std::strcmp(words[i], "--quick") == 0)
                quick = true;
            else
                seconds = std::atof(words[i]);
        }
        if (quick) seconds = 0;
        if (seconds < 0) {
            std::fprintf(stderr, "usage: %s [seconds per contender] [--quick]\n", words[0]);
            std::exit(2);
        }
    }
};

/// Numbers like those of a model: roughly normal, from a counter, the same everywhere.
template <class T, std::size_t R>
void fill(buffer<T, R>& x, unsigned seed, float scale = 1) {
    std::uint64_t state = seed * 0x9e3779b97f4a7c15ULL + 1;
    for (T& y : x) {
        float sum = 0;
        for (int i = 0; i < 4; ++i) {
            state = state * 6364136223846793005ULL + 1442695040888963407ULL;
            sum += static_cast<float>(state >> 40U) * 0x1p-24F - 0.5F;
        }
        y = T(sum * 1.7320508F * scale);
    }
}

/// The arrays of a call. Scores have a standard deviation of `scale`.
template <class T>
struct heads {
    buffer<T, 4> q, k, v, out;
    heads(index_t batch, index_t head, index_t queries, index_t keys, index_t d, float scale = 1)
        : q(batch, head, queries, d), k(batch, head, keys, d), v(batch, head, keys, d), out(batch, head, queries, d) {
        fill(q, 1, scale);
        fill(k, 2);
        fill(v, 3);
    }
    double pairs() const { return double(q.extent(0)) * q.extent(1) * q.extent(2) * k.extent(2); }
    double flops() const { return 4 * pairs() * q.extent(3); }
};

/// Seconds of one call, over `calls` of them.
template <class F>
double time_of(F const& f, std::uint64_t calls) {
    ankerl::nanobench::Bench b;
    b.output(nullptr).performanceCounters(false).epochs(1).epochIterations(calls).warmup(0).run(f);
    return b.results().front().median(ankerl::nanobench::Result::Measure::elapsed);
}

inline double median(std::vector<double> x) {
    std::sort(x.begin(), x.end());
    std::size_t const n = x.size();
    return n % 2 == 1 ? x[n / 2] : (x[n / 2 - 1] + x[n / 2]) / 2;
}

/// Half of the distance between the quartiles, through the median.
inline double spread(std::vector<double> x) {
    std::sort(x.begin(), x.end());
    return (x[(3 * x.size()) / 4] - x[x.size() / 4]) / 2 / x[x.size() / 2];
}

struct contender {
    std::string name;
    double pairs, flops; // of one call: what is computed, not what a mask has spared
    std::function<void()> run;
    index_t threads = 1;
};

struct timing {
    std::string name;
    double seconds;       // median of one call
    double share_of_peak; // median over rounds, each against the peak measured beside it
    double over_first;    // median over rounds of this time through that of the first contender in the same round
    double spread;        // half of the middle half of the times, through the median: how calm the machine was
    double pairs, flops;
};

/// All contenders in turn, round after round, the peak measured before and after each. At least five rounds. Each round
/// begins with another contender, so that none always runs after the same one.
template <class T = float>
std::vector<timing> race(std::vector<contender> const& contenders, arguments const& a) {
    std::size_t const n = contenders.size();
    std::vector<std::vector<double>> seconds(n), shares(n), ratios(n);
    std::vector<std::uint64_t> calls(n);
    for (std::size_t i = 0; i < n; ++i) {
        contenders[i].run();
        double const once = seconds_of(contenders[i].run);
        calls[i] = once < 1e-3 ? 1 + static_cast<std::uint64_t>(1e-3 / once) : 1;
    }
    double spent = 0;
    for (std::size_t round = 0; round < 1000 && (round < 5 || spent < a.seconds * double(n)); ++round) {
        for (std::size_t turn = 0; turn < n; ++turn) {
            std::size_t const i = (round + turn) % n;
            contender const& c = contenders[i];
            double const before = peak<T>(c.threads);
            double const s = time_of(c.run, calls[i]);
            double const after = peak<T>(c.threads);
            seconds[i].push_back(s);
            shares[i].push_back(c.flops / s / std::max(before, after));
            spent += s * double(calls[i]);
        }
        for (std::size_t i = 0; i < n; ++i) ratios[i].push_back(seconds[i].back() / seconds[0].back());
    }
    std::vector<timing> result;
    for (std::size_t i = 0; i < n; ++i) {
        result.push_back({contenders[i].name, median(seconds[i]), median(shares[i]), median(ratios[i]),
                          spread(seconds[i]), contenders[i].pairs, contenders[i].flops});
    }
    return result;
}

inline void print_machine(char const* question) {
    std::string cpu = "unknown CPU";
    if (std::FILE* f = std::fopen("/proc/cpuinfo", "r")) {
        char line[512];
        while (std::fgets(line, sizeof line, f)) {
            std::string const text = line;
            if (text.rfind("model name", 0) == 0) {
                cpu = text.substr(text.find(':') + 2);
                cpu.pop_back();
                break;
            }
        }
        std::fclose(f);
    }
    double load[1] = {0};
    if (getloadavg(load, 1) != 1) load[0] = 0;
    std::printf("%s\n%s, %u cores, load %.1f, %d lanes of float, %s %s, %s\n", question, cpu.c_str(),
                std::thread::hardware_concurrency(), load[0], static_cast<int>(xsimd::batch<float>::size),
#if defined(__clang__)
                "clang",
#else
                "g++",
#endif
                __VERSION__, BASIN_BENCHMARK_FLAGS);
}

/// The columns that every program prints, and one of its own. "+-" is the spread of the rounds.
inline void print_columns(char const* title, char const* last) {
    std::printf("\n%-34s %9s %9s %7s %6s  %s\n", title, "ns/pair", "GFLOP/s", "peak", "+-", last);
}
inline void print_row(timing const& t, char const* last = "") {
    std::printf("%-34s %9.4f %9.1f %6.1f%% %5.1f%%  %s\n", t.name.c_str(), t.seconds / t.pairs * 1e9,
                t.flops / t.seconds * 1e-9, 100 * t.share_of_peak, 100 * t.spread, last);
    std::fflush(stdout);
}
/// The last column is what the row costs over the first one.
inline void print_over_first(std::vector<timing> const& rows) {
    for (std::size_t i = 0; i < rows.size(); ++i) {
        char last[64] = "";
        double const over = rows[i].over_first;
        if (i > 0) std::snprintf(last, sizeof last, "%.3f (%+.1f%%)", over, 100 * (over - 1));
        print_row(rows[i], last);
    }
}

} // namespace bench
