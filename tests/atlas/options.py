#!/usr/bin/env python3
"""Unusual input that sink_atlas can work with, and terminals: options.py PROGRAM WEIGHTS

Models of other words, prompts and rules that leave a part of the page out: the page is written, and says what is missing."""
import csv
import json
import os
import pathlib
import pty
import random
import re
import struct
import subprocess
import sys
import tempfile

program, weights = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2]).resolve()
failures = 0


def check(name, good, facts=""):
    global failures
    failures += not good
    print(f"{'ok' if good else 'FAILED'}  {name} {facts if not good else ''}")


def escaped(word):
    return "".join(c if 0x20 < ord(c) < 0x7f and c != "\\" else f"\\x{ord(c):02x}" for c in word)


def model(path, words, kind="masked_diffusion", length=32, **more):
    """An untrained model with a vocabulary of its own."""
    c = dict(kind=kind, layers=1, width=8, heads=2, key_value_heads=2, hidden=8, gated=0, vocabulary=4 + len(words), length=length, mask_token=0, rope_base=100,
             block=8, sinks="none", sink_count=1, sink_place="front") | more
    w, n = c["width"], c["vocabulary"]
    layer = dict(attention_norm=(w,), query=(w, w), key=(w, w), value=(w, w), output=(w, w), mlp_norm=(w,), up=(8, w), down=(w, 8))
    shapes = {"embedding": (n, w)} | {f"layers.0.{k}": s for k, s in layer.items()} | {"final_norm": (w,), "head": (n, w)}
    header = {"__metadata__": {k: str(v) for k, v in c.items()} |
              {"tokenizer.unit": "characters", "tokenizer.vocabulary": " ".join(["[MASK]", "[EOS]", "[SINK]", "[UNK]", *map(escaped, words)])}}
    draw, data = random.Random(1), b""
    for name, shape in shapes.items():
        count = shape[0] * (shape[1] if len(shape) > 1 else 1)
        header[name] = {"dtype": "F32", "shape": list(shape), "data_offsets": [len(data), len(data) + 4 * count]}
        data += struct.pack(f"<{count}f", *(1.0 if name.endswith("norm") else draw.gauss(0, 0.5) for _ in range(count)))
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)
    return path


def run(folder, *arguments):
    """The data of the page; None if there is none."""
    result = subprocess.run([program, "--output", str(folder), "--steps", "4", *map(str, arguments)], capture_output=True, text=True, timeout=100)
    page = folder / "sink_atlas.html"
    if result.returncode != 0 or not page.exists():
        print(result.returncode, result.stderr)
        return None
    return json.loads(re.search(r'<script id="data" type="application/json">(.*?)</script>', page.read_text(), re.S)[1])


def rows(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


with tempfile.TemporaryDirectory() as work:
    work = pathlib.Path(work)

    letters = [chr(c) for c in range(0x20, 0x7f)] + ["\n"]
    page = run(work / "english", "--model", model(work / "characters.safetensors", letters), "--passages", "5")
    check("a model of English characters is none of the tasks", page and page["prompt"] == "and the lord said unto", page and page["prompt"])
    if page:
        before = float(rows(work / "english/answers.csv")[0]["right_before"])
        check("answers are those of a model that does the tasks", before > 0.2, before)
        loss = float(rows(work / "english/masking.csv")[0]["loss"])
        check("the loss is that of the model's own words", loss > 3, loss)

    foreign = model(work / "foreign.safetensors", "xyz")
    page = run(work / "foreign", "--model", foreign, "--twin", model(work / "twin.safetensors", "xyz", "autoregressive"), "--passages", "5")
    check("a vocabulary of seven tokens begins with nothing", page and page["prompt"] == "", page and page["prompt"])
    check("passages that the model cannot read are not measured", page and page["masking"] is None and "does not know" in page["figures"]["masking"]["say"])
    check("a twin without a first word is left out, and the page says why", page and page["motion"] is None and "begins with a word" in page["absent"]["arm"])
    stranger = model(work / "stranger.safetensors", "xya", "autoregressive")
    said = subprocess.run([program, "--model", foreign, "--twin", stranger, "--output", work / "no"], capture_output=True, text=True)
    check("a twin that knows other words is refused", said.returncode == 1 and "knows other words" in said.stderr and not (work / "no").exists(), said.stderr)

    for prompt in ("[MASK] lord said", " "):
        page = run(work / "prompt", "--passages", "0", "--prompt", prompt)
        check(f"the prompt \"{prompt}\" leaves the twin out", page and page["motion"] is None and "begins with a word" in page["absent"]["arm"])

    page = run(work / "all", "--model", "tasks", "--rule", "mass_share:0", "--passages", "5", "--mask", "3", "--control", "sticky")
    check("where every key is a sink, sinks are measured", page and all(m is not None for p in page["answers"]["panels"] for m in p["series"][0]["mean"]))
    if page:
        controls = [p["series"][c] for p in (page["answers"]["panels"][0], page["masking"]["panels"][0]) for c in (1, 2)]
        check("and controls are left out", all(v is None for s in controls for key in ("mean", "low", "high", "killed") for v in s[key]), controls)
    page = run(work / "rule", "--model", "tasks", "--rule", "exceeds_others:0", "--passages", "5", "--mask", "20", "--control", "random")
    check("exceeds_others:0 gives a page with controls", page and all(v is not None for v in page["answers"]["panels"][0]["series"][1]["mean"]))
    page = run(work / "rule", "--rule", "top_keys:16", "--passages", "0")
    check("top_keys:16 after a prompt of five words", page and page["motion"] is not None)

    # terminals
    def on_terminal(*arguments, **variables):
        ours, theirs = pty.openpty()
        running = subprocess.Popen([program, "--passages", "0", "--output", str(work / "terminal"), *arguments], stdout=theirs, stderr=theirs,
                                   env={**os.environ, "NO_COLOR": "", "TERM": "xterm"} | variables)
        os.close(theirs)
        text = b""
        while True:
            try:
                piece = os.read(ours, 65536)
            except OSError:  # closed
                break
            if not piece: break
            text += piece
        os.close(ours)
        check(f"on a terminal {variables} it ends well", running.wait() == 0, text[-300:])
        return text.decode()

    check("a terminal has colour", "\x1b[" in on_terminal("--steps", "4", "--model", "tasks"))
    for plain in ({"TERM": "dumb"}, {"NO_COLOR": "1"}):
        check(f"no escape sequences with {plain}", "\x1b" not in on_terminal("--steps", "4", "--model", "tasks", "--passages", "5", **plain))
    text = on_terminal("--steps", "2", "--threshold", "1", "--model", "tasks", TERM="dumb")
    steps = [int(n) for n in re.findall(r"step (\d+),", text)]
    check("steps by a threshold are counted, without a number that is not known", steps and steps[0] == 1 and steps[-1] > 2 and " of 2" not in text, steps)
sys.exit(1 if failures else 0)
