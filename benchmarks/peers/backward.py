# SPDX-FileCopyrightText: 2026 basin contributors
# SPDX-License-Identifier: MIT
"""The backward pass against PyTorch's, in one process, taking turns. Called by run.sh --backward."""
import argparse
import datetime
import gc
import json
import os

import compare # first: it sets the number of threads that libraries read when they are loaded
import numpy as np
import torch

import contenders
import page
import report

BASIN, SDPA, EAGER = "basin", "PyTorch SDPA", "PyTorch eager, autograd"
LONGEST_EAGER = 2048 # beyond, its matrices of probabilities and of their gradients fill gigabytes
LONGEST_BOTH = 2048 # forward and backward together, up to here: a call takes seconds beyond


def agree(line, tolerance=2e-5):
    expected = [x.copy() for x in line[BASIN]()]
    for name, call in line.items():
        for mine, theirs in zip(expected, call()):
            difference = float(np.abs(mine - theirs).max() / np.abs(mine).max())
            if not difference < tolerance:
                raise SystemExit(f"{name} differs from basin by {difference}")


def both(forward, backward):
    def call():
        forward()
        return backward()

    return call


def measure(basin, n, d, threads, seconds):
    heads = compare.HEADS if n <= 2048 else 2
    data = compare.make_data(n, d, heads=heads)
    d_out = np.random.default_rng(7).standard_normal(data[0].shape, dtype=np.float32)
    pairs = {BASIN: basin.training(data, d_out, threads), SDPA: contenders.sdpa_training(data, d_out)}
    if n <= LONGEST_EAGER:
        pairs[EAGER] = contenders.eager_training(data, d_out)
    for forward, _ in pairs.values():
        forward()
    line = {name: backward for name, (_, backward) in pairs.items()}
    agree(line)
    work = heads * n * n * d
    cell = {"n": n, "d": d, "threads": threads, "backward": compare.race(basin, line, 10.0 * work, threads, seconds)}
    if n <= LONGEST_BOTH:
        line = {name: both(*calls) for name, calls in pairs.items()}
        cell["both"] = compare.race(basin, line, 14.0 * work, threads, seconds)
    return cell


def speed(cell, kind, name):
    gflops = cell.get(kind, {}).get("gflops", {})
    return f"{gflops[name]:.0f}" if name in gflops else ""


def ratio(cell, kind, rival=SDPA):
    return cell[kind]["gflops"][BASIN] / cell[kind]["gflops"][rival]


def markdown(results):
    parts = [f"Measured on: {report.heading(results)}."]
    summary = []
    for (threads, d), cells in report.panels(results).items():
        title = f"d = {d}, {threads} thread{'s' if threads > 1 else ''}"
        rows = []
        for kind, what in (("backward", "backward"), ("both", "forward + backward")):
            for name in (BASIN, SDPA, EAGER):
                rows.append([f"{name}, {what}"] + [speed(c, kind, name) for c in cells])
        rows.append(["basin backward, share of peak"] + [f"{100 * c['backward']['share'][BASIN]:.0f} %" for c in cells])
        rows.append(["**basin / PyTorch SDPA, backward**"] + [f"**{ratio(c, 'backward'):.2f}**" for c in cells])
        parts += [f"**{title}**, GFLOP/s by N:", report.table(["N"] + [str(c["n"]) for c in cells], rows)]
        eager = [ratio(c, "backward", EAGER) for c in cells if EAGER in c["backward"]["gflops"]]
        backward = [ratio(c, "backward") for c in cells]
        summary.append([title, f"**{report.mean(backward):.2f}**", f"{min(backward):.2f}",
                        f"{report.mean([ratio(c, 'both') for c in cells if 'both' in c]):.2f}", f"{report.mean(eager):.2f}"])
    parts.append("Geometric means over N of basin through the rival:")
    parts.append(report.table(["", "SDPA, backward", "the same, lowest", "SDPA, forward + backward", "eager, backward"],
                              summary))
    return "\n\n".join(parts) + "\n"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--library", required=True)
    parser.add_argument("--seconds", type=float, default=1.5)
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--no-page", action="store_true")
    arguments = parser.parse_args()

    basin = contenders.Basin(os.path.abspath(arguments.library))
    results = {
        "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="minutes"),
        "machine": compare.machine(), "versions": {"PyTorch": torch.__version__}, "cells": [],
        "flags": basin.library.basin_flags().decode(), "compiler": basin.library.basin_compiler().decode(),
    }
    for threads in (t for t in arguments.threads if t <= (os.cpu_count() or 1)):
        torch.set_num_threads(threads)
        for d in (64, 128):
            for n in [512] if arguments.quick else [512, 1024, 2048, 4096, 8192]:
                cell = measure(basin, n, d, threads, 0 if arguments.quick else arguments.seconds)
                results["cells"].append(cell)
                numbers = "  ".join(f"{name} {x:.0f}" for name, x in cell["backward"]["gflops"].items())
                print(f"threads {threads} d {d:3} N {n:5}: {numbers} | {ratio(cell, 'backward'):.2f}x SDPA", flush=True)
                gc.collect()
    results["load_at_end"] = os.getloadavg()[0]

    folder = compare.ROOT / "build" / "peers"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "backward.json").write_text(json.dumps(results, indent=1), encoding="utf-8")
    text = markdown(results)
    print("\n" + text)
    if not (arguments.quick or arguments.no_page):
        page.replace("backward_peers", text)


if __name__ == "__main__":
    main()
