#pragma once

#include <basin/basin.hpp>

// The same source three times, each compiled for another processor.
struct odr_arrays {
    basin::buffer<float, 4> q, k, v, out;
    basin::buffer<float, 3> received;
};
namespace avx512 {
void run(odr_arrays&);
}
namespace avx2 {
void run(odr_arrays&);
}
namespace baseline {
void run(odr_arrays&);
}
