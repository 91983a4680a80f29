#!/usr/bin/env bash
# Fuzzes the reader of checkpoints with libFuzzer: tests/fuzz/run.sh [INPUTS], a million by default (two minutes or so).
# New inputs that reach new code stay in build/fuzz/corpus; what crashes is left in build/fuzz.
set -euo pipefail
cd "$(dirname "$0")/../.."
. tests/install.sh
need_command clang++ clang "libFuzzer belongs to it"
install_missing
has_fuzzer() { compgen -G "$("$1" -print-resource-dir)/lib/*/libclang_rt.fuzzer*" >/dev/null; }
compiler=clang++
for other in $(compgen -c clang++- | grep -E '^clang\+\+-[0-9]+$' | sort -u); do
    has_fuzzer "$compiler" || compiler=$other
done
if ! has_fuzzer "$compiler"; then
    compiler=clang++
    need_package "libclang-rt-$(clang++ -dumpversion | cut -d. -f1)-dev" "libFuzzer itself"
    install_missing
fi

mkdir -p build/fuzz/corpus
"$compiler" -std=c++20 -O1 -g -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all -Iinclude \
    tests/fuzz/safetensors.cpp -o build/fuzz/safetensors
cd build/fuzz
./safetensors -runs="${1:-1000000}" -max_len=4096 -timeout=5 -rss_limit_mb=2048 -print_final_stats=1 -close_fd_mask=0 \
    -dict=../../tests/fuzz/safetensors.dict corpus ../../tests/fuzz/seeds 2>&1 | grep -vE '^#[0-9]+.*(NEW|REDUCE|pulse)'
