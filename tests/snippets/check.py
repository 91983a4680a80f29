#!/usr/bin/env python3
"""Compile every C++ block of README.md and docs/, and compare what it prints: check.py --work DIR COMPILER FLAGS...

A block with `main` is a program of its own, compiled as it stands. Every other block is wrapped: its #include lines go
to the top, its types, templates and functions to a namespace of its own, the rest into a function; all such blocks
share a few translation units. A comment on the lines before a block says what comes first:
    <!-- snippet: setup=arrays -->   the text of tests/snippets/preludes/arrays.cpp
    <!-- snippet: continues -->      the previous block of the page, with all that came before it
A ```text block right after a block (blank lines and one line ending in ':' may stand between) is what it prints.
There is no way to skip a block: what is not C++ has another language after its fence.
"""
import argparse
import concurrent.futures
import difflib
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
HERE = pathlib.Path(__file__).resolve().parent
TOKEN = re.compile(r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'|.', re.S)


class Block:
    def __init__(self, page, line, text):
        self.page, self.line, self.text = page, line, text
        self.before = []  # (file, line, text) of preludes and earlier blocks
        self.output = None
        self.own_main = re.search(r"\bint\s+main\s*\(", text) is not None
        self.name = f"{page}:{line}"

    def parts(self):
        return [*self.before, (str(ROOT / self.page), self.line, self.text)]


def read_page(path):
    """All blocks of a page."""
    page = str(path.relative_to(ROOT))
    lines = path.read_text(encoding="utf-8").splitlines()
    blocks, note, last, gap = [], "", None, 0
    i = 0
    while i < len(lines):
        fence = re.match(r"^(\s*)(```+|~~~+)\s*(\S*)", lines[i])
        if not fence:
            text = lines[i].strip()
            if match := re.match(r"<!-- snippet: (.*?) -->$", text):
                note += " " + match[1]
            elif text:
                note = ""
                gap += 1
                if last and (gap > 1 or not text.endswith(":")):
                    last = None
            i += 1
            continue
        indent, marker, language = fence.groups()
        end = i + 1
        while end < len(lines) and lines[end].strip() != marker:
            end += 1
        if end == len(lines):
            sys.exit(f"{page}:{i + 1}: this block is never closed")
        body = "\n".join(line.removeprefix(indent) for line in lines[i + 1:end]) + "\n"
        if language.lower() in ("cpp", "c++", "cxx", "cc"):
            block = Block(page, i + 2, body)
            for word in note.split():
                if word == "continues":
                    if not blocks:
                        sys.exit(f"{block.name}: continues, but nothing comes before it")
                    block.before += blocks[-1].parts()
                elif word.startswith("setup="):
                    prelude = HERE / "preludes" / (word[6:] + ".cpp")
                    if not prelude.exists():
                        sys.exit(f"{block.name}: there is no {prelude.relative_to(ROOT)}")
                    block.before.append((str(prelude), 1, prelude.read_text(encoding="utf-8")))
                else:
                    sys.exit(f"{block.name}: unknown word '{word}' in the snippet comment")
            blocks.append(block)
            last = block
        elif language == "text" and last:
            last.output = body
            last = None
        else:
            last = None
        note, gap = "", 0
        i = end + 1
    return blocks


def split(text):
    """The top-level pieces of a block, as (line offset, text)."""
    pieces, start, depth, i = [], 0, 0, 0

    def close(end):
        nonlocal start
        if text[start:end].strip():
            skipped = len(text[start:end]) - len(text[start:end].lstrip())
            pieces.append((text.count("\n", 0, start + skipped), text[start + skipped:end]))
        start = end

    for match in TOKEN.finditer(text):
        token = match[0]
        if token in "({[":
            depth += 1
        elif token in ")}]":
            depth -= 1
            # `}` ends a piece, unless the declaration or statement goes on after it
            if token == "}" and depth == 0 and not re.match(r"\s*(;|,|\)|\.|else\b|while\b|\{|\||&|[a-z_]+\s*;)",
                                                             text[match.end():]):
                if not is_initialiser(text[start:match.end()]):
                    close(match.end())
        elif token == ";" and depth == 0:
            close(match.end())
    close(len(text))
    return pieces


def is_initialiser(piece):
    """Does the last pair of braces initialise something (`= x{...}`), so that the piece goes on?"""
    head = strip_comments(piece).split("{")[0]
    return "=" in head and "operator" not in head and not re.match(r"\s*(template|struct|class)\b", head)


def strip_comments(text):
    return re.sub(r"//[^\n]*|/\*.*?\*/", "", text, flags=re.S).strip()


def is_declaration(piece):
    """Must this stand outside a function: a type, a template, a concept, a namespace, a function?"""
    code = strip_comments(piece)
    if re.match(r"(template|struct|class|union|enum|concept|namespace|inline)\b", code):
        return True
    if not code.endswith("}") or re.match(r"(if|for|while|do|switch|try|else|return)\b|\{", code):
        return False
    return re.match(r"[\w:<>,&*\s\[\]]+\([^{}]*\)\s*(const|noexcept|->[^{]*|\s)*\{", code) is not None


