#!/usr/bin/env python3
"""Which compilers and versions of our dependencies work? run.py [--full] [--only WORDS] [--again]

Every compiler is tried in a folder of its own, with what its Debian release has of xsimd, xtensor, Eigen and doctest;
then each dependency's other versions, one at a time, with this machine's release. Not part of the gate: it downloads some gigabytes into
build/matrix. Results are kept there, so that a run that was broken off goes on, and tries again what failed;
--again forgets them."""
import argparse
import concurrent.futures
import itertools
import json
import pathlib
import shutil
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from containers import DEPENDENCIES, Suite, give, inside, mirror_and_suite  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
WORK = ROOT / "build" / "matrix"
COMPILERS = [f"g++-{n}" for n in range(12, 17)] + [f"clang-{n}" for n in range(13, 24)]
NEWER = ["stable", "testing", "unstable"]  # Debian's own names for the releases after this machine's
OPTIMISED_MODE = "C++20 -O3"
MODES = {"C++23 -O0": ["-std=c++2b", "-O0"], OPTIMISED_MODE: ["-std=c++20", "-O3"]}
FULL = {"C++20 -O0": ["-std=c++20", "-O0"], "C++23 -O3": ["-std=c++2b", "-O3"]}
WARNINGS = "-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror".split()
# GCC sees overflows inside std::string that cannot happen; doctest uses __COUNTER__.
QUIET = {"g++": [f"-Wno-{x}" for x in ("stringop-overflow", "stringop-overread", "restrict", "array-bounds",
                                       "maybe-uninitialized")],
         "clang": ["-Wno-unknown-warning-option", "-Wno-c2y-extensions"]}
DEFINE = ["-DBASIN_TEST_EIGEN=1", "-DBASIN_TEST_SIMD=1", "-DCONSUMER_EIGEN", "-DCONSUMER_SIMD"]
XTENSOR = ["-DBASIN_TEST_XTENSOR=1"]
# What would notice a difference between compilers and libraries, in seconds: every header, arrays of others, the backends with
# threads, and from the examples, whose output is compared: statistics one by one, simd kernels with statistics, rules, gradients.
PROGRAMS = {"arrays": ["tests/main.cpp", "tests/core/arrays.cpp", "tests/core/eigen_arrays.cpp", "tests/core/xtensor_arrays.cpp"],
            "consumer": ["tests/consumer/main.cpp"], "headers": ["tests/headers.cpp"],
            **{f"example{x[:2]}": [f"examples/{x}.cpp"] for x in ("02_statistics", "03_sinks", "07_backward")}}
# Optimised, only what computes: that foreign arrays are recognised does not depend on it, and they are half of the time.
OPTIMISED = {name: sources for name, sources in PROGRAMS.items() if name not in ("arrays", "headers")}
# A dependency's other versions are tried with what includes it; for xsimd, the simd backend against the reference as well
# (with its own version the gate does that).
INCLUDING = {"xsimd": ("consumer", "example03"), "xtensor": ("arrays",), "Eigen": ("arrays", "consumer"), "doctest": ("arrays",)}
THOROUGH = {"simd": ["tests/architectures/agree.cpp"]}
# Dependencies that do not compile with a compiler, whoever includes them: left out of its row there, and the row is tried with
# a release that has another version as well. (compiler, dependency, beginning of its version): why
BROKEN = {("clang-19", "xtensor", "0.24."): "specialisations of its rebind_container are ambiguous there"}


def libcxx(suite, compiler):
    """The packages of a clang's own standard library in a release, or None. Named one by one: left to itself, apt may take a
    library that is older than its headers."""
    number = compiler.split("-")[1]
    headers = [f"libc++-{number}-dev", f"libc++abi-{number}-dev"]
    if compiler.startswith("g++") or not all(suite.version(name) for name in headers):
        return None
    for ending in (f"-{number}", f"-{number}t64", ""):
        library = [f"libc++1{ending}", f"libc++abi1{ending}"]
        if all(int((suite.version(name) or "0").split(".")[0]) >= int(number) for name in library):
            return headers + library
    return None


def broken(compiler, versions):
    """The dependencies that cannot be used with a compiler, and why."""
    return {what: why for (who, what, begin), why in BROKEN.items() if who == compiler and versions[what].startswith(begin)}


def printed(source):
    """What an example says that it prints, if it does."""
    if not source.startswith("examples"):
        return ""
    said = (ROOT / source).read_text().partition("// prints:\n")[2]
    return "".join(line[2:].removeprefix(" ").rstrip() + "\n" for line in said.splitlines())


