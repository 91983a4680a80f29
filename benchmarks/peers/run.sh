#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 basin contributors
# SPDX-License-Identifier: MIT
# Compares basin with PyTorch, ONNX Runtime and OpenVINO in one process, from a clean clone.
#   benchmarks/peers/run.sh [--backward] [--seconds S] [--quick] [--long] [--no-page]
# --backward measures the backward pass against PyTorch's instead
# --seconds  how long each contender is measured at each size (1.5); at least five rounds in any case
# --quick    tries everything out in a minute; the figures mean nothing and do not go to docs/
# --long     adds N = 16384
# --no-page  leaves docs/performance.md and its picture alone
# Results: build/peers/results.json, docs/performance.md, docs/pictures/performance.png.
set -euo pipefail
cd "$(dirname "$0")/../.."
case " $* " in *" -h "* | *" --help "*) sed -n '4,11s/^# \{0,1\}//p' benchmarks/peers/run.sh; exit 0 ;; esac
. tests/install.sh

need_toolchain
need_command python3 python3 "runs the comparison"
need_package python3-venv "keeps the rivals out of the system"
if command -v python3 >/dev/null && python3 -c "import venv, ensurepip" 2>/dev/null; then
    for i in "${!missing[@]}"; do # another Python than Debian's has it anyway
        [ "${missing[$i]}" != python3-venv ] || unset "missing[$i]"
    done
    missing=("${missing[@]+"${missing[@]}"}")
fi
install_missing

venv=build/peers-venv
mkdir -p build/peers
[ -x $venv/bin/python ] || python3 -m venv $venv
if [ ! -e $venv/installed ] || [ benchmarks/peers/install.py -nt $venv/installed ]; then
    echo "installing the rivals into $venv"
    $venv/bin/python benchmarks/peers/install.py
    touch $venv/installed
fi

cmake -S . -B build/peers/cmake -G Ninja -DCMAKE_BUILD_TYPE=Release -DBASIN_BUILD_TESTS=OFF -DBASIN_BUILD_EXAMPLES=OFF \
    -DBASIN_BUILD_BENCHMARKS=ON >build/peers/cmake.log || { cat build/peers/cmake.log >&2; exit 1; }
cmake --build build/peers/cmake --target basin_peers

program=compare.py words=()
for word in "$@"; do
    if [ "$word" = --backward ]; then program=backward.py; else words+=("$word"); fi
done
exec $venv/bin/python benchmarks/peers/$program --library build/peers/cmake/benchmarks/libbasin_peers.so "${words[@]+"${words[@]}"}"
