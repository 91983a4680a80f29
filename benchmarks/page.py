#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 basin contributors
# SPDX-License-Identifier: MIT
"""Writes results into docs/performance.md, between the markers of a name. Words outside of markers are never touched.

    page.py NAME < text        puts the text into a code block
    page.py NAME --markdown < text
"""
import argparse
import pathlib
import sys

PAGE = pathlib.Path(__file__).resolve().parent.parent / "docs" / "performance.md"


def replace(name, body, page=PAGE):
    """Puts `body` between `<!-- measured: name -->` and `<!-- end -->`."""
    text = page.read_text(encoding="utf-8")
    begin = f"<!-- measured: {name} -->\n"
    if text.count(begin) != 1:
        raise SystemExit(f"{page}: expected one marker {begin.strip()}, found {text.count(begin)}")
    head, rest = text.split(begin)
    if "<!-- end -->" not in rest:
        raise SystemExit(f"{page}: the marker of {name} has no <!-- end -->")
    tail = rest[rest.index("<!-- end -->"):]
    page.write_text(head + begin + "\n" + body.strip("\n") + "\n\n" + tail, encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name")
    parser.add_argument("--markdown", action="store_true")
    arguments = parser.parse_args()
    body = sys.stdin.read()
    replace(arguments.name, body if arguments.markdown else f"```text\n{body.strip(chr(10))}\n```")


if __name__ == "__main__":
    main()
