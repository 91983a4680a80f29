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
quietly conan create tests/package/standin --name=eigen --version=3.4.0
quietly conan create tests/package/standin --name=xsimd --version=13.2.0
for options in "-o=&:with_eigen=False -o=&:with_xsimd=False -o=&:with_sycl=True" "-o=&:with_eigen=True -o=&:with_xsimd=True"; do
    # shellcheck disable=SC2086 # options are words
    quietly conan create . --no-remote "${common[@]}" $options
    printf -- '-- conan create %s\n' "$options"
    grep -E '^(basin [0-9]|(reference|eigen|simd) works)' "$work/log"
done

# A project of its own, after `conan create`: what README says.
for components in "eigen;simd" ""; do
    folder="$work/consumer-${components/;/-}"
    # elsewhere: Conan writes a CMakeUserPresets.json where it is called, and this project's presets would not load any more
    quietly env -C "$work" conan install --no-remote --requires=basin/0.1.0 "${common[@]}" -g CMakeDeps -g CMakeToolchain -s build_type=Release \
        --output-folder="$folder"
    quietly cmake -S tests/consumer/find_package -B "$folder/build" -G Ninja -DCMAKE_BUILD_TYPE=Release "-DCOMPONENTS=$components" \
        -DCMAKE_TOOLCHAIN_FILE="$folder/conan_toolchain.cmake"
    quietly cmake --build "$folder/build"
    printf -- '-- a consumer of the package, components: %s\n' "${components:-none}"
    "$folder/build/consumer"
done

refused "basin needs C++20: set compiler.cppstd=20 or newer" conan create . --no-remote -s compiler.cppstd=17
refused "basin needs gcc 12 or newer, the profile has 11: choose another compiler or profile" \
    conan create . --no-remote -s compiler=gcc -s compiler.version=11 -s compiler.cppstd=20 -s compiler.libcxx=libstdc++11
