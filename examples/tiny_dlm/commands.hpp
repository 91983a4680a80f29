// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

// The commands of the program `tiny_dlm`; each takes the arguments from its own name on and returns an exit code.
namespace tiny_dlm {

int train_command(int argc, char const* const* argv);
int evaluate_command(int argc, char const* const* argv);
int generate_command(int argc, char const* const* argv);

} // namespace tiny_dlm
