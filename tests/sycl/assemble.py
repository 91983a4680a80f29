#!/usr/bin/env python3
"""Has the device code of `typical` assembled for GPUs that are not here, and prints what it needs.

    assemble.py PROGRAM [sm_80 sm_90 ...]

PROGRAM is tests/sycl/typical.cpp, compiled by AdaptiveCpp's generic flow; it is started only for its device code to be
dumped. Its kernels become PTX by AdaptiveCpp's own
translator and machine code by NVIDIA's ptxas: registers, spills and local memory are ptxas' words, occupancy follows
from them. With AdaptiveCpp's SPIR-V translator and spirv-val they become SPIR-V too, which is validated. Fails if
anything is refused, if a tile kernel spills registers, or if one that `typical` has was not seen.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

SHARED = {"sm_80": 164 * 1024, "sm_90": 228 * 1024}  # bytes that the groups of a multiprocessor share
REGISTERS, ITEMS, THREADS = 65536, 128, 2048
# What typical.cpp has: twelve policies in float, rows with 64 and with 128 channels and keys, and one in double.
POLICIES = 12
WANTED = {"float": {("tile_rows", 64), ("tile_rows", 128), ("tile_keys", 64)}, "double": {("tile_rows", 64), ("tile_keys", 64)}}


def run(*command, **more):
    return subprocess.run([str(x) for x in command], text=True, capture_output=True, check=False, **more)


def prefix():
    acpp = shutil.which("acpp") or sys.exit("acpp is not in the PATH: AdaptiveCpp is needed")
    return Path(acpp).resolve().parent.parent


def tool_in(folder, name):
    """AdaptiveCpp's translators find their files beside a folder `bin`."""
    tools = prefix() / "lib/hipSYCL/llvm-to-backend"
    if not (tools / name).exists():
        return None, None
    (folder / "bin").mkdir(exist_ok=True)
    if not (folder / "lib").exists():
        (folder / "lib").symlink_to(prefix() / "lib")
    shutil.copy(tools / name, folder / "bin")
    return folder / "bin" / name, dict(os.environ, LD_LIBRARY_PATH=f"{tools}:{prefix() / 'lib'}")


def kernels(report):
    """(name, registers, spill bytes, stack bytes) of what ptxas says."""
    names = re.findall(r"Compiling entry function '(\w+)'", report)
    plain = run("c++filt", input="\n".join(names)).stdout.splitlines()
    bodies = re.split(r"Compiling entry function", report)[1:]
    for name, body in zip(plain, bodies):
        spills = sum(int(n) for n in re.findall(r"(\d+) bytes spill", body))
        stack = int(re.search(r"(\d+) bytes stack frame", body)[1])
        yield name, int(re.search(r"Used (\d+) registers", body)[1]), spills, stack


def translate(folder, object_file, arch):
    """PTX for the oldest of the GPUs; newer ones take it as well."""
    tool, environment = tool_in(folder, "llvm-to-ptx-tool")
    if tool is None:
        sys.exit("AdaptiveCpp's llvm-to-ptx-tool is needed")
    ptx = folder / "all.ptx"
    made = run(tool, "--build-opt", f"ptx-target-device={arch[3:]}", object_file, ptx, "llvm-ir.global", env=environment)
    if not ptx.exists():
        sys.exit(made.stdout + made.stderr)
    return ptx


def policy_of(name):
    """The scalar and the policy of a kernel, as its demangled name says."""
    found = re.search(r"purpose\)0, (float|double), (.*?), basin::received<", name)
    return (found[1], found[2].replace("basin::", "")) if found else ("?", "?")


def missing(rows):
    """What of WANTED no kernel was seen for: a policy that was left out is no policy that does not spill."""
    for scalar, kernels_of in WANTED.items():
        seen = {}
        for row in rows:
            if row[0] == scalar:
                seen.setdefault(row[1], set()).add((row[2], row[3]))
        if len(seen) != (POLICIES if scalar == "float" else 1) or "?" in seen:
            yield f"{len(seen)} policies in {scalar}"
        for policy, have in seen.items():
            for kernel, channels in sorted(kernels_of - have):
                yield f"{kernel} with {channels} channels of {policy} in {scalar}"


