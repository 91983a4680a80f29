#!/usr/bin/env bash
# Writes the King James Bible, one verse a line, to the file that is named: examples/tiny_dlm/english.sh english.txt
# Debian and Ubuntu have it as the package bible-kjv; the text is in the public domain.
set -euo pipefail
[ $# -eq 1 ] || { echo "usage: $0 FILE" >&2; exit 2; }
command -v bible >/dev/null || { echo "$0: install the package bible-kjv first: apt-get install bible-kjv" >&2; exit 1; }
bible -f 'Genesis1:1-Revelation22:21' | sed -E 's/^[^ ]+ //' >"$1.part"
mv "$1.part" "$1"
