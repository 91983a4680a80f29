#!/usr/bin/env bash
# Creates and tests the Conan package in a Conan home of its own; the dependencies are stand-ins made of the system's
# headers, so no Conan server is needed.
set -euo pipefail
cd "$(dirname "$0")/../.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet 'conan>=2.4,<3'
export CONAN_HOME="$work/home" PATH="$work/venv/bin:$PATH"
common=(-s compiler.cppstd=20 -c "tools.cmake.cmake_layout:test_folder=$work/test"
        -c tools.cmake.cmaketoolchain:generator=Ninja -c tools.cmake.cmaketoolchain:user_presets=)
quietly() { "$@" >"$work/log" 2>&1 || { cat "$work/log"; echo "failed: $*" >&2; exit 1; }; }
refused() { # WORDS COMMAND...
    if "${@:2}" >"$work/log" 2>&1; then echo "should have been refused: ${*:2}" >&2; exit 1; fi
    grep -qF "$1" "$work/log" || { cat "$work/log"; echo "expected the words: $1" >&2; exit 1; }
    printf -- '-- refused as it should be: %s\n' "$1"
}

quietly conan profile detect
for package in eigen/3.4.0 xsimd/13.2.0 eigen/5.0.1 xsimd/14.2.0; do # the oldest and the newest of Conan Center
    quietly conan create tests/package/standin --name="${package%/*}" --version="${package#*/}"
done
for options in "-o=&:with_eigen=False -o=&:with_xsimd=False -o=&:with_sycl=True" "-o=&:with_eigen=True -o=&:with_xsimd=True"; do
    # shellcheck disable=SC2086 # options are words
    quietly conan create . --no-remote "${common[@]}" $options
    printf -- '-- conan create %s\n' "$options"
    grep -E '^(basin [0-9]|(reference|eigen|simd) works)' "$work/log"
done

# README's words: the command as it stands there, then its requirement in a project of its own, which may be on any of the
# versions that the recipe allows (Conan takes one of each for the whole project, or refuses).
words=$(grep -oP '`\Kconan create [^`]*' README.md)
# shellcheck disable=SC2086 # a command line
quietly $words --no-remote -c "tools.cmake.cmake_layout:test_folder=$work/test" -c tools.cmake.cmaketoolchain:user_presets=
printf -- '-- README: %s\n' "$words"
required=$(grep -oP '`\Kbasin/[0-9.]+(?=`)' README.md)
consumer() { # COMPONENTS OTHER_REQUIREMENTS...
    folder=$(mktemp -d "$work/consumer.XXX")
    # elsewhere: Conan writes a CMakeUserPresets.json where it is called, and this project's presets would not load any more
    { echo "[requires]"; printf '%s\n' "$required" "${@:2}"; } >"$folder/conanfile.txt"
    quietly env -C "$work" conan install "$folder/conanfile.txt" --no-remote "${common[@]}" -g CMakeDeps -g CMakeToolchain \
        -s build_type=Release --output-folder="$folder"
    quietly cmake -S tests/consumer/find_package -B "$folder/build" -G Ninja -DCMAKE_BUILD_TYPE=Release "-DCOMPONENTS=$1" \
        -DCMAKE_TOOLCHAIN_FILE="$folder/conan_toolchain.cmake"
    quietly cmake --build "$folder/build"
    printf -- "-- a project that requires %s, components: %s\n" "$(echo "$required" "${@:2}")" "${1:-none}"
    "$folder/build/consumer"
}
consumer ""
consumer "eigen;simd" eigen/3.4.0 xsimd/13.2.0
consumer "eigen;simd" eigen/5.0.1 xsimd/14.2.0

refused "basin needs C++20: set compiler.cppstd=20 or newer" conan create . --no-remote -s compiler.cppstd=17
refused "basin needs gcc 12 or newer, the profile has 11: choose another compiler or profile" \
    conan create . --no-remote -s compiler=gcc -s compiler.version=11 -s compiler.cppstd=20 -s compiler.libcxx=libstdc++11
