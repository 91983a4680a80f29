#!/usr/bin/env python3
"""The files beside the page, read back by numpy and computed again: data.py PROGRAM WEIGHTS

The program computes with xtensor; here the same numbers come from numpy and from the list of sinks."""
import csv
import json
import pathlib
import re
import subprocess
import sys
import tempfile

try:
    import numpy as np
except ImportError:  # another python3 may have it
    other = pathlib.Path("/usr/bin/python3")
    if pathlib.Path(sys.executable).resolve() == other.resolve() or not other.exists():
        sys.exit("numpy was not found (Debian: python3-numpy)")
    sys.exit(subprocess.run([other, *sys.argv]).returncode)

program, weights = sys.argv[1], pathlib.Path(sys.argv[2])
failures = 0


def check(name, good, facts=""):
    global failures
    failures += not good
    print(f"{'ok' if good else 'FAILED'}  {name} {facts}")


def rows(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def near(a, b):
    a, b = np.asarray(a, float), np.asarray(b, float)
    return a.shape == b.shape and np.allclose(a, b, rtol=2e-5, atol=1e-6, equal_nan=True)


with tempfile.TemporaryDirectory() as folder:
    folder = pathlib.Path(folder)
    # on purpose not the default set-up: another sampler, a masked run with a control
    command = [program, "--model", str(weights / "english_masked_diffusion.safetensors"), "--twin", str(weights / "english_autoregressive.safetensors"), "--steps", "12", "--sampler", "entropy", "--mask", "2", "--control", "sticky",
               "--passages", "6", "--seed", "5"]
    for name, threads in (("one", "2"), ("two", "1")):
        subprocess.run([*command, "--threads", threads, "--output", str(folder / name)], check=True, capture_output=True)
    one, two = folder / "one", folder / "two"
    names = sorted(f.name for f in one.iterdir())
    same = [n for n in names if n != "sink_atlas.html" and (one / n).read_bytes() != (two / n).read_bytes()]
    check("the same seed writes the same data, with any number of threads", not same, same)

    received, norms = np.load(one / "received.npy"), np.load(one / "value_norms.npy")
    steps, layers, heads, keys = received.shape
    check("arrays are [step, layer, head, key]", norms.shape == received.shape and steps == 12, received.shape)
    check("each head gives away one unit per query", np.allclose(received.sum(axis=3), keys, rtol=1e-4))

    sink = np.zeros(received.shape, bool)
    for s in rows(one / "sinks.csv"):
        at = tuple(int(s[n]) for n in ("step", "layer", "head", "key"))
        sink[at] = True
        assert abs(float(s["received"]) - received[at]) < 1e-5
    others = (received.sum(axis=3, keepdims=True) - received) / (keys - 1)
    margin = received - others - 3
    clear = np.abs(margin) > 1e-3  # on the threshold itself, rounding decides
    check("sinks exceed the mean of the others by 3, and only they", np.array_equal((margin > 0)[clear], sink[clear]), sink.sum())

    summary = rows(one / "heads.csv")
    absorbed = (received * sink).sum(axis=(0, 3)) / received.sum(axis=(0, 3))
    with np.errstate(invalid="ignore"):
        ratio = ((norms * sink).sum(axis=(0, 3)) / sink.sum(axis=(0, 3))) / ((norms * ~sink).sum(axis=(0, 3)) / (~sink).sum(axis=(0, 3)))
    favourite = received.argmax(axis=3)
    check("heads.csv: absorbed", near([float(r["absorbed"]) for r in summary], absorbed.ravel()))
    check("heads.csv: norm ratio", near([float(r["norm_ratio"]) for r in summary], ratio.ravel()))
    check("heads.csv: restless", near([float(r["restless"]) for r in summary], (favourite[1:] != favourite[:-1]).mean(axis=0).ravel()))

    curve = [r for r in rows(one / "sweep.csv") if r["model"] == "diffusion"]
    at = received - others
    check("sweep.csv", all(abs(float(r["share"]) - (at > float(r["epsilon"])).mean()) <= 3 / at.size for r in curve), len(curve))

    relative = np.load(one / "relative.npy")
    check("where every query sees every key, uniform attention gives 1", near(relative, received))
    weight = received.mean(axis=(1, 2))  # [step, key]
    any_head = sink.any(axis=(1, 2))
    centre = (weight * any_head * (np.arange(keys) + 0.5)).sum(axis=1) / (weight * any_head).sum(axis=1) / keys
    path = [r for r in rows(one / "motion.csv") if r["model"] == "diffusion"]
    check("motion.csv: a centre for each step, as a part of the text", near([float(r["centroid"]) for r in path], centre), centre[:3])
    numbers = {r["model"]: r for r in rows(one / "variances.csv")}
    dlm, twin, raw = (numbers[n] for n in ("diffusion", "autoregressive twin", "twin, raw column sums"))
    stays = (sink[1:] & sink[:-1]).sum() / sink[:-1].sum()
    check("variances.csv", near([float(dlm[n]) for n in ("temporal", "spatial", "stays")], [np.nanvar(centre), weight.mean(axis=0).var(), stays]), dlm)
    uniform = [float(twin[f"{n}_of_uniform_attention"]) for n in ("temporal", "spatial", "stays")]
    check("variances.csv: uniform attention has no sinks and no favourites, whatever the mask", near(uniform, [np.nan, 0, np.nan]), uniform)
    check("variances.csv: but its raw sums have", float(raw["spatial_of_uniform_attention"]) > 0.3 and float(raw["stays_of_uniform_attention"]) > 0.9)
    swept = {}
    for r in rows(one / "sweep.csv"): swept.setdefault(r["model"], []).append(float(r["share"]))
    last = np.array([sum(1 / i for i in range(k + 1, keys)) for k in range(keys - 1) if keys - 1 - k >= 8])  # of 127 queries, 8 and more
    even = last - (last.sum() - last) / (last.size - 1)
    check("sweep.csv: uniform attention on the twin's last map", near(swept["uniform attention, raw column sums"], [(even > 0.25 * i).mean() for i in range(81)]))

    tokens = rows(one / "tokens.csv")
    text = np.array([r["token"] for r in tokens]).reshape(steps + 1, keys)
    check("the last row of the text is finished", "[MASK]" not in text[steps] and "[MASK]" in text[steps - 1])
    text = text[:steps]
    masked = text == "[MASK]"
    share = {r["kind"]: (float(r["sinks"]), float(r["tokens"])) for r in rows(one / "holders.csv")}["[MASK]"]
    check("holders.csv", near(share, ((sink * masked[:, None, None, :]).sum() / sink.sum(), masked.mean())), share)

    tracks, events = rows(one / "tracks.csv"), rows(one / "events.csv")
    born = sum(e["event"] in ("born", "split") for e in events)
    died = sum(e["event"] in ("died", "merged") for e in events)
    check("births and deaths of tracks", born == len(tracks) and died == sum(int(t["died"]) >= 0 for t in tracks), (born, died))
    check("each sink belongs to a track", sum(int(t["steps"]) for t in tracks) == sink.sum())

    masking = rows(one / "masking.csv")
    check("masking.csv: intervals hold the mean", all(float(r["low"]) <= float(r["change"]) <= float(r["high"]) for r in masking), len(masking))
    check("masking.csv: controls hide as many keys",
          all(a["keys_hidden_per_head"] == b["keys_hidden_per_head"] for a in masking for b in masking if (a["model"], a["k"]) == (b["model"], b["k"])))

    answers = rows(one / "answers.csv")
    check("answers.csv: two models, three conditions, three K", len({(r["model"], r["hidden"], r["k"]) for r in answers}) == len(answers) == 18)
    check("answers.csv: shares of 18 answers, inside their intervals",
          all(near(float(r["right"]) * 18, round(float(r["right"]) * 18)) and float(r["low"]) - 1e-6 <= float(r["right"]) <= float(r["high"]) + 1e-6
              for r in answers))
    right = {(r["model"], r["hidden"], r["k"]): float(r["right"]) - float(r["right_before"]) for r in answers}
    changes = [r for r in rows(one / "answers_tests.csv") if not r["comparison"].startswith("(")]
    check("answers_tests.csv has the changes of answers.csv",
          len(changes) == 18 and all(near(float(r["mean"]), right[(r["model"], *re.fullmatch(r"(.*) \(K = (\d+)\) - nothing", r["comparison"]).groups())]) for r in changes))

    # a sink token's share, from what the same model receives when it is watched itself; its own row pays 1 to itself
    sibling = weights / "english_sink_token.safetensors"
    few = [program, "--steps", "6", "--passages", "0", "--seed", "3", "--model"]
    for name, more in (("before", [str(weights / "english_masked_diffusion.safetensors"), "--sibling", str(sibling)]), ("after", [str(sibling)])):
        subprocess.run([*few, *more, "--output", str(folder / name)], check=True, capture_output=True)
    given = np.load(folder / "after" / "received.npy")
    share = (given[..., 0] - 1).sum(axis=0) / (6 * (given.shape[3] - 1))
    told = [float(r["token"]) for r in rows(folder / "before" / "sink_token.csv")]
    check("sink_token.csv: the token's own row is no query", near(told, share.ravel()), told[:3])

    page = (one / "sink_atlas.html").read_text()
    data = json.loads(re.search(r'<script id="data" type="application/json">(.*?)</script>', page, re.S)[1])
    linked = {n for f in data["figures"].values() for n in f["data"]}
    check("every data file is linked, every link is a file", linked == set(names) - {"sink_atlas.html"}, linked ^ set(names))
    check("every figure says something", all(len(f["say"]) > 20 for f in data["figures"].values()))
    check("the page is one file", not re.search(r'(?:src|href)="(?!data:)[^"#]+', page.split('<script id="data"')[0]))
sys.exit(1 if failures else 0)
