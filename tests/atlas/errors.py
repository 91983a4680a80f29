#!/usr/bin/env python3
"""What sink_atlas says when it cannot work: errors.py PROGRAM WEIGHTS

Each bad input must give one sentence on stderr, an exit code that is not 0, and no half-written file."""
import os
import pathlib
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time

program, weights = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2])
model, twin = weights / "english_masked_diffusion.safetensors", weights / "english_autoregressive.safetensors"
work = pathlib.Path(tempfile.mkdtemp())
out = work / "out"
failures = 0


def expect(name, arguments, code, words, **how):
    global failures
    shutil.rmtree(out, ignore_errors=True)
    result = subprocess.run([program, "--passages", "0", "--output", str(out), *map(str, arguments)], capture_output=True, text=True, timeout=100, **how)
    said = result.stderr.strip()
    wrong = []
    if result.returncode != code: wrong.append(f"exit code {result.returncode} instead of {code}")
    if words not in said: wrong.append(f"\"{words}\" was not said")
    if said.count("\n") > 0: wrong.append("more than one line was said")
    for folder in (out, work):
        wrong += [f"{f} was left" for f in folder.glob("*.part")]
    if (out / "sink_atlas.html").exists(): wrong.append("a page was written")
    print(f"{'FAILED' if wrong else 'ok'}  {name}: {said}" + "".join(f"\n        {w}" for w in wrong))
    failures += bool(wrong)


expect("an unknown option", ["--colour"], 2, "--colour")
expect("an option without its value", ["--steps"], 2, "needs a value")
expect("a number out of range", ["--steps", "0"], 2, "--steps takes a number")
expect("a sampler that does not exist", ["--sampler", "best"], 2, "confidence|entropy|margin|random")
expect("a rule that does not exist", ["--rule", "loudest"], 2, "--rule takes")
expect("a rule with a bad number", ["--rule", "outlier:x"], 2, "--rule has a number")
expect("a control without a mask", ["--control", "random"], 2, "--mask K")
expect("too few passages", ["--passages", "3"], 2, "--passages")
expect("too many passages", ["--model", model, "--passages", "500"], 1, "passages of 128 tokens, not 500")
expect("a missing checkpoint", ["--model", work / "none.safetensors"], 1, "none.safetensors")
(work / "empty.safetensors").write_bytes(b"")
expect("an empty checkpoint", ["--model", work / "empty.safetensors"], 1, "empty.safetensors")
(work / "text.safetensors").write_text("this is a letter, not a model " * 40)
expect("a file that is no checkpoint", ["--model", work / "text.safetensors"], 1, "text.safetensors")
whole = model.read_bytes()
(work / "half.safetensors").write_bytes(whole[: len(whole) // 2])
expect("half a checkpoint", ["--model", work / "half.safetensors"], 1, "half.safetensors")
expect("an autoregressive model", ["--model", twin], 1, "give this one as --twin")
expect("a twin that is none", ["--model", model, "--twin", model], 1, "not autoregressive")
expect("a sibling without a sink token", ["--model", model, "--sibling", model], 1, "no sink token")
expect("a prompt outside of the vocabulary", ["--model", model, "--prompt", "and the xylophone"], 1, "xylophone")
expect("a prompt that is too long", ["--model", model, "--prompt", "the " * 128], 1, "shorten it")
(work / "file").write_text("")
expect("a folder that is a file", ["--model", model, "--output", work / "file" / "atlas"], 1, "--output")
if os.geteuid() != 0:  # root may write everywhere
    (work / "closed").mkdir(mode=0o500)
    expect("a folder that may not be written", ["--model", model, "--output", work / "closed"], 1, "closed")


def little_room():  # what a full disk looks like to a program: writes fail half-way
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (40_000, 40_000))


expect("a full disk", ["--model", model], 1, "cannot write", preexec_fn=little_room)

shutil.rmtree(out, ignore_errors=True)
running = subprocess.Popen([program, "--model", str(model), "--steps", "40", "--passages", "50", "--output", str(out)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
running.stdout.readline()  # it is at work
time.sleep(0.05)
running.send_signal(signal.SIGINT)
_, said = running.communicate(timeout=60)
left = [f.name for f in out.glob("*")]
good = running.returncode == 130 and "Ctrl-C" in said and not left
print(f"{'ok' if good else 'FAILED'}  Ctrl-C: code {running.returncode}, left {left}: {said.strip().splitlines()[-1:]}")
failures += not good

shutil.rmtree(work)
sys.exit(1 if failures else 0)
