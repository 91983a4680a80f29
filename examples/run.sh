#!/usr/bin/env bash
# Installs what is missing (Debian, Ubuntu), builds the examples in Release, runs them.
set -euo pipefail
cd "$(dirname "$0")/.."
. tests/install.sh

need_toolchain
install_missing

cmake -S . -B build/examples -G Ninja -DCMAKE_BUILD_TYPE=Release -DBASIN_BUILD_TESTS=OFF
cmake --build build/examples
for source in examples/*.cpp examples/*/main.cpp; do
    [ -e "$source" ] || continue
    name=$(basename "$source" .cpp)
    [ "$name" != main ] || name=$(basename "$(dirname "$source")")
    if [ -x "build/examples/examples/$name" ]; then
        printf '\n== %s\n' "$name"
        "build/examples/examples/$name"
    fi
done
if [ -x build/examples/examples/dispatch/dispatch ]; then
    printf '\n== dispatch\n'
    build/examples/examples/dispatch/dispatch
fi
