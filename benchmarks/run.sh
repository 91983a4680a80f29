#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 basin contributors
# SPDX-License-Identifier: MIT
# Builds the benchmark programs and runs them one after the other; nothing is compiled while something is measured.
#   benchmarks/run.sh [--quick] [--seconds S] [--page] [--flags "-O3 -mavx2 -mfma"] [program ...]
# --page writes what they print into docs/performance.md. Results also stay in build/benchmarks/results/.
set -euo pipefail
cd "$(dirname "$0")/.."
. tests/install.sh

seconds=1 quick="" page="" flags="-O3 -march=native" programs=()
usage() { sed -n '4,6s/^# \{0,1\}//p' "$0"; exit "$1"; }
while [ $# -gt 0 ]; do
    case $1 in
        --quick) quick=--quick ;;
        --seconds) seconds=${2:?--seconds needs a number}; shift ;;
        --page) page=yes ;;
        --flags) flags=${2:?--flags needs compiler flags}; shift ;;
        -h | --help) usage 0 ;;
        -*) usage 2 ;;
        *) programs+=("$1") ;;
    esac
    shift
done
[ ${#programs[@]} -gt 0 ] ||
    programs=(lengths backward policies statistics threads scalars short_shapes peaked memory precision compile_time)

need_toolchain
install_missing
mkdir -p build
cmake -S . -B build/benchmarks -G Ninja -DCMAKE_BUILD_TYPE=Release -DBASIN_BUILD_TESTS=OFF -DBASIN_BUILD_EXAMPLES=OFF \
    -DBASIN_BUILD_BENCHMARKS=ON "-DBASIN_BENCHMARK_FLAGS=$flags" >build/benchmarks.log || { cat build/benchmarks.log >&2; exit 1; }
for name in "${programs[@]}"; do
    [ "$name" = compile_time ] || cmake --build build/benchmarks --target "benchmark_$name"
done

mkdir -p build/benchmarks/results
for name in "${programs[@]}"; do
    printf '\n== %s\n' "$name"
    if [ "$name" = compile_time ]; then
        benchmarks/compile_time.sh $quick
    else
        "build/benchmarks/benchmarks/$name" "$seconds" $quick
    fi | tee "build/benchmarks/results/$name.txt"
    [ -z "$page" ] || python3 benchmarks/page.py "$name" <"build/benchmarks/results/$name.txt"
done
