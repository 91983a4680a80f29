// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT

// What every backend promises: see core.cpp.
#include "../contract/call.hpp"

#include <support/problem.hpp>
#include <support/random.hpp>

#include <cmath>
#include <cstring>
#include <string>
#include <vector>

namespace corner_tests {
#include "../contract/corners.cpp"
}
namespace determinism_tests {
#include "../contract/determinism.cpp"
}
namespace extent_tests {
#include "../contract/extents.cpp"
}
namespace row_tests {
#include "../contract/rows.cpp"
}
