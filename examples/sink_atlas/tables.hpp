// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include "results.hpp"

namespace sink_atlas {

/// The numbers behind every figure, as CSV and NPY files in a folder.
void write_tables(std::string const& folder, results const& r);

} // namespace sink_atlas
