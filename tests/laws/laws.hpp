// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include "runner.hpp"

namespace laws {

/// "" if the law holds for the case, else what broke it.
using law = std::string (*)(law_case const&, runner const&);
struct named_law {
    char const* name;
    law holds;
};
std::vector<named_law> const& attention_laws();
std::vector<named_law> const& policy_laws(); // the runner is not used

/// For pasted cases: a law and a runner by name.
std::string try_law(std::string const& law, law_case const& c, std::string const& runner);

/// Runs a law on `cases` random cases. A failure is shrunk and printed as C++.
void run_law(named_law const& l, runner const& r, long cases);

} // namespace laws
