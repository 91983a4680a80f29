#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 basin contributors
# SPDX-License-Identifier: MIT
# How long does it take to compile a program with the simd backend and three policies, and how much memory?
#   benchmarks/compile_time.sh [--quick]
# Processor seconds, the median of five (--quick: one), and the largest resident size of the compiler.
set -euo pipefail
cd "$(dirname "$0")/.."
rounds=5
[ "${1:-}" != --quick ] || rounds=1
exec python3 - "$rounds" <<'PYTHON'
import os, shutil, statistics, subprocess, sys, tempfile, time

rounds = int(sys.argv[1])
folder = "benchmarks/compile_time"
programs = ["headers_only.cpp", "three_policies.cpp"]
compilers = [c for c in (os.environ.get("CXX", ""), "g++", "clang++") if c and shutil.which(c)]
compilers = list(dict.fromkeys(compilers))[:1 if rounds == 1 else None]

def compile_once(command):
    """Processor seconds, elapsed seconds, MB of the largest process."""
    begin = time.monotonic()
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    said = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"{said[-2000:]}\nfailed: {' '.join(command)}")
    # usage is that of the driver and of the compiler proper, which it has waited for.
    return usage.ru_utime + usage.ru_stime, time.monotonic() - begin, usage.ru_maxrss * 1024e-6

with open("/proc/cpuinfo", encoding="utf-8") as f:
    cpu = next((l.split(":", 1)[1].strip() for l in f if l.startswith("model name")), "unknown CPU")
print("Compile time: basin.hpp and the simd backend, -std=c++20")
print(f"{cpu}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}, median of {rounds}\n")
print(f"{'program':20} {'compiler':12} {'flags':18} {'processor':>10} {'elapsed':>10} {'memory':>9}")
with tempfile.TemporaryDirectory() as scratch:
    for compiler in compilers:
        for flags in (["-O0"], ["-O2"], ["-O2", "-march=native"]):
            for program in programs:
                command = [compiler, "-std=c++20", *flags, "-Iinclude", "-c", f"{folder}/{program}", "-o",
                           f"{scratch}/x.o"]
                runs = [compile_once(command) for _ in range(rounds)]
                seconds, elapsed, memory = (statistics.median(r[i] for r in runs) for i in range(3))
                print(f"{program[:-4]:20} {compiler:12} {' '.join(flags):18} {seconds:8.2f} s {elapsed:8.2f} s {memory:6.0f} MB",
                      flush=True)
PYTHON
