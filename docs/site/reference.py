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
            if name in ("operator", own, "~" + own) or name.startswith("detail") or own.startswith("detail") or name.endswith("_"):
                continue
            if "->" in signature and match[2] == "function" and re.match(r"\w+\([^)]*\) ->", signature):
                continue  # a deduction guide
            if name == "enumvalue":
                continue
            yield file, int(line), name, owner


def bare_concepts(source):
    """Public concepts without a comment, which Doxygen does not look at."""
    for file in sorted(source.rglob("*.hpp")):
        spaces, lines = [], file.read_text(encoding="utf-8").split("\n")
        for i, line in enumerate(lines):
            if match := re.match(r"namespace ([\w:]+) \{", line):
                spaces.append(match[1])
            elif line.startswith("} // namespace"):
                spaces.pop()
            elif (match := re.match(r"concept (\w+) =", line)) and "detail" not in "::".join(spaces):
                if not lines[i - 2].startswith("///"):
                    yield f"{file.relative_to(source)}: the concept {match[1]} has no comment"


def declarators(statement):
    """`T a = 1, b{};` as its type and its declarators; None if it declares one name only."""
    parts, depth = [""], 0
    for character in statement:
        depth += (character in "<({[") - (character in ">)}]")
        if character == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += character
    first = re.match(r"(.*?[\s>])([*&]?\w+\s*(?:[={\[].*)?)$", parts[0])
    return (first[1], [first[2], *(part.strip() for part in parts[1:])]) if first and len(parts) > 1 else None


def explain(names, words):
    """One declaration for each name, since to Doxygen a comment belongs to the first name alone; and above those that have no
    comment the meanings of known words."""
    places = {}
    for file, line, name, _ in names:
        places.setdefault(file, set()).add(line - 1)
    for file, lines in places.items():
        text = pathlib.Path(file).read_text(encoding="utf-8").split("\n")
        done = len(text)
        for at in sorted(lines, reverse=True):
            if at >= done:
                continue  # a later line of a declaration that was split
            begin = at
            while re.search(r",\s*$", text[begin - 1]) and not re.match(r"\s*(//|template)", text[begin - 1]):
                begin -= 1
            end = begin
            while ";" not in text[end] and "{" not in text[end] and end + 1 < len(text):
                end += 1
            whole = " ".join(line.strip() for line in text[begin:end + 1])
            indent = re.match(r"\s*", text[begin])[0]
            statement, trailing = (re.match(r"([^;]*);\s*(?://.*)?$", whole), re.search(r"///< (.*)$", whole))
            several = declarators(statement[1]) if statement and "(" not in re.sub(r"=[^,]*", "", statement[1]) else None
            above = begin
            while re.match(r"\s*(template\b|requires\b|\[\[)", text[above - 1]) and not text[above - 1].rstrip().endswith(";"):
                above -= 1
            if several:
                comment, top = [], above
                while re.match(r"\s*///", text[top - 1]):
                    top -= 1
                comment = text[top:above] or ([f"{indent}/// {trailing[1]}"] if trailing else [])
                rows = []
                for part in several[1]:
                    name = re.match(r"[*&]?(\w+)", part)[1]
                    rows += comment or ([f"{indent}/// {words[name]}"] if name in words else [])
                    rows.append(f"{indent}{several[0]}{part};")
                text[top:end + 1] = rows
                done = top
            else:
                name = next(n for f, line, n, _ in names if f == file and line - 1 == at)
                if name in words and not re.match(r"\s*///", text[above - 1]):
                    text.insert(above, f"{indent}/// {words[name]}")
                done = above
        pathlib.Path(file).write_text("\n".join(text), encoding="utf-8")


def main():
    output = pathlib.Path(sys.argv[1]).resolve()
    copy = output / "headers"
    shutil.rmtree(output, ignore_errors=True)
    shutil.copytree(ROOT / "include", copy)
    words = vocabulary()
    explain(list(undocumented(doxygen(copy, output))), {})  # first what the headers themselves say
    names = list(undocumented(doxygen(copy, output)))
    explain(names, words)
    warnings = doxygen(copy, output)
    seen = {f"{pathlib.Path(file).relative_to(copy)}: {owner}::{name} has no comment"
            for file, _, name, owner in undocumented(warnings)}
    seen |= set(bare_concepts(ROOT / "include"))
    # A word is for what many types have; what one type has is explained there.
    for word in words:
        owners = {owner for _, _, name, owner in names if name == word}
        if len(owners) < 2:
            seen.add(f"docs/words.md: `{word}` explains " + (f"{owners.pop()} alone: say it in its header" if owners else "nothing"))
    for file, line, text in warnings:
        if "is not documented" not in text and "Unsupported xml/html tag" not in text:
            seen.add(f"{pathlib.Path(file).relative_to(copy) if file.startswith(str(copy)) else file}: {text}")
    shutil.rmtree(copy)
    print("\n".join(sorted(seen)))
    print(f"{len(seen)} public names without a comment of their own")
    sys.exit(1 if seen else 0)


main()
