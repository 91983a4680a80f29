#!/usr/bin/env python3
"""Every link inside the Markdown pages and to files of the repository resolves, anchors included. Links into the web are
only looked at for their form: the gate must not depend on other people's servers."""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]


def without_code(text):
    text = re.sub(r"^(\s*)(```+|~~~+).*?^\s*\2\s*$", "", text, flags=re.M | re.S)
    text = re.sub(r"(:\n\n)(?: {4}.*\n)+", r"\1", text)  # indented code, after a sentence that announces it
    return re.sub(r"`[^`\n]*`", "code", text)


def anchors(page):
    """As GitHub makes them from headings."""
    found = {}
    for heading in re.findall(r"^#+ +(.*?) *$", re.sub(r"^(```+).*?^\1\s*$", "", page.read_text(encoding="utf-8"),
                                                         flags=re.M | re.S), re.M):
        name = re.sub(r"[^\w\- ]", "", heading.lower().replace("`", "")).replace(" ", "-")
        count = found.get(name, -1) + 1
        found[name] = count
        yield name if count == 0 else f"{name}-{count}"


def main():
    files = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard", "*.md"], cwd=ROOT,
                           capture_output=True, text=True).stdout.split() or \
        [str(p.relative_to(ROOT)) for p in ROOT.rglob("*.md") if "build" not in p.relative_to(ROOT).parts]
    count, bad = 0, []
    for name in files:
        page = ROOT / name
        text = without_code(page.read_text(encoding="utf-8"))
        targets = re.findall(r"\]\(\s*<?([^)\s>]+)>?[^)]*\)", text) + re.findall(r"^\[[^\]]+\]:\s*(\S+)", text, re.M)
        for target in targets:
            count += 1
            if re.match(r"https://[\w.\-]+(/\S*)?$", target):
                continue
            if re.match(r"[a-z]+:", target):
                bad.append(f"{name}: {target} is neither https nor a file")
                continue
            path, _, anchor = target.partition("#")
            file = (page.parent / path).resolve() if path else page
            if not file.exists() or ROOT not in [file, *file.parents]:
                bad.append(f"{name}: {target} does not exist")
            elif anchor and file.suffix == ".md" and anchor not in anchors(file):
                bad.append(f"{name}: {target} has no such heading")
    print("\n".join(bad))
    print(f"{count} links in {len(files)} pages, {len(bad)} broken")
    sys.exit(1 if bad else 0)


main()