def wrap(block, number):
    """The includes of a block and the block as a function snippet_<number>."""
    includes, outside, inside = [], [], []
    for file, first, text in block.parts():
        kept = []
        for offset, line in enumerate(text.split("\n")):
            if re.match(r"\s*#\s*include\b", line):
                includes.append(f'#line {first + offset} "{file}"\n{line.strip()}\n')
                line = ""
            kept.append(line)
        for offset, piece in split("\n".join(kept)):
            target = outside if is_declaration(piece) else inside
            target.append(f'#line {first + offset} "{file}"\n{piece}\n')
    body = f"namespace snippet_{number} {{\n{''.join(outside)}static void run() {{\n{''.join(inside)}}}\n}}\n"
    return includes, body + f"void run_{number}();\nvoid run_{number}() {{ snippet_{number}::run(); }}\n"


def run(command, **options):
    return subprocess.run([str(word) for word in command], capture_output=True, text=True,
                          env={**os.environ, "LC_ALL": "C"}, **options)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--work", required=True, type=pathlib.Path)
    parser.add_argument("--pages", nargs="*", type=pathlib.Path, help="instead of README.md and docs/")
    parser.add_argument("compiler", nargs=argparse.REMAINDER)
    arguments = parser.parse_args()
    # Blocks show, they do not use everything that they name.
    compiler = [*arguments.compiler, "-Wall", "-Wextra", "-Werror", "-Wno-unused", "-pthread", "-O0"]
    work = arguments.work
    work.mkdir(parents=True, exist_ok=True)

    pages = arguments.pages or [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    blocks = [block for page in pages if page.exists() for block in read_page(page.resolve())]
    wrapped = [block for block in blocks if not block.own_main]
    jobs = []  # (what, command)

    # A few units of about the same size, so that cores have work and includes are read only a few times.
    count = max(1, min(os.cpu_count() or 1, 4, (len(wrapped) + 3) // 4))
    units = [wrapped[i::count] for i in range(count)]
    number = {id(block): i for i, block in enumerate(wrapped)}
    objects = []
    for i, unit in enumerate(units):
        includes, bodies = ["#include <basin/basin.hpp>\n"], []
        for block in unit:
            extra, body = wrap(block, number[id(block)])
            includes += [line for line in extra if line not in includes]
            bodies.append(body)
        source = work / f"blocks_{i}.cpp"
        source.write_text("".join(includes) + "".join(bodies), encoding="utf-8")
        objects.append(work / f"blocks_{i}.o")
        if unit:
            jobs.append((f"{len(unit)} blocks", [*compiler, "-c", source, "-o", objects[-1]]))
    runner = work / "runner.cpp"
    runner.write_text("#include <cstdlib>\n"
                      + "".join(f"void run_{i}();\n" for i in range(len(wrapped)))
                      + "int main(int, char** words) {\n    switch (std::atoi(words[1])) {\n"
                      + "".join(f"    case {i}: run_{i}(); break;\n" for i in range(len(wrapped)))
                      + "    default: return 1;\n    }\n}\n", encoding="utf-8")
    for i, block in enumerate(block for block in blocks if block.own_main):
        source = work / f"program_{i}.cpp"
        source.write_text("".join(f'#line {first} "{file}"\n{text}' for file, first, text in block.parts()),
                          encoding="utf-8")
        block.program = work / f"program_{i}"
        jobs.append((block.name, [*compiler, source, "-o", block.program]))

    failures = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for (what, _), result in zip(jobs, pool.map(lambda job: run(job[1]), jobs)):
            if result.returncode:
                failures += 1
                print(f"FAILED to compile: {what}\n{result.stderr[:8000]}")
    if failures:
        sys.exit(f"{failures} of {len(jobs)} compilations failed")

    if wrapped:
        result = run([*compiler, runner, *objects[:len(units)], "-o", work / "blocks"])
        if result.returncode:
            sys.exit(result.stderr[:8000])
    compared = 0
    for block in blocks:
        if block.output is None:
            continue
        command = [block.program] if block.own_main else [work / "blocks", number[id(block)]]
        result = run(command, timeout=60)
        expected = [line.rstrip() for line in block.output.rstrip().splitlines()]
        printed = [line.rstrip() for line in result.stdout.rstrip().splitlines()]
        compared += 1
        if result.returncode or printed != expected:
            failures += 1
            print(f"FAILED: {block.name} prints something else (it ended with {result.returncode})\n{result.stderr}"
                  + "\n".join(difflib.unified_diff(expected, printed, "page", "printed", lineterm="")))
    print(f"{len(blocks)} blocks compiled, {compared} outputs compared, {failures} failed")
    sys.exit(1 if failures else 0)


main()
