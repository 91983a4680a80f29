#!/usr/bin/env python3
"""Compile one source with -fsyntax-only: check.py refused|accepted SOURCE COMPILER FLAGS...

The source begins with comment lines:
    // expect: words          refused only; must stand in the first error line. Several such lines: all of them.
    // expect(gcc): words     the same for one compiler (gcc or clang), where the two say different things
    // flags: -fno-rtti       further compiler flags
    // needs: eigen           read by CMake: left out when that dependency is missing
    // errors: 2              refused only; so many errors may follow from the mistake, the words among them (1 if not said)
"""
import os
import re
import subprocess
import sys


def flat(text):
    return " ".join(text.split())


def main():
    kind, source, compiler, *flags = sys.argv[1:]
    family = "clang" if "clang" in os.path.basename(compiler) else "gcc"
    expected, most = [], 1
    for line in open(source, encoding="utf-8"):
        if not line.startswith("//"):
            break
        if match := re.match(r"// expect(?:\((gcc|clang)\))?: (.*)", line):
            if match[1] in (None, family):
                expected.append(flat(match[2]))
        elif match := re.match(r"// flags: (.*)", line):
            flags += match[1].split()
        elif match := re.match(r"// errors: (\d+)", line):
            most = int(match[1])
    if kind == "refused" and not expected:
        sys.exit(f"{source}: has no line '// expect: words' for {family}")

    command = [compiler, *flags, "-fsyntax-only", source]
    if kind == "accepted":
        command[1:1] = ["-Wall", "-Wextra", "-Werror"]
    # One language for messages; no quotes that depend on the terminal.
    result = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "LC_ALL": "C"})
    if kind == "accepted":
        sys.stderr.write(result.stderr)
        sys.exit(f"{source}: should compile, but does not" if result.returncode else 0)

    if result.returncode == 0:
        sys.exit(f"{source}: compiles, but should be refused with: {' / '.join(expected)}")
    # Old clangs also say that the class whose assertion failed is incomplete.
    errors = [flat(line) for line in result.stderr.splitlines()
              if "error:" in line and "incomplete definition of type 'basin::detail::explained" not in line]
    first = errors[0] if errors else ""
    missing = [words for words in expected if words not in first]
    if missing:
        sys.exit(f"{source}: refused with other words.\n  expected: {' / '.join(missing)}\n  first error: {first}\n\n"
                 + result.stderr[:4000])
    if len(errors) > most:
        sys.exit(f"{source}: the words are there, but {len(errors) - 1} more errors follow them:\n" + "\n".join(errors))
    print(first)


main()
