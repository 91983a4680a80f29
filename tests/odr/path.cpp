#include "path.hpp"

#include <basin/backend/simd.hpp>

void BASIN_ODR_PATH::run(odr_arrays& a) {
    auto const policy = basin::all_of(basin::window{.before = 40, .after = 9}, basin::softcap{20.f});
    basin::attention(basin::simd_backend{}, a.q, a.k, a.v, a.out, policy, basin::received{a.received});
}
