// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#include "make_runner.hpp"

namespace laws {
std::vector<runner> reference_runners() {
    return {make_runner<reference_backend, float>("reference float", true),
            make_runner<reference_backend, double>("reference double", true),
            make_runner<reference_backend, half>("reference half", true)};
}
} // namespace laws
