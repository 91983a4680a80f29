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
                marks = b.run("document.querySelectorAll('#answers svg .mark').length")
                wanted = b.run("atlas.answers.panels.length * (1 + atlas.answers.conditions.length * atlas.answers.counts.length)")
                check(f"{where} answers have a mark for nothing hidden and for each condition and K", marks == wanted, (marks, wanted))
                check(f"{where} shares of answers are between 0 and 1", b.run("atlas.answers.panels.every(p => [p.before, ...p.series].every(s => s.mean.every(v => v === null || v >= 0 && v <= 1)))"))
            if b.run("atlas.motion !== null"):  # with its own bars and those of uniform attention
                told = b.run("[...document.querySelectorAll('#motion .uniform')].map(t => t.textContent)")
                check(f"{where} each bar of motion has the number of uniform attention beside it", len(told) == 9 and all("uniform: " in t for t in told), told)
                ticks = b.run("[document.querySelectorAll('#motion .tick').length, atlas.motion.series.flatMap(s => [s.even.stays, s.even.temporal, s.even.spatial]).filter(v => v !== null).length]")
                check(f"{where} and its mark where it has one", ticks[0] == ticks[1] > 2, ticks)
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

    # the finished text
    b.run("stop(); view.key = -1; document.getElementById('step').focus()")
    b.run("document.getElementById('step').value = steps; document.getElementById('step').dispatchEvent(new Event('input'))")
    end = b.run("Array.from({ length: keys }, (_, k) => shown(atlas.words[tokens[steps * keys + k]])).join(atlas.glue) + atlas.glue")
    check("the slider ends at the finished text", text() == end and "[MASK]" not in end and "\u00b7" not in text(), text())
    check("the page says that it is the finished text", "inished text" in b.run("document.getElementById('step-number').textContent + document.getElementById('step').getAttribute('aria-valuetext')"))
    b.run("document.getElementById('step').value = steps - 1; document.getElementById('step').dispatchEvent(new Event('input'))")
    check("one position before, the last step's words are still missing", text() != end)
    b.run("document.getElementById('map-canvas').focus()")
    b.press("ArrowDown")
    check("arrow keys on the map reach the finished text", "inished text, position" in b.run("document.getElementById('readout').textContent"))

    # what is read aloud
    live = lambda: b.run("document.getElementById('readout').getAttribute('aria-live')")
    b.run("view.step = steps - 3; drawStage(); document.getElementById('play').focus()")
    b.press("Enter", "\r")
    check("nothing is read aloud while it plays", live() == "off", live())
    b.run("new Promise(done => setTimeout(done, 1300))")
    check("play ends with the finished text", text() == end and b.run("view.step === steps && timer === null"))
    check("after it has played, it is read aloud again", live() == "polite", live())
    b.press("Enter", "\r")
    check("play begins anew from the end", b.run("new Promise(done => setTimeout(() => done(view.step < 4 && timer !== null), 400))"))
    b.press("Enter", "\r")
    b.run("view.step = 1; drawStage()")
    b.press("Enter", "\r")
    spot = b.run("(r => [r.x + map.geometry.left + 5, r.y + map.geometry.rowTop(steps) + map.geometry.row / 2])(map.getBoundingClientRect())")
    b.mouse(*spot, click=True)
    b.run("new Promise(done => setTimeout(done, 500))")
    check("a click on the finished text while it plays stops there", b.run("view.step === steps && timer === null"), b.run("view.step"))
    check("no complaint in the console after it", not b.complaints(), b.complaints())

    # every value of every chart by the keyboard, wherever the mouse lies
    b.mouse(700, 450)
    active = "document.activeElement"
    for name in FIGURES[1:]:
        if b.run(f"document.querySelector('#{name} .none') !== null"):
            continue
        inside = f"[...document.querySelectorAll('#{name} .chart [tabindex]')].filter(e => e.tabIndex === 0)"
        wanted = 2 if name == "norms" else 1  # the scatter and the strip of heads
        check(f"{name} is {wanted} stop{'s' if wanted > 1 else ''} for Tab", b.run(f"{inside}.length") == wanted, b.run(f"{inside}.map(e => e.outerHTML)"))
        flat = b.run(f"[...document.querySelectorAll('#{name} .mark')].filter(e => e.closest('[role=img]:not(.mark)')).length")
        check(f"{name}: nothing above its marks hides them from screen readers", flat == 0, flat)
        b.run(f"document.querySelector('#{name} .mark[tabindex=\"0\"]').focus()")
        b.press("Home")
        number, read, hidden = b.run(f"document.querySelectorAll('#{name} .mark').length"), set(), []
        for _ in range(number):
            place, label, shown = b.run(f"[[...document.querySelectorAll('#{name} .mark')].indexOf({active}), {active}.getAttribute('aria-label'), tip.hidden ? '' : tip.textContent]")
            read.add(place)
            if not label or shown.replace("\n", ", ") != label: hidden.append((label, shown))
            b.press("ArrowRight")
        check(f"{name}: arrow keys reach all {number} marks", len(read - {-1}) == number and number > 1, sorted(read))
        check(f"{name}: each shows its value", not hidden, hidden[:2])
        check(f"{name}: each has a number", b.run(f"[...document.querySelectorAll('#{name} .mark')].every(m => /\\d|did not exist|no sinks/.test(m.getAttribute('aria-label')))"))
        away = b.run(f"[{active}.getBoundingClientRect(), tip.getBoundingClientRect()].every(r => r.bottom > 0 && r.top < innerHeight)")
        check(f"{name}: mark and value are on the screen", away)
        b.press("Escape")
        check(f"{name}: Escape closes the value", b.run("tip.hidden"))
    b.run("document.querySelector('#sweep .mark[tabindex=\"0\"]').focus()")
    b.press("Home")
    b.press("ArrowRight")
    first = b.run(f"{active}.getAttribute('aria-label')")
    b.press("ArrowDown")
    second = b.run(f"{active}.getAttribute('aria-label')")
    check("down goes to the next curve at the same threshold", first.split(", ")[0] != second.split(", ")[0] and first.split(" = ")[1].split(":")[0] == second.split(" = ")[1].split(":")[0], (first, second))
    b.run("select(0, 0); document.querySelector('#norms .mark').focus()")
    b.press("Home")
    b.press("ArrowRight")
    b.press("ArrowRight")
    label = b.run(f"{active}.getAttribute('aria-label')")
    b.press("Enter", "\r")
    chosen = b.run("`Layer ${view.layer + 1}, head ${view.head + 1}:`")
    check("Enter on a head of the norms enlarges it", label.startswith(chosen) and chosen != "Layer 1, head 1:", (label, chosen))
    check("and keeps the place", b.run(f"{active}.getAttribute('aria-label')") == label)
    b.run("view.key = -1; document.querySelector('#norms canvas').focus()")
    b.press("ArrowDown")
    b.press("ArrowRight")
    read = b.run("document.querySelector('#norms .read').textContent")
    check("arrow keys on the scatter read values", read == b.run("describe(view.step, view.key)") and "value norm" in read, read)
    ring = b.run("(r => [r.x + 7, r.y + 7])(document.querySelector('#norms .ring').getBoundingClientRect())")
    b.mouse(*ring)
    check("hovering over a dot of the scatter shows a value", b.run("!tip.hidden && tip.textContent.includes('value norm')"))
    roles = b.run("[...document.querySelectorAll('canvas[tabindex]')].map(c => c.getAttribute('role'))")
    check("canvases that keys drive are no images", roles and all(r == "application" for r in roles), roles)

    # controls that did not exist
    if b.run("atlas.answers !== null && atlas.masking !== null"):
        b.run("""for (const f of [atlas.answers, atlas.masking]) for (const s of f.panels[0].series.slice(1))
            for (const list of [s.mean, s.low, s.high, s.killed]) list[list.length - 1] = null; for (const draw of redraws) draw()""")
        for name in ("answers", "masking"):
            none = b.run(f"[...document.querySelectorAll('#{name} .mark')].filter(m => /did not exist/.test(m.getAttribute('aria-label'))).length")
            wanted = b.run(f"atlas.{name}.panels.flatMap(p => p.series.flatMap(s => s.mean)).filter(v => v === null).length")
            check(f"{name}: controls that did not exist are marked", none == wanted >= 2, (none, wanted))
            check(f"{name}: and said to be so", "did not exist" in b.run(f"document.querySelector('#{name} .chart').textContent"))
            check(f"{name}: and nothing is misplaced", b.run(f"![...document.querySelectorAll('#{name} svg *')].some(n => [...n.attributes].some(a => /NaN|undefined|Infinity|null/.test(a.value)))"))

    stops = []
    check("no complaint so far", not b.complaints(), b.complaints())
    b.open(page.as_uri(), 1400, 900, "light")
    for _ in range(90):
        b.press("Tab")
        stops.append(b.run("document.activeElement.id || document.activeElement.closest('.chart')?.closest('figure').id || document.activeElement.tagName"))
        if stops[-1] == "BODY": break
    wanted = {"theme", "map-canvas", "play", "step", "A", "SUMMARY", "BUTTON"} | {f for f in FIGURES[1:] if b.run(f"document.querySelector('#{f} .none') === null")}
    check("Tab reaches everything", wanted <= set(stops), sorted(wanted - set(stops)))
    check("and stops once in a chart, twice where there are two", all(stops.count(f) == (2 if f == "norms" else 1) for f in wanted & set(FIGURES)), stops)
    check("no complaint after all that", not b.complaints(), b.complaints())
print(f"{failures} failed")
sys.exit(1 if failures else 0)
