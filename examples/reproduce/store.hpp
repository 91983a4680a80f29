// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include "claims.hpp"

// What a run leaves in its folder, and when the next one may use it.
namespace reproduce {

/// The texts that a model is trained and measured on; a committed one brings its own vocabulary. Each is read once.
tiny_dlm::corpus const& texts_for(run const& r, settings const& s);

/// All that decides a measurement, so that another one is not taken for it: the recipe or the bytes of a committed checkpoint, the
/// texts and their vocabulary, and what is measured.
std::map<std::string, std::string> identity(run const& r, tiny_dlm::corpus const& texts, settings const& s);

/// A measurement, and where it comes from.
struct kept_measurement {
    measurement numbers;
    provenance by;
};
/// What an earlier run measured; empty if none did, or another thing.
kept_measurement load(std::string const& path, std::map<std::string, std::string> const& wanted);
void save(std::string const& path, std::map<std::string, std::string> const& what, kept_measurement const& m);

/// Whether an earlier run left the state of this training; one of another recipe or text is made again.
bool is_there(std::string const& state, tiny_dlm::recipe const& how, tiny_dlm::corpus const& texts);

/// What a shell command prints, without the last line end; empty if it cannot be run.
std::string output_of(char const* command);
/// The commit that is checked out, and whether the sources differ from it.
std::string commit_here();

} // namespace reproduce
