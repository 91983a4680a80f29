#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 basin contributors
# SPDX-License-Identifier: MIT
"""Plants the faults of faults.py one by one in a copy of the tree, builds the tests that should notice, runs them, and
names the survivors. Not part of the gate: `python3 tests/mutation/run.py [--jobs N] [words of a file name...]`."""
import argparse
import concurrent.futures
import glob
import os
import queue
import shutil
import subprocess
import sys
import tempfile
import time

from faults import FAULTS

ROOT = os.path.realpath(os.path.join(os.path.dirname(__file__), "..", ".."))
FLAGS = "-std=c++20 -O0 -w -DBASIN_TEST_REDUCED=1".split()
EIGEN = ["-DBASIN_TEST_EIGEN=1", "-isystem", "/usr/include/eigen3"]
SIMD = ["-DBASIN_TEST_SIMD=1"]


def sources(tree, unit):
    """The sources of a test program and the flags it is built with. `folder:a+b` takes only a.cpp and b.cpp of it; a suffix
    `-eigen` or `-simd` adds a backend."""
    folder, _, backend = unit.partition("-")
    folder, _, chosen = folder.partition(":")
    flags = {"": [], "eigen": EIGEN + ["-O1"], "simd": SIMD + ["-O1"]}[backend]
    if chosen:
        return [f"{tree}/tests/{folder}/{stem}.cpp" for stem in chosen.split("+")], flags
    names = sorted(glob.glob(f"{tree}/tests/{folder}/*.cpp"))
    skip = ("eigen_", "xtensor_", "simd_") if folder != "laws" else ()
    return [n for n in names if not os.path.basename(n).startswith(skip)] if skip else names, flags


def run_unit(cxx, tree, unit):
    """None if the program passes, else how the fault was noticed."""
    names, flags = sources(tree, unit)
    out = f"{tree}/out"
    os.makedirs(out, exist_ok=True)
    if unit.startswith("laws"):  # one translation unit: templates are shared
        with open(f"{out}/laws.cpp", "w") as f:
            f.writelines(f'#include "{n}"\n' for n in names)
        names = [f"{out}/laws.cpp"]
    objects = []
    for n in names:
        objects.append(f"{out}/{os.path.basename(n)}.o")
        built = subprocess.run([cxx, *FLAGS, *flags, f"-I{tree}/include", f"-I{tree}/tests", "-c", n, "-o", objects[-1]],
                               capture_output=True, text=True)
        if built.returncode:
            return "compiler: " + next((l for l in built.stderr.splitlines() if "error" in l), built.stderr[-200:])
    linked = subprocess.run([cxx, *objects, f"{tree}/main.o", "-o", f"{out}/program", "-pthread"], capture_output=True, text=True)
    if linked.returncode:
        return "linker: " + linked.stderr[-300:]
    try:
        ran = subprocess.run([f"{out}/program", "-nc", "-aa=1"], capture_output=True, text=True, errors="replace", timeout=180)
    except subprocess.TimeoutExpired:
        return "hangs"
    if ran.returncode == 0:
        return None
    return "test: " + next((l[len("TEST CASE:"):].strip() for l in ran.stdout.splitlines() if l.startswith("TEST CASE:")), f"exit {ran.returncode}")


def main():
    parse = argparse.ArgumentParser()
    parse.add_argument("--jobs", type=int, default=2)
    parse.add_argument("--cxx", default="g++")
    parse.add_argument("--trust", action="store_true", help="do not first run every test program without a fault")
    parse.add_argument("words", nargs="*")
    args = parse.parse_args()
    faults = [f for f in FAULTS if not args.words or any(w in f[0] for w in args.words)]
    begun = time.time()
    with tempfile.TemporaryDirectory(prefix="basin-mutation-") as scratch:
        trees = queue.Queue()
        for i in range(args.jobs):
            tree = f"{scratch}/{i}"
            for part in ("include", "tests"):
                shutil.copytree(f"{ROOT}/{part}", f"{tree}/{part}")
            shutil.copytree(f"{ROOT}/docs/pictures", f"{tree}/docs/pictures")
            subprocess.run([args.cxx, *FLAGS, "-c", f"{tree}/tests/main.cpp", "-o", f"{tree}/main.o"], check=True)
            trees.put(tree)

        def in_a_tree(work):
            tree = trees.get()
            try:
                return work(tree)
            finally:
                trees.put(tree)

        def attempt(fault):
            path, old, new, units = fault
            def work(tree):
                name = f"{tree}/include/basin/{path}"
                with open(name) as f:
                    text = f.read()
                if old not in text:
                    return "stale", "the old text is not in the file"
                try:
                    with open(name, "w") as f:
                        f.write(text.replace(old, new, 1))
                    for unit in units:
                        if unit not in broken:
                            noticed = run_unit(args.cxx, tree, unit)
                            if noticed and noticed.startswith(("compiler", "linker")):
                                return "unbuilt", f"{unit}: {noticed}"  # says nothing about the tests
                            if noticed:
                                return "noticed", f"{unit}: {noticed}"
                    return "SURVIVED", ""
                finally:
                    with open(name, "w") as f:
                        f.write(text)
            verdict = in_a_tree(work)
            print(f"{verdict[0]:9} {path}: {old.strip()[:60]!r} -> {new.strip()[:40]!r}  {verdict[1][:110]}", flush=True)
            return fault, verdict[0]

        with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
            units = sorted({u for f in faults for u in f[3]})
            clean = dict.fromkeys(units) if args.trust else dict(zip(units, pool.map(lambda u: in_a_tree(lambda t: run_unit(args.cxx, t, u)), units)))
            broken = {u for u in units if clean[u]}
            for u in broken:
                print(f"left out: {u} fails without any fault ({clean[u]})")
            verdicts = list(pool.map(attempt, faults))
    count = {k: sum(v == k for _, v in verdicts) for k in ("noticed", "SURVIVED", "stale", "unbuilt")}
    tried = count["noticed"] + count["SURVIVED"]
    print(f"\n{tried} faults, {count['noticed']} noticed, {count['SURVIVED']} survived, {count['stale']} stale, {count['unbuilt']} did not build; {time.time() - begun:.0f} s")
    return count["SURVIVED"] > 0


if __name__ == "__main__":
    sys.exit(main())
