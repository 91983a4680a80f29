#!/usr/bin/env bash
# The documentation as an offline site, with the API reference: docs/site/run.sh, then open build/site/html/index.html
set -euo pipefail
cd "$(dirname "$0")/../.."
. tests/install.sh
need_command doxygen doxygen "the API reference"
need_command mkdocs mkdocs "makes pages of the Markdown files"
install_missing

site=build/site
rm -rf "$site"
mkdir -p "$site/pages"
# As in the repository, so that links between pages hold.
cp -r README.md CHANGELOG.md CONTRIBUTING.md SECURITY.md CITATION.cff LICENSE docs examples include "$site/pages/"
rm -rf "$site/pages/docs/site"
cp docs/site/site.css "$site/pages/"
cp docs/site/mkdocs.yml "$site/"
printf '# API\n\n[All names](../api/namespacebasin.html), [types](../api/annotated.html) and [concepts](../api/concepts.html), made from the comments of the headers. [Words](words.md) that many names share are explained once.\n' \
    >"$site/pages/docs/api.md"
python3 docs/site/reference.py "$site/pages/api"
(cd "$site" && mkdocs build --strict --quiet --config-file mkdocs.yml)
echo "$(find "$site/html" -name '*.html' | wc -l) pages: $site/html/index.html"
