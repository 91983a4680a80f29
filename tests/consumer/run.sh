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

readme() { # LANGUAGE NUMBER: that code block of README
    awk -v language="$1" -v number="$2" '
        /^```/ { if (inside) { inside = 0 } else if ($0 == "```" language) inside = (++seen == number); next }
        inside' "$root/README.md"
}
readme_project() { # BLOCK ARGUMENTS...: README's program, built by README's lines, prints what README says
    mkdir -p "$work/mine"
    { echo "cmake_minimum_required(VERSION 3.25)"
      echo "project(mine LANGUAGES CXX)"
      echo "add_executable(mine first.cpp)"
      readme cmake "$1"; } >"$work/mine/CMakeLists.txt"
    readme cpp 1 >"$work/mine/first.cpp"
    quietly cmake -S "$work/mine" -B "$work/mine/build" "${@:2}"
    quietly cmake --build "$work/mine/build"
    "$work/mine/build/mine" | diff - <(readme text 1)
    rm -rf "$work/mine/build"
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
    say "README: a copy of the folder"
    mkdir -p "$work/copy"
    cp -r "$root/include/basin" "$work/copy/"
    readme cpp 1 >"$work/copy/first.cpp"
    "${CXX:-g++}" -std=c++20 -O2 -I"$work/copy" "$work/copy/first.cpp" -o "$work/copy/first"
    "$work/copy/first" | diff - <(readme text 1)
    say "README: installed"
    readme_project 1 -DCMAKE_PREFIX_PATH="$work/prefix"
    say "README: a subfolder"
    mkdir -p "$work/mine"
    ln -s "$root" "$work/mine/basin"
    readme_project 2

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
    # The matrix takes true other versions; here, where only one of each is at hand, a copy with another number is one.
    mkdir -p "$work/own"
    for headers in /usr/include/xsimd /usr/include/eigen3/Eigen; do
        [ ! -d "$headers" ] || cp -r "$headers" "$work/own/"
    done
    if [ -d "$work/own/xsimd" ] && [ -d "$work/own/Eigen" ]; then
        sed -i -E 's/(define EIGEN_MINOR_VERSION) .*/\1 77/' "$work/own/Eigen/src/Core/util/Macros.h"
        sed -i -E 's/(define XSIMD_VERSION_PATCH) .*/\1 77/' "$work/own/xsimd/config/xsimd_config.hpp"
        project "$here/add_subdirectory" "$work/on_own" -DBASIN_SOURCE="$root" -DOWN_HEADERS="$work/own" | tee "$work/printed"
        if [ "$(grep -cE '^(Eigen|xsimd) .*\.77$' "$work/printed")" != 2 ] ||
           grep -nF /usr/include/eigen3 "$work/on_own/compile_commands.json"; then
            echo "the system's Eigen or xsimd is used instead of or beside the project's own" >&2
            exit 1
        fi
    fi
    # Where AdaptiveCpp is not, it says so; the sources of a target are compiled by it, and a target of each flow runs.
    if grep -q '^AdaptiveCpp_DIR:PATH=/' "$build/CMakeCache.txt"; then
        say "add_subdirectory, SYCL enabled on targets of the project around"
        acpp=$(sed -n 's/^AdaptiveCpp_DIR:PATH=//p' "$build/CMakeCache.txt")
        project "$here/add_subdirectory" "$work/sycl" -DBASIN_SOURCE="$root" -DAdaptiveCpp_DIR="$acpp" \
            "-DWITH_SYCL=library-only;omp.accelerated"
        for flow in library-only omp.accelerated; do ACPP_VISIBILITY_MASK=omp "$work/sycl/on_sycl_$flow"; done
    else
        say "AdaptiveCpp was not found, so nobody enables SYCL"
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

    # Versions of dependencies that are too old.
    mkdir -p "$work/old"
    for name in Eigen3 xsimd; do
        echo "set(PACKAGE_VERSION 3.3.9)" >"$work/old/${name}ConfigVersion.cmake"
    done
    echo "add_library(Eigen3::Eigen INTERFACE IMPORTED)" >"$work/old/Eigen3Config.cmake"
    echo "add_library(xsimd INTERFACE IMPORTED)" >"$work/old/xsimdConfig.cmake"
    refused "basin's component 'eigen' needs Eigen 3.4 or newer, but Eigen 3.3.9 was found: install a newer one or set Eigen3_DIR." \
        "$here/find_package" -DCMAKE_PREFIX_PATH="$work/prefix" -DCOMPONENTS=eigen -DEigen3_DIR="$work/old"
    refused "basin's component 'simd' needs xsimd 8.1 or newer, but xsimd 3.3.9 was found: install a newer one or set xsimd_DIR." \
        "$here/find_package" -DCMAKE_PREFIX_PATH="$work/prefix" -DCOMPONENTS=simd -Dxsimd_DIR="$work/old"

    # As a subfolder nothing is asked for by name; what is not there is said before CMake misses the target.
    refused "basin: Eigen was not found, so there is no basin::eigen (Debian: libeigen3-dev)" "$here/add_subdirectory" \
        -DBASIN_SOURCE="$root" -DCMAKE_DISABLE_FIND_PACKAGE_Eigen3=ON
    refused "basin: xsimd was not found, so there is no basin::simd (Debian: libxsimd-dev)" "$here/add_subdirectory" \
        -DBASIN_SOURCE="$root" -DCMAKE_DISABLE_FIND_PACKAGE_xsimd=ON
    refused "basin_enable_sycl(on_sycl_generic): AdaptiveCpp was not found: install it and set AdaptiveCpp_DIR, see docs/sycl.md" \
        "$here/add_subdirectory" -DBASIN_SOURCE="$root" -DWITH_SYCL=generic -DCMAKE_DISABLE_FIND_PACKAGE_AdaptiveCpp=ON
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
