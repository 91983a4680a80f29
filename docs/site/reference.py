#!/usr/bin/env python3
"""The API reference, by Doxygen from the comments of the headers: reference.py OUTPUT_FOLDER

Fails if a public name has no comment. Words that mean the same wherever they occur (docs/words.md) are explained there,
once, and put into the reference at every place. Constructors, deduction guides, operators and what begins a name with
`detail` need no comment of their own."""
import pathlib
import re
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
SEVERAL = re.compile(r"\s*((?:[\w:]+(?:<[^;()]*>)?[ *&]+)+?)(\w+(?: = [^,;()]*)?(?:, \w+(?: = [^,;()]*)?)+);\s*$")


def vocabulary():
    rows = re.findall(r"^\| (`[^|]*`) \| (.*?) \|$", (ROOT / "docs/words.md").read_text(encoding="utf-8"), re.M)
    return {word: meaning for words, meaning in rows for word in re.findall(r"`([^`]+)`", words)}


def doxygen(source, output):
    """Warnings as (file, line, text)."""
    output.mkdir(parents=True, exist_ok=True)
    settings = (HERE / "Doxyfile").read_text(encoding="utf-8") + f"""
INPUT = {source}
STRIP_FROM_PATH = {source}
STRIP_FROM_INC_PATH = {source}
OUTPUT_DIRECTORY = {output}
"""
    result = subprocess.run(["doxygen", "-"], input=settings, capture_output=True, text=True, check=True)
    return sorted({tuple(line.split("|", 2)) for line in result.stderr.splitlines() if line.count("|") >= 2})


def undocumented(warnings):
    """Public names without a comment, as (file, line, name, owner)."""
    for file, line, text in warnings:
        if match := re.search(r"Compound (\S+?)(?:<.*>)? is not documented", text):
            yield file, int(line), match[1].split("::")[-1].strip(), "::".join(match[1].split("::")[:-1])
        elif match := re.search(r"Member (.*) \((\w+)\) of (\w+) (.*?) is not documented", text):
            signature, owner = match[1], re.sub(r"<.*>", "", match[4]).strip()
            name = re.match(r"\W*(operator|~?\w+)", signature)[1]
            own = owner.split("::")[-1]
            if name in ("operator", own, "~" + own) or name.startswith("detail") or name.endswith("_"):
                continue
            if "->" in signature and match[2] == "function" and re.match(r"\w+\([^)]*\) ->", signature):
                continue  # a deduction guide
            if name == "enumvalue":
                continue
            yield file, int(line), name, owner


def explain(source, names, words):
    """Puts the meanings of known words above their declarations."""
    places = {}
    for file, line, name, _ in names:
        if name in words:
            places.setdefault(file, {}).setdefault(line, []).append(name)
    for file, lines in places.items():
        text = pathlib.Path(file).read_text(encoding="utf-8").split("\n")
        for line in sorted(lines, reverse=True):
            at = line - 1
            while re.match(r"\s*(template\b|requires\b|\[\[)", text[at - 1]) and not text[at - 1].rstrip().endswith(";"):
                at -= 1
            if re.match(r"\s*///", text[at - 1]):
                continue
            indent = re.match(r"\s*", text[at])[0]
            known = list(dict.fromkeys(lines[line]))
            several = SEVERAL.match(text[at])
            if several and at == line - 1:  # `T a, b;`: one line for each, since a comment belongs to the first alone
                rows = []
                for part in several[2].split(", "):
                    name = re.match(r"\w+", part)[0]
                    rows += [f"{indent}/// {words[name]}"] if name in words else []
                    rows.append(f"{indent}{several[1]}{part};")
                text[at:at + 1] = rows
            else:
                text.insert(at, f"{indent}/// " + " ".join(dict.fromkeys(words[name] for name in known)))
        pathlib.Path(file).write_text("\n".join(text), encoding="utf-8")


def main():
    output = pathlib.Path(sys.argv[1]).resolve()
    copy = output / "headers"
    shutil.rmtree(output, ignore_errors=True)
    shutil.copytree(ROOT / "include", copy)
    words = vocabulary()
    explain(copy, list(undocumented(doxygen(copy, output))), words)
    warnings = doxygen(copy, output)
    left = list(undocumented(warnings))
    seen = {f"{pathlib.Path(file).relative_to(copy)}: {owner}::{name} has no comment" for file, _, name, owner in left
            if name not in words}
    for file, line, text in warnings:
        if "is not documented" not in text and "Unsupported xml/html tag" not in text:
            seen.add(f"{pathlib.Path(file).relative_to(copy) if file.startswith(str(copy)) else file}: {text}")
    shutil.rmtree(copy)
    print("\n".join(sorted(seen)))
    print(f"{len(seen)} public names without a comment")
    sys.exit(1 if seen else 0)


main()
