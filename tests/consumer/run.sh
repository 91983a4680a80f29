#!/usr/bin/env bash
# Takes the library in every way a stranger would, each from scratch: tests/consumer/run.sh BUILD_DIR [examples|ways]
# BUILD_DIR is a configured build tree of basin.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
build=$(cd "$1" && pwd)
what=${2:-all}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export CMAKE_GENERATOR=Ninja

say() { printf -- '-- %s\n' "$*"; }
quietly() { # shows the output only when something went wrong
    "$@" >"$work/log" 2>&1 || { cat "$work/log"; echo "failed: $*" >&2; exit 1; }
}
project() { # SOURCE BUILD ARGUMENTS...: configure, build, run
    quietly cmake -S "$1" -B "$2" -DCMAKE_EXPORT_COMPILE_COMMANDS=ON "${@:3}"
    quietly cmake --build "$2"
    "$2/consumer"
}
refused() { # WORDS SOURCE ARGUMENTS...: the configuration must fail with these words
    if cmake -S "$2" -B "$work/refused" "${@:3}" >"$work/log" 2>&1; then
        echo "should have been refused: ${*:3}" >&2
        exit 1
    fi
    tr -s ' \n' '  ' <"$work/log" | grep -qF "$1" || { cat "$work/log"; echo "expected the words: $1" >&2; exit 1; }
    rm -rf "$work/refused"
    say "refused as it should be: $1"
}

quietly cmake --install "$build" --prefix "$work/first"
mv "$work/first" "$work/prefix" # an install tree may be moved
for file in "$work"/prefix/share/cmake/basin/*.cmake "$work/prefix/share/pkgconfig/basin.pc"; do
    if grep -nF -e "$root" -e "$build" -e "$work" "$file"; then
        echo "$file names a folder of this machine" >&2
        exit 1
    fi
done

if [ "$what" != examples ]; then
    say "find_package, install tree, core only"
    project "$here/find_package" "$work/core" -DCMAKE_PREFIX_PATH="$work/prefix" \
        -DCMAKE_DISABLE_FIND_PACKAGE_Eigen3=ON -DCMAKE_DISABLE_FIND_PACKAGE_xsimd=ON
    say "find_package, install tree, components"
    project "$here/find_package" "$work/install" -DCMAKE_PREFIX_PATH="$work/prefix" "-DCOMPONENTS=eigen;simd"
    if grep -nE -- '-march|-W[a-z]|-O[0-9]|-ffast|-std=(c|gnu)\+\+(1|23)' "$work/install/compile_commands.json"; then
        echo "the package puts flags into its user's build" >&2
        exit 1
    fi
    say "find_package, build tree, components"
    project "$here/find_package" "$work/tree" -Dbasin_DIR="$build" "-DCOMPONENTS=eigen;simd"
    say "add_subdirectory"
    project "$here/add_subdirectory" "$work/sub" -DBASIN_SOURCE="$root"
    say "add_subdirectory in a project that is on another Eigen and xsimd"
    mkdir -p "$work/own"
    for headers in /usr/include/xsimd /usr/include/eigen3/Eigen; do
        [ ! -d "$headers" ] || cp -r "$headers" "$work/own/"
    done
    if [ -d "$work/own/xsimd" ] && [ -d "$work/own/Eigen" ]; then
        project "$here/add_subdirectory" "$work/on_own" -DBASIN_SOURCE="$root" -DOWN_HEADERS="$work/own"
        if grep -nF /usr/include/eigen3 "$work/on_own/compile_commands.json"; then
            echo "the system's Eigen is used beside the project's own" >&2
            exit 1
        fi
    fi
    say "pkg-config"
    # shellcheck disable=SC2046 # flags are words
    "${CXX:-g++}" -std=c++20 "$here/main.cpp" -o "$work/pkg" -DCONSUMER_EIGEN \
        $(PKG_CONFIG_PATH="$work/prefix/share/pkgconfig" pkg-config --cflags --libs 'basin >= 0.1' eigen3)
    "$work/pkg"

    refused "basin's component 'eigen' needs Eigen 3.4 or newer, which was not found" "$here/find_package" \
        -DCMAKE_PREFIX_PATH="$work/prefix" -DCOMPONENTS=eigen -DCMAKE_DISABLE_FIND_PACKAGE_Eigen3=ON
    refused "basin's component 'simd' needs xsimd 8.1 or newer, which was not found" "$here/find_package" \
        -DCMAKE_PREFIX_PATH="$work/prefix" -DCOMPONENTS=simd -DCMAKE_DISABLE_FIND_PACKAGE_xsimd=ON
    refused "basin's component 'sycl' needs AdaptiveCpp, which was not found" "$here/find_package" \
        -DCMAKE_PREFIX_PATH="$work/prefix" -DCOMPONENTS=sycl -DCMAKE_DISABLE_FIND_PACKAGE_AdaptiveCpp=ON
    refused "basin has no component 'cuda': the components are eigen, simd and sycl." "$here/find_package" \
        -DCMAKE_PREFIX_PATH="$work/prefix" -DCOMPONENTS=cuda
    refused "basin 0.1.0 is here, but version 9.0 was asked for: ask find_package for 0.1, or install the other one." \
        "$here/find_package" -DCMAKE_PREFIX_PATH="$work/prefix" -DWANTED_VERSION=9.0
fi

if [ "$what" != ways ]; then
    # One project for each example, with the lines that a user would write.
    for source in "$root"/examples/*.cpp "$root"/examples/*/main.cpp; do
        [ -e "$source" ] || continue
        name=$(basename "$source" .cpp)
        parts=$source
        if [ "$name" = main ]; then
            name=$(basename "$(dirname "$source")")
            parts="$(dirname "$source")/*.cpp"
        fi
        components=()
        for component in eigen simd; do
            if grep -qsE "include *[<\"]basin/backend/$component" $parts; then components+=("$component"); fi
        done
        mkdir -p "$work/$name"
        {
            echo "cmake_minimum_required(VERSION 3.25)"
            echo "project(consumer LANGUAGES CXX)"
            echo "find_package(basin 0.1 REQUIRED COMPONENTS ${components[*]:-})"
            # shellcheck disable=SC2086 # a pattern
            echo "add_executable(consumer $(echo $parts))"
            echo "target_link_libraries(consumer PRIVATE basin::basin ${components[*]/#/basin::})"
        } >"$work/$name/CMakeLists.txt"
        say "example $name as its own project"
        quietly cmake -S "$work/$name" -B "$work/$name/build" -DCMAKE_PREFIX_PATH="$work/prefix" -DCMAKE_BUILD_TYPE=Release
        quietly cmake --build "$work/$name/build"
        python3 "$root/tests/expect_output.py" "$source" "$work/$name/build/consumer" >/dev/null
    done
    if [ "$(uname -m)" = x86_64 ]; then
        say "example dispatch as its own project"
        quietly cmake -S "$root/examples/dispatch" -B "$work/dispatch" -DCMAKE_PREFIX_PATH="$work/prefix" -DCMAKE_BUILD_TYPE=Release
        quietly cmake --build "$work/dispatch"
        "$work/dispatch/dispatch"
    fi
fi
say "all consumers work"
