// What a user's first program looks like; built in every way in which the library can be taken.
#include <basin/basin.hpp>
#include <basin/version.hpp>
#ifdef CONSUMER_EIGEN // set by the consumer's own project, not by the library
#include <Eigen/Core>
#include <basin/backend/eigen.hpp>
#endif
#ifdef CONSUMER_SIMD
#include <basin/backend/simd.hpp>
#endif

#include <cmath>
#include <cstdio>

template <class Backend>
static bool works(Backend const& backend, char const* name) {
    basin::buffer<float, 4> q({1, 4, 3, 8}), k({1, 4, 5, 8}), v({1, 4, 5, 2}), out({1, 4, 3, 2});
    v.fill(2);
    basin::attention(backend, q, k, v, out, basin::full{}); // equal scores: the mean of the values
    for (float const x : out)
        if (std::abs(x - 2) > 1e-6f) return std::printf("%s is wrong: %f\n", name, double(x)), false;
    std::printf("%s works\n", name);
    return true;
}

int main() {
    std::printf("basin %d.%d.%d\n", basin::version_major, basin::version_minor, basin::version_patch);
    bool good = works(basin::reference_backend{}, "reference");
#ifdef CONSUMER_EIGEN
    good = works(basin::eigen_backend{.threads = 2}, "eigen") && good;
#ifdef EIGEN_PATCH_VERSION // since Eigen 5
    std::printf("Eigen %d.%d.%d\n", EIGEN_MAJOR_VERSION, EIGEN_MINOR_VERSION, EIGEN_PATCH_VERSION);
#else
    std::printf("Eigen %d.%d.%d\n", EIGEN_WORLD_VERSION, EIGEN_MAJOR_VERSION, EIGEN_MINOR_VERSION);
#endif
#endif
#ifdef CONSUMER_SIMD
    good = works(basin::simd_backend{.threads = 2}, "simd") && good;
    std::printf("xsimd %d.%d.%d\n", XSIMD_VERSION_MAJOR, XSIMD_VERSION_MINOR, XSIMD_VERSION_PATCH);
#endif
    return good ? 0 : 1;
}
