#!/usr/bin/env bash
# programs.sh TINY_DLM: what the program does with bad input, Ctrl-C, a folder it cannot write to and a full disk. One
# sentence on stderr, an exit code that is not 0, and no half-written file.
set -uo pipefail
program=$(realpath "$1")
seeds=$(realpath "$(dirname "$0")/../fuzz/seeds")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
failed=0
small=(--layers 1 --width 8 --heads 1 --hidden 8 --batch 2 --threads 1 --check 2)

expect() { # CODE WORDS COMMAND...: the exit code, and what its one sentence says
    local code=$1 words=$2 got
    shift 2
    "$@" >out 2>err </dev/null
    got=$?
    if [ $got != "$code" ] || [ "$(wc -l <err)" != 1 ] || ! grep -qF -- "$words" err; then
        printf 'FAILED (exit code %s, expected %s and "%s"): %s\n' "$got" "$code" "$words" "$*"
        cat err
        failed=1
    fi
}
no_rests() { # NAME: nothing but what was asked for is left
    if compgen -G '*.part' >/dev/null; then
        echo "FAILED: $1 left a half-written file"
        failed=1
    fi
}

"$program" train "${small[@]}" --steps 2 --out model.safetensors >/dev/null 2>&1 || { echo "FAILED: training"; exit 1; }
"$program" train "${small[@]}" --steps 2 --kind autoregressive --out twin.safetensors >/dev/null 2>&1
generate=("$program" generate --model model.safetensors)

# bad input
expect 2 'there is no command "sing"' "$program" sing
expect 2 'more than the 255 that are read again' "$program" train --width 512 --layers 8 --hidden 2048 --heads 8 --steps 1 --out large.safetensors
expect 2 'there is no option "--modle"' "$program" generate --modle x
expect 2 '--model FILE is needed' "$program" generate
expect 2 '--steps takes a number from 1 to 100000, not "0"' "${generate[@]}" --steps 0
expect 2 '--sampler takes one of confidence|entropy|margin|random, not "best"' "${generate[@]}" --sampler best
expect 1 'nowhere.safetensors cannot be read: No such file or directory' "$program" generate --model nowhere.safetensors
expect 1 'the prompt has the character "z", which this model never saw' "${generate[@]}" --prompt ABCz
expect 2 'the prompt has 65 tokens, but there is room for 64' "${generate[@]}" --prompt "$(printf 'A%.0s' {1..65})"
expect 2 'so --length 65 is too much' "${generate[@]}" --length 65
expect 2 'needs the start of a text' "$program" generate --model twin.safetensors
head -c 3000 model.safetensors >short.safetensors
expect 1 'short.safetensors cannot be read as a checkpoint' "$program" generate --model short.safetensors
expect 1 'cannot be read as a checkpoint' "$program" generate --model "$program"
cp model.safetensors other.safetensors
printf 'X' | dd of=other.safetensors bs=1 seek=12 conv=notrunc 2>/dev/null
expect 1 'other.safetensors' "$program" generate --model other.safetensors
# a header that speaks of gigabytes is not believed: there is no more memory than for a tiny model
little_memory() { bash -c 'ulimit -v 1500000; exec "$@"' - "$@"; }
expect 1 'has shape (6, 2), expected (6, 1024)' little_memory "$program" generate --model "$seeds/model_too_large"
expect 1 'the checkpoint has no tensor "embedding"' little_memory "$program" generate --model "$seeds/model_alone"
expect 1 'length is 65536, outside of 2 ... 4096' little_memory "$program" generate --model "$seeds/model_too_long"

