#!/usr/bin/env python3
"""The page in a headless Chromium: check.py PAGE [FOLDER FOR SCREENSHOTS]

Wide and narrow, light and dark: no complaint in the console, nothing from the network, nothing that overflows, every figure
drawn, and everything that can be done with the mouse can be done with the keyboard."""
import json
import pathlib
import sys

from browser import Browser

page = pathlib.Path(sys.argv[1]).resolve()
shots = pathlib.Path(sys.argv[2]) if len(sys.argv) > 2 else None
failures = 0


def check(name, good, facts=""):
    global failures
    failures += not good
    print(f"{'ok' if good else 'FAILED'}  {name} {facts if not good else ''}".rstrip())


# How many different colours a canvas has: an empty one has one.
COLOURS = """(canvas => new Set(new Uint32Array(canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data.buffer)).size)"""
FIGURES = ["map", "holders", "sweep", "motion", "norms", "answers", "masking", "token"]

with Browser() as b:
    for width in (1400, 400):
        for scheme in ("light", "dark"):
            b.open(page.as_uri(), width, 900, scheme)
            where = f"{width} pixels, {scheme}:"
            check(f"{where} nothing overflows", b.run("document.documentElement.scrollWidth") <= width, b.run("document.documentElement.scrollWidth"))
            wide = b.run("""[...document.querySelectorAll('figure *')].filter(e => e.getBoundingClientRect().right > innerWidth + 1
                && !e.closest('svg')).map(e => e.tagName + '#' + e.id)""")
            check(f"{where} every element is inside", not wide, wide)
            check(f"{where} the theme is the system's", b.run("document.documentElement.dataset.theme") == scheme)
            dim = b.run("getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number).reduce((a, b) => a + b) < 384")
            check(f"{where} the paper is {'dark' if scheme == 'dark' else 'light'}", dim == (scheme == "dark"))
            check(f"{where} the map is drawn", b.run(f"{COLOURS}(document.getElementById('map-canvas'))") > 20)
            cells = b.run(f"[...document.querySelectorAll('#overview canvas')].map({COLOURS})")
            shape = b.run("[atlas.layers, atlas.heads]")
            check(f"{where} every head is drawn", len(cells) == shape[0] * shape[1] and min(cells) > 5, cells)
            for name in FIGURES:
                drawn = b.run(f"document.querySelectorAll('#{name} svg *, #{name} canvas').length")
                said = b.run(f"document.querySelector('#{name} .say').textContent.length")
                links = b.run(f"[...document.querySelectorAll('#{name} footer a')].map(a => decodeURIComponent(new URL(a.href).pathname))")
                if b.run(f"document.querySelector('#{name} .none') !== null"):  # a model was not there: the page says so
                    check(f"{where} figure {name} says what is missing", said > 20)
                    continue
                check(f"{where} figure {name} is drawn", drawn > 3 and said > 20, (drawn, said))
                check(f"{where} figure {name} has its data", links and all(pathlib.Path(f).is_file() for f in links), links)
                check(f"{where} figure {name} has its command", "sink_atlas" in b.run(f"document.querySelector('#{name} details code').textContent"))
            if b.run("atlas.answers !== null"):
                marks = b.run("document.querySelectorAll('#answers svg circle').length")
                wanted = b.run("atlas.answers.panels.length * (1 + atlas.answers.conditions.length * atlas.answers.counts.length)")
                check(f"{where} answers have a mark for nothing hidden and for each condition and K", marks == wanted, (marks, wanted))
                check(f"{where} shares of answers are between 0 and 1", b.run("atlas.answers.panels.every(p => [p.before, ...p.series].every(s => s.mean.every(v => v >= 0 && v <= 1)))"))
            broken = b.run("[...document.querySelectorAll('svg *')].filter(n => [...n.attributes].some(a => /NaN|undefined|Infinity/.test(a.value))).map(n => n.outerHTML)")
            check(f"{where} no mark is misplaced", not broken, broken[:2])
            if shots:
                shots.mkdir(exist_ok=True)
                b.screenshot(shots / f"{width}_{scheme}.png")
            check(f"{where} no complaint in the console", not b.complaints(), b.complaints())

    b.open(page.as_uri(), 1400, 900, "light")
    text = lambda: b.run("document.getElementById('text').textContent")
    before = text()
    b.run("document.getElementById('step').focus()")
    b.press("ArrowRight")
    check("the slider moves by the keyboard and the text follows", b.run("view.step") == b.run("Math.floor(steps / 3)") + 1 and text() != before)
    b.run("document.getElementById('map-canvas').focus()")
    b.press("ArrowDown")
    b.press("ArrowRight")
    read = b.run("document.getElementById('readout').textContent")
    check("arrow keys on the map read values", "received" in read and f"position {b.run('view.key')}" in read, read)
    expected = b.run("`received ${number(received[place(view.step, view.layer, view.head, view.key)])}`")
    check("the value that is read is the one of the array", expected in read, (expected, read))
    b.run("document.querySelector('#overview [aria-pressed=true]').focus()")
    b.run("select(0, 0); document.querySelector('#overview [aria-pressed=true]').focus()")
    b.press("ArrowRight")
    b.press("Enter", "\r")
    check("a head is enlarged by the keyboard", b.run("[view.layer, view.head]") == [0, 1], b.run("[view.layer, view.head]"))
    check("its title follows", b.run("document.getElementById('map-title').textContent") == "Layer 1, head 2")
    spot = b.run("(r => [r.x + r.width / 2, r.y + r.height / 2])(document.querySelectorAll('#overview button')[2].getBoundingClientRect())")
    b.mouse(*spot, click=True)
    check("a head is enlarged by a click", b.run("[view.layer, view.head]") == [0, 2])
    spot = b.run("(r => [r.x + r.width / 2, r.y + r.height / 3])(document.getElementById('map-canvas').getBoundingClientRect())")
    b.mouse(*spot)
    check("hovering over the map shows a value", b.run("!tip.hidden && tip.textContent.includes('received')"))
    b.run("view.step = 0; document.getElementById('play').focus()")
    b.press("Enter", "\r")
    moved = b.run("new Promise(done => setTimeout(() => done(view.step), 700))")
    check("play moves on", moved >= 2, moved)
    b.press("Enter", "\r")
    held = b.run("view.step")
    check("pause holds", b.run("new Promise(done => setTimeout(() => done(view.step), 500))") == held)
    b.run("document.getElementById('theme').click()")
    check("the theme can be chosen", b.run("document.documentElement.dataset.theme") == "dark")
    stops = set()
    b.run("document.activeElement.blur()")
    for _ in range(60):
        b.press("Tab")
        stops.add(b.run("document.activeElement.id || document.activeElement.tagName"))
    wanted = {"theme", "map-canvas", "play", "step", "A", "SUMMARY", "BUTTON"}
    check("Tab reaches everything", wanted <= stops, json.dumps(sorted(stops)))
    check("no complaint after all that", not b.complaints(), b.complaints())
print(f"{failures} failed")
sys.exit(1 if failures else 0)
