#!/usr/bin/env bash
# Trains every committed checkpoint again, into the folder that is named: examples/tiny_dlm/train_all.sh PROGRAM FOLDER [NAME...]
# About 30 minutes on one idle core. A model that is already there is left alone; Ctrl-C and the same command go on.
set -euo pipefail
[ $# -ge 2 ] || { echo "usage: $0 PROGRAM FOLDER [NAME...]" >&2; exit 2; }
here=$(cd "$(dirname "$0")" && pwd)
program=$(realpath "$1")
mkdir -p "$2" && cd "$2"
shift 2

english=(--text english.txt --words 1000 --layers 5 --width 96 --hidden 288 --length 128 --rope-base 10000
         --batch 8 --rate 3e-3 --steps 1500 --check 64)
tasks=(--steps 800 --check 128)

model() { # NAME OPTION...
    local name=$1
    shift
    [ ! -e "$name.safetensors" ] || return 0
    if [ ${#wanted[@]} -gt 0 ] && [[ ! " ${wanted[*]} " == *" $name "* ]]; then return 0; fi
    [[ $name != english_* || -e english.txt ]] || "$here/english.sh" english.txt
    "$program" train --out "$name.safetensors" "$@" ${THREADS:+--threads "$THREADS"}
}
wanted=("$@")

model english_masked_diffusion "${english[@]}"
model english_autoregressive "${english[@]}" --kind autoregressive
model english_sink_token "${english[@]}" --sinks token
model tasks_masked_diffusion "${tasks[@]}"
model tasks_autoregressive "${tasks[@]}" --kind autoregressive
model tasks_block_diffusion "${tasks[@]}" --kind block_diffusion
model tasks_sink_token "${tasks[@]}" --sinks token
model tasks_sink_token_middle "${tasks[@]}" --sinks token --sink-place middle
model tasks_sink_token_end "${tasks[@]}" --sinks token --sink-place end
model tasks_sink_token_2 "${tasks[@]}" --sinks token --sink-count 2
model tasks_sink_token_4 "${tasks[@]}" --sinks token --sink-count 4
model tasks_zero_value "${tasks[@]}" --sinks zero_value
model tasks_sink_logit "${tasks[@]}" --sinks logit
model tasks_off_by_one "${tasks[@]}" --sinks off_by_one
model tasks_registers "${tasks[@]}" --sinks registers --sink-count 4
model tasks_gate "${tasks[@]}" --sinks gate
