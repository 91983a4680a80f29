#!/usr/bin/env bash
# examples/run.sh and examples/reproduce/run.sh called from another folder: files in their options are the caller's, defaults
# are the repository's. Nothing is built: the programs and what builds them are stand-ins that say how they were called.
set -euo pipefail
here=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
work=$(realpath "$work")
repository="$work/the repository"
mkdir -p "$work/bin" "$work/else" "$repository"/{tests,examples/reproduce,examples/tiny_dlm,build/reproduce}
cp "$here/examples/run.sh" "$repository/examples/"
cp "$here/examples/reproduce/run.sh" "$repository/examples/reproduce/"
# shellcheck disable=SC2016 # for that file
echo 'need_toolchain() { :; }; need_package() { :; }; need_command() { :; }; install_missing() { :; }' >"$repository/tests/install.sh"
touch "$repository/build/reproduce/english.txt"
program() { # PATH: prints its folder and arguments, one a line
    mkdir -p "$(dirname "$1")"
    printf '#!/bin/sh\npwd\nprintf "%%s\\n" "$@"\n' >"$1"
    chmod +x "$1"
}
program "$repository/build/atlas-program/examples/sink_atlas/sink_atlas"
program "$repository/build/native/examples/reproduce/reproduce"
ln -s /bin/true "$work/bin/cmake"
export PATH="$work/bin:$PATH"
failed=0
expect() { # FOLDER COMMAND... -- LINES...: what the program saw
    local folder=$1 command=() got wanted
    shift
    while [ "$1" != -- ]; do command+=("$1") && shift; done
    shift
    got=$(cd "$folder" && "${command[@]}" | grep -v 'building the sink atlas')
    wanted=$(printf '%s\n' "$@")
    [ "$got" = "$wanted" ] || { failed=1; printf 'FAILED: %s in %s gave\n%s\ninstead of\n%s\n' "${command[*]}" "$folder" "$got" "$wanted"; }
}
expect "$work/else" bash "../the repository/examples/run.sh" --model mine.safetensors --output out -- \
    "$work/else" --output "$repository/build/sink_atlas" --model mine.safetensors --output out
expect "$repository" bash examples/run.sh --steps 3 -- "$repository" --output build/sink_atlas --steps 3
expect "$work/else" bash "../the repository/examples/reproduce/run.sh" --seeds 1 --out mine --json=j.json --page /p.md --report -- \
    "$repository" --text build/reproduce/english.txt --seeds 1 --out "$work/else/mine" "--json=$work/else/j.json" --page /p.md --report
expect "$repository" bash examples/reproduce/run.sh --out mine -- "$repository" --text build/reproduce/english.txt --out mine
[ $failed = 0 ] && echo "all as it should be"
exit $failed
