// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include <doctest/doctest.h>

#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include <unistd.h>

namespace io_test {

namespace fs = std::filesystem;

/// Files that stand beside these tests.
inline fs::path here() { return fs::path(__FILE__).parent_path(); }

inline std::string content(fs::path const& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

/// An empty folder of this test's own, gone afterwards.
struct folder {
    fs::path path;
    explicit folder(char const* name)
        : path(fs::temp_directory_path() / ("basin_" + std::to_string(::getpid()) + "_" + name)) {
        fs::remove_all(path);
        fs::create_directories(path);
    }
    ~folder() { fs::remove_all(path); }
    std::string operator/(char const* name) const { return (path / name).string(); }
    bool empty() const { return fs::is_empty(path); }
};

/// What f complains about, or "nothing".
template <class F>
std::string complaint(F const& f) {
    try {
        f();
    } catch (std::exception const& e) {
        return e.what();
    }
    return "nothing";
}
inline bool has(std::string const& text, std::string const& words) { return text.find(words) != std::string::npos; }

} // namespace io_test