def assemble(ptx, arch, local):
    ptxas = shutil.which("ptxas") or "/usr/local/cuda/bin/ptxas"
    if not os.path.exists(ptxas):
        sys.exit("ptxas of the CUDA toolkit is needed")
    made = run(ptxas, "-v", f"-arch={arch}", ptx, "-o", f"{ptx}.{arch}.cubin")
    if made.returncode != 0:
        sys.exit(f"{arch}: refused\n{made.stderr[:4000]}")
    rows, others = set(), 0
    for name, registers, spills, stack in kernels(made.stderr):
        found = re.search(r"(tile_\w+)_kernel<", name)
        if not found:
            others += 1
            continue
        channels = re.search(r">, (64|128)>", name)
        scalar, policy = policy_of(name)
        groups = min(REGISTERS // (-(-registers // 8) * 8 * ITEMS),
                     SHARED.get(arch, 100 * 1024) // (local.get(scalar, 48 * 1024) + 1024), THREADS // ITEMS)
        rows.add((scalar, policy, found[1], int(channels[1]) if channels else 0, registers, spills, stack,
                  f"{groups * ITEMS * 100 // THREADS} %"))
    print(f"\n{arch}: {len(rows)} tile kernels and {others} others accepted by ptxas")
    print(f"{'scalar':6} {'policy':58} {'kernel':10} {'chan':>4} {'regs':>4} {'spill':>5} {'stack':>5} {'occupancy':>9}")
    for row in sorted(rows):
        print(f"{row[0]:6} {row[1][:58]:58} {row[2]:10} {row[3]:4} {row[4]:4} {row[5]:5} {row[6]:5} {row[7]:>9}")
    lost = list(missing(rows))
    if lost:
        print(f"{arch}: not seen:", "; ".join(lost))
    return not lost and all(row[5] == 0 for row in rows)


def without_hints(folder, spirv):
    """Loops may carry hints about unrolling. spirv-val holds them to a rule for shaders: no two may leave to one block."""
    text = run("spirv-dis", spirv).stdout.splitlines()
    kept = [line for line in text if "OpLoopMerge" not in line]
    plain = folder / "plain.spv"
    made = run("spirv-as", "--target-env", "opencl2.2", "--preserve-numeric-ids", "-", "-o", plain,
               input="\n".join(kept) + "\n")
    return plain, len(text) - len(kept), made.stderr


def validate(folder, object_file):
    tool, environment = tool_in(folder, "llvm-to-spirv-tool")
    if tool is None or shutil.which("spirv-val") is None:
        print("\nSPIR-V: left out, it needs AdaptiveCpp's llvm-to-spirv-tool and spirv-val (Debian: spirv-tools)")
        return True
    spirv = folder / "all.spv"
    made = run(tool, object_file, spirv, "llvm-ir.global", env=environment)
    if not spirv.exists() or spirv.stat().st_size == 0:
        print("\nSPIR-V: AdaptiveCpp's translator could not:", (made.stdout + made.stderr).strip()[-300:])
        return False
    entries = run("spirv-dis", spirv).stdout.count("OpEntryPoint Kernel")
    plain, hints, refused = without_hints(folder, spirv)
    made = run("spirv-val", "--target-env", "opencl2.2", plain)
    print(f"\nSPIR-V: {entries} kernels, {spirv.stat().st_size} bytes; without {hints} hints about unrolling, spirv-val says:",
          refused or made.stderr.strip()[:500] or made.stdout.strip()[:500] or "valid")
    return made.returncode == 0 and not refused and entries > 0


def main():
    program, archs = sys.argv[1], sys.argv[2:] or ["sm_80", "sm_90"]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "objects").mkdir()
        made = run(program, "--sizes", env=dict(os.environ, ACPP_HCF_DUMP_DIRECTORY=str(folder / "objects"),
                                     ACPP_VISIBILITY_MASK="omp", ACPP_APPDB_DIR=str(folder / "cache")))
        print(made.stdout, end="")
        if made.returncode != 0:
            sys.exit(made.stderr[-2000:])
        local = {scalar: int(size) for scalar, size in re.findall(r"(float|double) (\d+)", made.stdout)}
        objects = [x for x in (folder / "objects").iterdir() if b"tile_rows_kernel" in x.read_bytes()]
        good = True
        for object_file in objects:
            ptx = translate(folder, object_file, archs[0])
            good = all([assemble(ptx, arch, local) for arch in archs]) and good
            good = validate(folder, object_file) and good
    sys.exit(0 if good and objects else "a tile kernel spills, is missing, or nothing was found")


if __name__ == "__main__":
    main()
