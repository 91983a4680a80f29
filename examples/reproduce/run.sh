#!/usr/bin/env bash
# Both papers' claims at toy scale: installs what is missing (Debian, Ubuntu), builds, trains and measures with one process
# per core, writes docs/reproduction.md and examples/reproduce/results.json. Stopped at any moment, it goes on where it was;
# from nothing it takes about an hour of two idle cores.
# Options go to the program; `examples/reproduce/run.sh --help` lists them.
set -euo pipefail
cd "$(dirname "$0")/../.."
. tests/install.sh

need_toolchain
need_command bible bible-kjv "the English text that the committed word models know"
install_missing

cmake -S . -B build/native -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_FLAGS=-march=native -DBASIN_BUILD_TESTS=OFF >/dev/null
cmake --build build/native --target reproduce
mkdir -p build/reproduce
text=build/reproduce/english.txt
[ -e $text ] || examples/tiny_dlm/english.sh $text
program=(build/native/examples/reproduce/reproduce --text $text "$@")
for ((i = 1; i < $(nproc); ++i)); do "${program[@]}" >/dev/null 2>&1 & done
trap 'kill -INT $(jobs -p) 2>/dev/null || true' INT TERM
"${program[@]}"
wait
