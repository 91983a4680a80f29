#!/usr/bin/env bash
# Fuzzes what reads checkpoints with libFuzzer, the format and whole models: tests/fuzz/run.sh [INPUTS], a million of each by
# default (some minutes).
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

need_package libeigen3-dev "dense layers of the models"
need_package libxsimd-dev "their attention"
need_command pkg-config pkg-config "finds Eigen"
install_missing

mkdir -p build/fuzz/corpus
read -ra eigen < <(pkg-config --cflags eigen3)
common=(-std=c++20 -O1 -g "-fsanitize=address,undefined" "-fno-sanitize=vptr,null,object-size,pointer-overflow,float-cast-overflow"
        -fno-sanitize-recover=all -Iinclude -Iexamples "${eigen[@]/#-I/-isystem}")
for part in config model attend_forward attend_backward; do # attention itself is not led by coverage: it is not what reads the file
    coverage=
    [ $part != config ] || coverage=-fsanitize=fuzzer-no-link
    "$compiler" "${common[@]}" $coverage -c "examples/tiny_dlm/$part.cpp" -o "build/fuzz/$part.o"
done
for target in safetensors checkpoint; do
    objects=()
    [ $target = safetensors ] || objects=(build/fuzz/{config,model,attend_forward,attend_backward}.o)
    "$compiler" "${common[@]}" -fsanitize=fuzzer "tests/fuzz/$target.cpp" "${objects[@]}" -o "build/fuzz/$target"
done
cd build/fuzz
for target in safetensors checkpoint; do
    echo "== $target"
    ./$target -runs="${1:-1000000}" -max_len=4096 -timeout=5 -rss_limit_mb=2048 -malloc_limit_mb=512 -print_final_stats=1 -close_fd_mask=0 \
        -dict=../../tests/fuzz/safetensors.dict corpus ../../tests/fuzz/seeds 2>&1 | grep -vE '^#[0-9]+.*(NEW|REDUCE|pulse)'
done
