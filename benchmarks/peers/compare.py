# SPDX-FileCopyrightText: 2026 basin contributors
# SPDX-License-Identifier: MIT
"""Measures basin and its rivals in one process, taking turns. Called by run.sh."""
import argparse
import datetime
import gc
import json
import math
import os
import pathlib
import statistics
import time

os.environ.setdefault("OMP_NUM_THREADS", str(os.cpu_count()))

import numpy as np # after the line above: libraries read it when they are loaded
import torch

import contenders
import report

ROOT = pathlib.Path(__file__).resolve().parents[2]
HEADS = 4
LONGEST_EAGER = 4096 # beyond, its matrices of probabilities fill gigabytes
CALM = 0.02 # seconds: idle threads of the one before stop spinning


def machine():
    cpu = "unknown CPU"
    if os.path.exists("/proc/cpuinfo"):
        with open("/proc/cpuinfo", encoding="utf-8") as f:
            cpu = next((line.split(":", 1)[1].strip() for line in f if line.startswith("model name")), cpu)
    return {"cpu": cpu, "cores": os.cpu_count(), "load": os.getloadavg()[0]}


def make_data(n, d, scale=1.0, heads=HEADS):
    numbers = np.random.default_rng(n + d)
    q, k, v = (numbers.standard_normal((1, heads, n, d), dtype=np.float32) for _ in range(3))
    return np.ascontiguousarray(q * np.float32(scale)), k, v


def in_double(data):
    """Output and received mass by plain numpy in double, head by head, in blocks of queries."""
    q, k, v = (x[0].astype(np.float64) for x in data)
    out, mass = np.empty_like(q), np.zeros(k.shape[:2])
    for h in range(q.shape[0]):
        for i in range(0, q.shape[1], 512):
            s = q[h, i:i + 512] @ k[h].T / math.sqrt(q.shape[2])
            p = np.exp(s - s.max(axis=1, keepdims=True))
            p /= p.sum(axis=1, keepdims=True)
            out[h, i:i + 512] = p @ v[h]
            mass[h] += p.sum(axis=0)
    return out[None], mass


def line_up(basin, data, threads):
    n = data[0].shape[2]
    line = {
        "basin": basin.contender(data, threads, received=False),
        "basin, received": basin.contender(data, threads, received=True),
        "PyTorch SDPA": contenders.sdpa(data, mask=False),
        "PyTorch SDPA, dense mask": contenders.sdpa(data, mask=True),
        "ONNX Runtime": contenders.onnx_runtime(data, threads),
        "OpenVINO": contenders.open_vino(data, threads),
    }
    if n <= LONGEST_EAGER:
        line["PyTorch eager, column sums"] = contenders.eager(data)
    return line


def agree(line, data, tolerance=2e-5):
    """All give the same, or the comparison means nothing."""
    expected, mass = line["basin, received"]()
    expected, mass = expected.copy(), mass.copy()
    if expected.shape[2] <= 1024:
        truth, true_mass = in_double(data)
        assert np.abs(expected - truth).max() < tolerance, "basin differs from double"
        assert np.abs(mass - true_mass).max() < tolerance * mass.max() * 10, "received differs from double"
    for name, call in line.items():
        difference = float(np.abs(contenders.output_of(call) - expected).max())
        if not difference < tolerance:
            raise SystemExit(f"{name} differs from basin by {difference}")


def race(basin, line, flops, threads, seconds):
    """Turns, round after round, each round beginning with another one; the peak is measured beside every turn."""
    names = list(line)
    calls, times, peaks = {}, {name: [] for name in names}, []
    for name in names:
        line[name]()
        begin = time.perf_counter()
        line[name]()
        calls[name] = max(1, math.ceil(0.01 / (time.perf_counter() - begin)))
    spent, rounds = 0.0, 0
    shares = {name: [] for name in names}
    while rounds < 5 or (spent < seconds * len(names) and rounds < 200):
        for turn in range(len(names)):
            name = names[(rounds + turn) % len(names)]
            call = line[name]
            time.sleep(CALM)
            before = basin.peak(threads)
            call() # what the one before has left in the caches is nobody's fault
            begin = time.perf_counter()
            for _ in range(calls[name]):
                call()
            elapsed = time.perf_counter() - begin
            peak = max(before, basin.peak(threads))
            times[name].append(elapsed / calls[name])
            shares[name].append(flops / times[name][-1] / peak)
            peaks.append(peak)
            spent += elapsed
        rounds += 1
    return {
        "rounds": rounds, "peak": statistics.median(peaks) * 1e-9,
        "gflops": {name: flops / statistics.median(t) * 1e-9 for name, t in times.items()},
        "share": {name: statistics.median(s) for name, s in shares.items()},
        "seconds": times,
    }


def errors(basin, sizes, scales):
    """The largest and the root mean square error of each against double, on the same numbers."""
    rows = []
    for d in (64, 128):
        for n in sizes:
            for scale in scales:
                data = make_data(n, d, scale, heads=2)
                truth, _ = in_double(data)
                line = {"basin": basin.contender(data, 1, received=False), "PyTorch SDPA": contenders.sdpa(data, False),
                        "ONNX Runtime": contenders.onnx_runtime(data, 1), "OpenVINO": contenders.open_vino(data, 1)}
                row = {"n": n, "d": d, "scale": scale, "largest": {}, "rms": {}}
                for name, call in line.items():
                    e = contenders.output_of(call) - truth
                    row["largest"][name] = float(np.abs(e).max())
                    row["rms"][name] = float(np.sqrt((e * e).mean()))
                rows.append(row)
    return rows


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--library", required=True)
    parser.add_argument("--seconds", type=float, default=1.5)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--long", action="store_true")
    parser.add_argument("--no-page", action="store_true")
    arguments = parser.parse_args()

    basin = contenders.Basin(os.path.abspath(arguments.library))
    sizes = [256, 512] if arguments.quick else [256, 512, 1024, 2048, 4096, 8192] + [16384] * arguments.long
    threads = [t for t in (1, 2) if t <= (os.cpu_count() or 1)]
    results = {
        "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="minutes"), "quick": arguments.quick,
        "machine": machine(), "versions": contenders.versions(), "heads": HEADS, "cells": [],
        "flags": basin.library.basin_flags().decode(), "compiler": basin.library.basin_compiler().decode(),
    }
    results["errors"] = errors(basin, [256] if arguments.quick else [256, 2048], [1, 10, 100])
    print(report.heading(results), flush=True)
    for t in threads:
        torch.set_num_threads(t)
        for d in (64, 128):
            for n in sizes:
                data = make_data(n, d)
                line = line_up(basin, data, t)
                agree(line, data)
                flops = 4.0 * HEADS * n * n * d
                cell = {"n": n, "d": d, "threads": t, "onnx_form": line["ONNX Runtime"].form}
                cell.update(race(basin, line, flops, t, 0 if arguments.quick else arguments.seconds))
                results["cells"].append(cell)
                print(report.line_of(cell), flush=True)
                line.clear()
                gc.collect()
    results["load_at_end"] = os.getloadavg()[0]

    folder = ROOT / "build" / "peers"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "results.json").write_text(json.dumps(results, indent=1), encoding="utf-8")
    text = report.markdown(results)
    (folder / "results.md").write_text(text, encoding="utf-8")
    print("\n" + text)
    report.publish(results, folder, to_docs=not (arguments.quick or arguments.no_page))


if __name__ == "__main__":
    main()