# every sampler writes a text, and the same one again
for sampler in confidence entropy margin random; do
    for more in '' '--threshold 0.5' '--block 16' '--temperature 1 --seed 3'; do
        # shellcheck disable=SC2086 # options are words
        a=$("${generate[@]}" --prompt 'ABCDE|ABCDE|ABCDE\n' --sampler $sampler $more) || { echo "FAILED: $sampler $more"; failed=1; }
        # shellcheck disable=SC2086
        b=$("${generate[@]}" --prompt 'ABCDE|ABCDE|ABCDE\n' --sampler $sampler $more --threads 2)
        [ -n "$a" ] && [ "$a" = "$b" ] || { echo "FAILED: $sampler $more gives two texts"; failed=1; }
    done
done

# places that cannot be written to
expect 1 'cannot create a file beside nowhere/text' "${generate[@]}" --out nowhere/text
expect 1 'cannot create a file beside model.safetensors/text' "${generate[@]}" --out model.safetensors/text
expect 1 'cannot create a file beside /proc/text' "${generate[@]}" --out /proc/text
expect 1 'cannot create a file beside nowhere/model' "$program" train --steps 1000000 --out nowhere/model
expect 1 'folder/ is a folder; --out names the file of the model' bash -c 'mkdir folder; exec "$@" --out folder/' - "$program" train --steps 1000000
expect 1 'the output could not be written; is the disk full?' bash -c '"$@" >/dev/full' - "${generate[@]}"

# a disk that is full in the middle of a file: a limit on the size of files acts the same
full() { # FILE COMMAND...
    bash -c 'trap "" XFSZ; ulimit -f 1; exec "$@"' - "${@:2}" >/dev/null 2>err
    local code=$?
    if [ $code = 0 ] || [ -e "$1" ] || ! grep -q 'cannot write' err; then
        echo "FAILED: a full disk, exit code $code:"
        cat err
        failed=1
    fi
    no_rests "a full disk"
}
full big.safetensors "$program" train "${small[@]}" --steps 2 --width 64 --out big.safetensors

# a look at texts that no training sees, ten times
"$program" train "${small[@]}" --steps 100 --out looked.safetensors >/dev/null 2>err
[ "$(grep -c 'unseen .* % right' err)" = 10 ] || { echo "FAILED: progress without validation:"; cat err; failed=1; }

# Ctrl-C: the state is whole, and the same command goes on; the result is that of a run that was left in peace
long=("${small[@]}" --steps 20000 --save-every 100)
"$program" train "${long[@]}" --out stopped.safetensors >/dev/null 2>err &
training=$!
until [ -e stopped.safetensors.resume ] || ! kill -0 $training 2>/dev/null; do sleep 0.01; done
kill -INT $training 2>/dev/null
wait $training
code=$?
[ $code = 130 ] || { echo "FAILED: Ctrl-C gives exit code $code"; cat err; failed=1; }
grep -q 'the same command goes on from there' err || { echo "FAILED: Ctrl-C says nothing"; failed=1; }
no_rests "Ctrl-C"
[ -e stopped.safetensors ] && { echo "FAILED: Ctrl-C left an unfinished model"; failed=1; }
[ -e stopped.safetensors.resume ] || { echo "FAILED: Ctrl-C left nothing to go on from"; failed=1; }
expect 1 'stopped.safetensors.resume belongs to another training: its seed is 1, not 2' \
    "$program" train "${long[@]}" --seed 2 --out stopped.safetensors
"$program" train "${long[@]}" --out stopped.safetensors >/dev/null 2>err || { echo "FAILED: resuming"; cat err; failed=1; }
[ -e stopped.safetensors.resume ] && { echo "FAILED: a finished training leaves its state"; failed=1; }
"$program" train "${long[@]}" --out whole.safetensors >/dev/null 2>&1
for file in stopped whole; do # but for the command in the header, they are the same
    "$program" evaluate --model $file.safetensors --check 8 --threads 1 >$file.txt
    tail -c 1800 $file.safetensors >$file.end
done
cmp -s stopped.txt whole.txt && cmp -s stopped.end whole.end || { echo "FAILED: a resumed training differs"; failed=1; }
[ $failed = 0 ] && echo "all as it should be"
exit $failed
