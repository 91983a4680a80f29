#!/usr/bin/env python3
"""Run a program and compare what it prints with the comment at the end of its source: expect_output.py SOURCE PROGRAM

The comment is the line `// prints:` and the comment lines after it.
"""
import difflib
import subprocess
import sys

source, program = sys.argv[1:3]
lines = open(source, encoding="utf-8").read().splitlines()
if "// prints:" not in lines:
    sys.exit(f"{source}: has no line '// prints:' with its output below")
expected = []
for line in lines[lines.index("// prints:") + 1:]:
    if not line.startswith("//"):
        break
    expected.append(line[2:].removeprefix(" ").rstrip())
while expected and not expected[-1]:
    expected.pop()

result = subprocess.run([program], capture_output=True, text=True)
printed = [line.rstrip() for line in result.stdout.rstrip().splitlines()]
sys.stderr.write(result.stderr)
if result.returncode:
    sys.exit(f"{program}: ended with {result.returncode}")
if printed != expected:
    sys.exit("\n".join(difflib.unified_diff(expected, printed, f"{source} (// prints:)", "printed", lineterm="")))
print("\n".join(printed))
