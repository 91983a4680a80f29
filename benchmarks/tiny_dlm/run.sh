#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 basin contributors
# SPDX-License-Identifier: MIT
# The tiny model against the same model in PyTorch eager, 2 threads, in turns, in about a minute:
# benchmarks/tiny_dlm/run.sh [SECONDS [ROUNDS]]; an idle machine, please.
# PYTHON names a Python that has torch; without it, the environment that benchmarks/peers/run.sh makes.
set -euo pipefail
cd "$(dirname "$0")/../.."
python=${PYTHON:-build/peers-venv/bin/python}
[ -x "$(command -v "$python")" ] || { echo "$0: $python is not there; run benchmarks/peers/run.sh --quick first, or set PYTHON" >&2; exit 1; }
cmake -S . -B build/speed -G Ninja -DCMAKE_BUILD_TYPE=Release -DBASIN_BUILD_TESTS=OFF -DBASIN_BUILD_EXAMPLES=OFF \
    -DBASIN_BUILD_BENCHMARKS=ON >/dev/null
cmake --build build/speed --target benchmark_tiny_dlm
"$python" benchmarks/tiny_dlm/compare.py build/speed/benchmarks/tiny_dlm "$@"
