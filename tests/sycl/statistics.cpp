// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT

// The suite of the statistics: see core.cpp.
#include "../statistic/check.hpp"

#include <atomic>

namespace all_tests {
#include "../statistic/all.cpp"
}
namespace group_tests {
#include "../statistic/groups.cpp"
}
namespace observe_tests {
#include "../statistic/observe.cpp"
}
namespace own_tests {
#include "../statistic/own.cpp"
}
namespace padding_tests {
#include "../statistic/padding.cpp"
}
