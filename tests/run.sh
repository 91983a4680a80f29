#!/usr/bin/env bash
# Installs what is missing (Debian, Ubuntu), builds all tests and examples, runs them.
set -euo pipefail
cd "$(dirname "$0")/.."
. tests/install.sh

need_toolchain
need_command python3 python3 "runs the must-not-compile tests and the code blocks of the docs"
need_package doctest-dev "the test framework"
need_package libxtensor-dev "tests with xtensor arrays"
need_package python3-numpy "reads exported arrays back"
need_package python3-pandas "reads exported tables back"
install_missing

cmake --preset test -DBASIN_WARNINGS_AS_ERRORS="${BASIN_WARNINGS_AS_ERRORS:-OFF}"
cmake --build --preset test
ctest --preset test -j "$(nproc)"