def attempt(root, compiler, flags, programs):
    """Builds and runs the programs; 'passed', or what went wrong."""
    family = compiler.split("-")[0]
    command = [compiler.replace("clang", "clang++"), *flags, *WARNINGS, *QUIET[family], *DEFINE, "-pthread",
               "-I/source/include", "-I/source/tests", "-isystem", "/usr/include/eigen3"]
    jobs = [(name, source, f"/tmp/{name}{i}.o") for name, sources in programs.items() for i, source in enumerate(sources)]

    def build(job):
        name, source, target = job
        extra = ["-march=x86-64-v3"] if name == "simd" else []
        return inside(root, [*command, *extra, "-c", f"/source/{source}", "-o", target])

    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        built = list(pool.map(build, jobs))
    for name in programs:
        bad = [x for x in built if x.returncode]
        objects = [target for program, _, target in jobs if program == name]
        result = bad[0] if bad else inside(root, [*command, *objects, "-o", f"/tmp/{name}"])
        if result.returncode == 0:
            result = inside(root, [f"/tmp/{name}"], timeout=600)
            expected = printed(programs[name][0])
            if result.returncode == 0 and expected and "".join(x.rstrip() + "\n" for x in result.stdout.splitlines()) != expected:
                return f"{programs[name][0]} prints something else"
        if result.returncode:
            text = result.stderr + result.stdout
            return next((line for line in text.splitlines() if "error" in line.lower()), text[-200:].strip() or "failed")
    return "passed"


