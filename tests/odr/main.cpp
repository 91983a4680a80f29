// Runs every path that this processor can run, and compares it with the reference.
#include "path.hpp"

#include <cmath>
#include <cstdio>
#include <cstring>

static odr_arrays arrays() {
    odr_arrays a{basin::buffer<float, 4>({1, 2, 77, 40}), basin::buffer<float, 4>({1, 2, 93, 40}),
                 basin::buffer<float, 4>({1, 2, 93, 24}), basin::buffer<float, 4>({1, 2, 77, 24}),
                 basin::buffer<float, 3>({1, 2, 93})};
    unsigned seed = 1;
    for (auto* array : {&a.q, &a.k, &a.v})
        for (float& x : *array) x = float((seed = seed * 1664525u + 1013904223u) >> 8) / float(1u << 23) - 1;
    return a;
}

static bool close(basin::buffer<float, 4> const& a, basin::buffer<float, 4> const& b) {
    for (std::ptrdiff_t i = 0; i < a.size(); ++i)
        if (!(std::abs(a.data()[i] - b.data()[i]) < 1e-4f)) return false;
    return true;
}

int main(int count, char** words) {
    odr_arrays expected = arrays();
    auto const policy = basin::all_of(basin::window{.before = 40, .after = 9}, basin::softcap{20.f});
    basin::attention(basin::reference_backend{}, expected.q, expected.k, expected.v, expected.out, policy,
                     basin::received{expected.received});

    struct {
        char const* name;
        bool here;
        void (*run)(odr_arrays&);
    } const paths[] = {
        {"baseline", true, baseline::run},
        {"avx2", __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"), avx2::run},
        {"avx512",
         __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
             __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq"),
         avx512::run},
    };
    bool good = true;
    for (auto const& path : paths) {
        if (count > 1 && std::strcmp(words[1], path.name) != 0) continue; // one path only: `basin_test_odr baseline`
        if (!path.here) {
            std::printf("%s: not on this processor\n", path.name);
            continue;
        }
        odr_arrays a = arrays();
        path.run(a);
        bool same = close(a.out, expected.out);
        for (std::ptrdiff_t i = 0; i < a.received.size(); ++i)
            same = same && std::abs(a.received.data()[i] - expected.received.data()[i]) < 1e-3f;
        std::printf("%s: %s\n", path.name, same ? "agrees with the reference" : "DIFFERS from the reference");
        good = good && same;
    }
    return good ? 0 : 1;
}
