// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include "case.hpp"

// A backend and a scalar behind plain functions: the laws are compiled once, only this file once per backend.
namespace laws {

/// Everything that a call can give, in double.
struct outcome {
    buffer<double, 4> out, p;                                        // p: (batch, head, query, key)
    buffer<double, 3> received, received_value, peak, votes, seen;   // by key
    buffer<double, 3> entropy, lse, escaped, favourite, favourite_p; // by query
};

struct runner {
    char const* name;
    double tolerance; // of accumulated numbers
    double stored;    // of outputs, which are rounded to the storage type
    bool exact;       // plain loops: what should change nothing changes no bit
    outcome (*run)(problem const&, program const&);
    outcome (*observe)(problem const&, program const&, buffer<double, 3> const& lse); // no out, no received_value
};

// One source each; without its backend a source gives an empty list.
std::vector<runner> reference_runners();
std::vector<runner> eigen_runners();
std::vector<runner> simd_runners();
std::vector<runner> const& all_runners();

} // namespace laws
