// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

// The one place where the version is written: CMakeLists.txt and conanfile.py read these three lines.
#define BASIN_VERSION_MAJOR 0
#define BASIN_VERSION_MINOR 1
#define BASIN_VERSION_PATCH 0

/// Attention for diffusion language models, with attention sinks as first-class citizens.
namespace basin {

/// Grows when users' programs must change.
inline constexpr int version_major = BASIN_VERSION_MAJOR;
/// Grows with new features; before 1.0, users' programs may have to change too.
inline constexpr int version_minor = BASIN_VERSION_MINOR;
/// Grows when only faults were mended.
inline constexpr int version_patch = BASIN_VERSION_PATCH;

} // namespace basin
