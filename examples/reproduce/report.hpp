// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include "claims.hpp"

namespace reproduce {

/// Who wrote a report, and where: for JSON and the page. Who measured each model stands beside it.
struct origin {
    provenance by;
    std::string machine;
};

/// results.json: every number of every model, and every claim.
void write_json(std::string const& path, results const& all, std::vector<claim> const& claims, origin const& by);
/// The page: each claim, the papers' figure, ours, and the verdict.
void write_page(std::string const& path, results const& all, std::vector<claim> const& claims, origin const& by);

} // namespace reproduce