def attempt_project(headers, numbers, flags):
    """A project on other versions than this machine's takes basin as a subfolder, then by find_package."""
    work = WORK / "project"
    shutil.rmtree(work, ignore_errors=True)
    build = ["-G", "Ninja", f"-DCMAKE_CXX_FLAGS={' '.join(flags)}"]
    eigen, xsimd = headers["Eigen"] / "usr", headers["xsimd"] / "usr"
    ways = {"add_subdirectory": [f"-DBASIN_SOURCE={ROOT}", f"-DOWN_HEADERS={eigen}/include/eigen3;{xsimd}/include"],
            "find_package": ["-DCOMPONENTS=eigen;simd", f"-DCMAKE_PREFIX_PATH={work}/prefix;{eigen};{xsimd}"]}
    commands = [["cmake", "-S", ROOT, "-B", work / "basin", "-DBASIN_BUILD_TESTS=OFF", "-DBASIN_BUILD_EXAMPLES=OFF"],
                ["cmake", "--install", work / "basin", "--prefix", work / "prefix"]]
    for way, arguments in ways.items():
        commands += [["cmake", "-S", ROOT / "tests/consumer" / way, "-B", work / way, *build, *arguments],
                     ["cmake", "--build", work / way], [work / way / "consumer"]]
    for command in commands:
        result = subprocess.run(command, capture_output=True, text=True)
        lines = (result.stderr + result.stdout).splitlines()
        if result.returncode:
            return next((line for line in lines if "error" in line.lower()), "failed")
        if len(command) == 1 and not {f"Eigen {numbers['Eigen']}", f"xsimd {numbers['xsimd']}"} <= set(lines):
            return f"the project got {', '.join(lines)}"
    return "passed"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--full", action="store_true", help="every language version with every level of optimisation")
    parser.add_argument("--only", default="", help="rows that contain these words")
    parser.add_argument("--again", action="store_true", help="forget earlier results")
    parser.add_argument("--list", action="store_true", help="show what would be tried")
    arguments = parser.parse_args()
    modes = {**MODES, **(FULL if arguments.full else {})}
    WORK.mkdir(parents=True, exist_ok=True)
    kept = WORK / "results.json"
    results = json.loads(kept.read_text()) if kept.exists() and not arguments.again else {}

    mirror, own = mirror_and_suite()
    suites = [Suite(WORK, mirror, name) for name in dict.fromkeys([own, *NEWER])]
    for suite in suites:
        suite.look_up([*COMPILERS, *DEPENDENCIES.values(), "libc++1", "libc++abi1",
                       *(f"libc++{part}-{c.split('-')[1]}{end}" for c in COMPILERS for part, end in
                         (("", "-dev"), ("abi", "-dev"), ("1", ""), ("abi1", ""), ("1", "t64"), ("abi1", "t64")))])
    versions = {s.name: {what: s.version(package) for what, package in DEPENDENCIES.items()} for s in suites}
    rows, missing = [], []  # (name, suite, compiler, flags, {package: suite} of foreign headers, programs)
    for compiler in COMPILERS:
        offers = {"libstdc++": [s for s in suites if s.version(compiler)]}
        if not offers["libstdc++"]:
            missing.append(f"{compiler}: in none of {', '.join(s.name for s in suites)}")
            continue
        if compiler.startswith("clang"):
            offers["libc++"] = [s for s in offers["libstdc++"] if libcxx(s, compiler)]
        for library, places in offers.items():
            if not places:
                missing.append(f"{compiler} with libc++: no package in {', '.join(s.name for s in suites)}")
            # The first release that has it; and if a dependency cannot be used there, the first one where all can.
            whole = next((s for s in places if not broken(compiler, versions[s.name])), None)
            for place in dict.fromkeys(places[:1] + [whole] * bool(whole)):
                without = broken(compiler, versions[place.name])
                missing += [words for what, why in without.items()
                            if (words := f"{compiler} with {what} {versions[place.name][what]}: {why}") not in missing]
                words = ", ".join(f"no {what}" if what in without else f"{what} {number}"
                                  for what, number in versions[place.name].items())
                rows.append((f"{compiler}, {library}, {words}", place, compiler,
                             (["-stdlib=libc++"] if library == "libc++" else []) +
                             ([] if "xtensor" in without else XTENSOR), None, PROGRAMS))
    first = rows[0][2]
    for what, package in DEPENDENCIES.items():
        tried = {versions[own][what]}
        for suite in suites[1:]:
            number = versions[suite.name][what]
            if number not in tried:
                tried.add(number)
                rows.append((f"{first}, {what} {number}, the rest of {own}", suites[0], first, XTENSOR, (suite, what, package),
                             {x: PROGRAMS[x] for x in INCLUDING[what]}))

    newest = {what: next(s for s in suites if versions[s.name][what] == versions[suites[-1].name][what])
              for what in ("xsimd", "Eigen")}
    numbers = {what: versions[suite.name][what] for what, suite in newest.items()}
    words = [" and ".join(f"{what} {x[what]}" for what in newest) for x in (numbers, versions[own])]
    rows.append((f"a project on {words[0]}, as a subfolder and by find_package, where {words[1]} are installed",
                 None, None, [], None, None))

    # One mode after the other, so that a run that is broken off has seen every compiler.
    for mode, (name, suite, compiler, flags, foreign, programs) in itertools.product(modes, rows):
        if arguments.only not in name or results.get(name, {}).get(mode) == "passed" or arguments.list:
            continue
        begun = time.monotonic()
        if programs is None:
            # Debian's xsimd asks CMake for xtl
            found = {what: s.folder(f"project-{what}-{s.name}", [DEPENDENCIES[what], "xtl-dev"], alone=True)
                     for what, s in newest.items()}
            result = attempt_project(found, numbers, modes[mode])
        else:
            packages = ["base-files", compiler, "binutils", "libc6-dev", *DEPENDENCIES.values(), *(libcxx(suite, compiler) or [])]
            root = suite.folder(f"{suite.name}-{compiler}", packages)
            for folder in ("include", "tests", "examples"):
                give(root, ROOT / folder, folder)
            headers = [x.relative_to(ROOT / "include") for x in sorted((ROOT / "include").rglob("*.hpp")) if "sycl" not in str(x)]
            (root / "source/tests/headers.cpp").write_text("".join(f"#include <{x}>\n" for x in headers) + "int main() {}\n")
            if foreign:
                other, what, package = foreign
                # xtensor comes with the xtl that it was made for
                names = [package, "xtl-dev"] if what == "xtensor" else [package]
                found = other.folder(f"headers-{what}-{other.name}", names, alone=True)
                give(root, found / "usr" / "include", f"headers-{what}-{other.name}")
                inner = f"/source/headers-{what}-{other.name}"
                flags = [*flags, "-isystem", inner + ("/eigen3" if what == "Eigen" else "")]
            if mode == OPTIMISED_MODE and programs is PROGRAMS and not arguments.full:
                programs = OPTIMISED
            if mode == OPTIMISED_MODE and foreign and foreign[1] == "xsimd":
                programs = {**programs, **THOROUGH}
            result = attempt(root, compiler, [*modes[mode], *flags], programs)
        results.setdefault(name, {})[mode] = result
        print(f"{name}, {mode}: {result} ({time.monotonic() - begun:.0f} s)", flush=True)
        kept.write_text(json.dumps(results, indent=1))

    print("\n| | " + " | ".join(modes) + " |\n|---|" + "---|" * len(modes))
    failed = 0
    for name, *_ in rows:
        cells = [results.get(name, {}).get(mode, "not run") for mode in modes]
        failed += sum(cell not in ("passed", "not run") for cell in cells)
        print(f"| {name} | " + " | ".join(cell if cell in ("passed", "not run") else "FAILED" for cell in cells) + " |")
    for name, modes_of in results.items():
        for mode, result in modes_of.items():
            if result != "passed":
                print(f"\nFAILED: {name}, {mode}: {result}")
    print("\nNot tested, because it cannot be had here:")
    for words in [*missing, "MSVC, Apple's clang, Intel's compilers", "processors other than x86-64 (NEON: see .ci/run neon)"]:
        print("- " + words)
    sys.exit(1 if failed else 0)


main()
