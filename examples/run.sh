#!/usr/bin/env bash
# Installs what is missing (Debian, Ubuntu), builds the sink atlas for this machine and runs it; options are its own:
# examples/run.sh --help. With --lessons it builds and runs the short examples instead.
set -euo pipefail
caller=$PWD
cd "$(dirname "$0")/.."
root=$PWD
. tests/install.sh

lessons() {
    cmake -S . -B build/examples -G Ninja -DCMAKE_BUILD_TYPE=Release -DBASIN_BUILD_TESTS=OFF
    local names=() name
    for name in examples/*.cpp; do names+=("$(basename "$name" .cpp)"); done
    cmake --build build/examples --target "${names[@]/#/example_}"
    for name in "${names[@]}"; do
        printf '\n== %s\n' "$name"
        "build/examples/examples/$name"
    done
    if [ -d build/examples/examples/dispatch ]; then
        cmake --build build/examples --target examples/dispatch/all
        printf '\n== dispatch\n'
        build/examples/examples/dispatch/dispatch
    fi
}

need_toolchain
[ "${1:-}" = --lessons ] || need_package libxtensor-dev "arrays of the sink atlas"
install_missing
if [ "${1:-}" = --lessons ]; then
    lessons
    exit
fi

log=build/atlas-program-log.txt
mkdir -p build
quietly() { "$@" >"$log" 2>&1 || { cat "$log" >&2; exit 1; }; }
echo "building the sink atlas, one to two minutes the first time"
quietly cmake -S . -B build/atlas-program -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_FLAGS=-march=native -DBASIN_BUILD_TESTS=OFF
quietly cmake --build build/atlas-program --target sink_atlas
# Where the caller stands, so that files in the options are the caller's.
cd "$caller"
[ "$caller" = "$root" ] && root= || root+=/
exec "${root}build/atlas-program/examples/sink_atlas/sink_atlas" --output "${root}build/sink_atlas" "$@"
