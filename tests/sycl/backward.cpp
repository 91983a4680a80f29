// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT

// The suite of the backward pass: see core.cpp.
#include <support/backends.hpp>
#include <support/compare.hpp>
#include <support/random.hpp>

#include <basin/attention_backward.hpp>
#include <basin/statistic/lse.hpp>
#include <basin/tape.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

namespace contract_tests {
#include "../backward/contract.cpp"
}
namespace isolation_tests {
#include "../backward/isolation.cpp"
}
namespace pytorch_tests {
#include "../backward/pytorch.cpp"
}
namespace toy_model_tests {
#include "../backward/toy_model.cpp"
}

// What differences.cpp, laws.cpp and scalars.cpp ask for.
#include "../backward/kernels_float.cpp"
#include "../backward/kernels_plain.cpp"
#include "../backward/kernels_weighed.cpp"
