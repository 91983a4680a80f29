// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT

// The suite of the core, with sycl_backend as its backend. Sources of the suite are read into one unit, each in a namespace
// of its own, because a SYCL header is dearer than they are; what they include must stand here.
#include "../policy/shapes.hpp"

#include <support/random.hpp>

#include <basin/detect.hpp>
#include <basin/intervene.hpp>

#include <bit>
#include <cmath>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

namespace entry_tests {
#include "../attention/entry.cpp"
}
namespace intervention_tests {
#include "../intervene/policies.cpp"
}
namespace lambda_tests {
#include "../policy/lambdas.cpp"
}
namespace interchange_tests {
#include "../scalar/interchange.cpp"
}

// What policy/*.cpp ask for.
#include "../policy/kernels.cpp"
