# SPDX-FileCopyrightText: 2026 basin contributors
# SPDX-License-Identifier: MIT
"""Tables and the chart from the results of compare.py. Alone, `report.py` draws build/peers/results.json again."""
import json
import math
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "benchmarks"))
import page # benchmarks/page.py

RIVALS = ["PyTorch SDPA", "ONNX Runtime", "OpenVINO"]
EAGER = "PyTorch eager, column sums"
ORDER = ["basin", "basin, received", *RIVALS, "PyTorch SDPA, dense mask", EAGER]


def mean(ratios):
    return math.exp(sum(map(math.log, ratios)) / len(ratios))


def best_rival(cell):
    return max(cell["gflops"][name] for name in RIVALS)


def panels(results):
    """The cells by (threads, d)."""
    keys = sorted({(c["threads"], c["d"]) for c in results["cells"]})
    return {key: [c for c in results["cells"] if (c["threads"], c["d"]) == key] for key in keys}


def heading(results):
    m = results["machine"]
    versions = ", ".join(f"{name} {v}" for name, v in results["versions"].items() if name not in ("onnx", "numpy"))
    loads = f"load {m['load']:.1f}" + (f" to {results['load_at_end']:.1f}" if "load_at_end" in results else "")
    return (f"{m['cpu']}, {m['cores']} cores, {loads} (the run itself is part of it); basin by g++ {results['compiler']} "
            f"{results['flags']}; {versions}; {results['date'][:10]}")


def line_of(cell):
    numbers = "  ".join(f"{name} {cell['gflops'][name]:.0f}" for name in ORDER if name in cell["gflops"])
    return (f"threads {cell['threads']} d {cell['d']:3} N {cell['n']:5}: {numbers} | peak {cell['peak']:.0f} | "
            f"{cell['gflops']['basin'] / best_rival(cell):.2f}x the best | {cell['rounds']} rounds")


def table(header, rows):
    lines = ["| " + " | ".join(header) + " |", "|---|" + "---:|" * (len(header) - 1)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


def markdown(results):
    parts = [f"Measured on: {heading(results)}. Medians of at least {min(c['rounds'] for c in results['cells'])} rounds."]
    if results["quick"]:
        parts.append("**A quick run: it shows that the comparison works. The figures mean nothing.**")
    summary = []
    for (threads, d), cells in panels(results).items():
        rows = []
        for name in ORDER:
            if any(name in c["gflops"] for c in cells):
                rows.append([name] + [f"{c['gflops'][name]:.0f}" if name in c["gflops"] else "" for c in cells])
        rows.append(["multiply-add peak"] + [f"{c['peak']:.0f}" for c in cells])
        rows.append(["basin, share of peak"] + [f"{100 * c['share']['basin']:.0f} %" for c in cells])
        to_best = [c["gflops"]["basin"] / best_rival(c) for c in cells]
        with_received = [c["gflops"]["basin, received"] / best_rival(c) for c in cells]
        ceiling = [c["peak"] / best_rival(c) for c in cells]
        rows.append(["peak / best of the fused"] + [f"{r:.2f}" for r in ceiling])
        rows.append(["**basin / best of the fused**"] + [f"**{r:.2f}**" for r in to_best])
        rows.append(["basin, received / best of the fused"] + [f"{r:.2f}" for r in with_received])
        to_eager = {c["n"]: c["gflops"]["basin, received"] / c["gflops"][EAGER] for c in cells if EAGER in c["gflops"]}
        rows.append(["basin, received / eager"] + [f"{to_eager[c['n']]:.1f}" if c["n"] in to_eager else "" for c in cells])
        parts.append(f"**d = {d}, {threads} thread{'s' if threads > 1 else ''}**, GFLOP/s by N:")
        parts.append(table(["N"] + [str(c["n"]) for c in cells], rows))
        ratios = [[c["gflops"]["basin"] / c["gflops"][name] for c in cells] for name in RIVALS]
        summary.append([f"d = {d}, {threads} thread{'s' if threads > 1 else ''}"] + [f"{mean(r):.2f}" for r in ratios] +
                       [f"**{mean(to_best):.2f}**", f"{min(to_best):.2f}", f"{mean(with_received):.2f}",
                        f"{mean(ceiling):.2f}"])
    parts.append("Geometric means over N of basin through the rival; *best* is the best of the three at each N, and *peak* what a kernel "
                 "without any exponential, load or store would have over it:")
    parts.append(table(["", *RIVALS, "best", "best, lowest", "best, with received", "peak / best"], summary))
    parts.append("Largest absolute error of the output against double, on the same numbers. Queries times 100 give scores in the "
                 "hundreds:")
    rows = []
    for e in results["errors"]:
        rows.append([f"N = {e['n']}, d = {e['d']}, queries x{e['scale']:g}"] +
                    [f"{e['largest'][name]:.1e}" for name in ("basin", *RIVALS)] +
                    [f"{e['largest']['basin'] / e['largest']['PyTorch SDPA']:.2f}",
                     f"{e['rms']['basin'] / e['rms']['PyTorch SDPA']:.2f}"])
    parts.append(table(["", "basin", *RIVALS, "basin / PyTorch", "the same, rms"], rows))
    parts.insert(0, "![GFLOP/s by length, one panel for each width of heads and number of threads](pictures/performance.png)")
    return "\n\n".join(parts) + "\n"


def chart(results, path):
    import matplotlib
    matplotlib.use("Agg")
    from matplotlib import pyplot

    style = {
        "basin": ("#0b5394", "-", "o", 2.4), "basin, received": ("#0b5394", "--", "o", 1.6),
        "PyTorch SDPA": ("#cc4125", "-", "s", 1.4), "PyTorch SDPA, dense mask": ("#cc4125", ":", "s", 1.2),
        "ONNX Runtime": ("#6aa84f", "-", "^", 1.4), "OpenVINO": ("#8e63ce", "-", "v", 1.4),
        EAGER: ("#b45f06", ":", "x", 1.2),
    }
    cells = panels(results)
    threads, widths = sorted({t for t, _ in cells}), sorted({d for _, d in cells})
    figure, axes = pyplot.subplots(len(threads), len(widths), figsize=(5.4 * len(widths), 3.7 * len(threads)), squeeze=False,
                                   sharex=True, sharey="row")
    for (t, d), group in cells.items():
        a = axes[threads.index(t)][widths.index(d)]
        sizes = [c["n"] for c in group]
        a.plot(sizes, [c["peak"] for c in group], color="#999999", linewidth=1, label="multiply-add peak")
        for name in ORDER:
            color, line, marker, width = style[name]
            points = [(c["n"], c["gflops"][name]) for c in group if name in c["gflops"]]
            if points:
                a.plot(*zip(*points), color=color, linestyle=line, marker=marker, markersize=4, linewidth=width, label=name)
        a.set_xscale("log", base=2)
        a.set_xticks(sizes, [str(n) for n in sizes])
        a.minorticks_off()
        a.set_ylim(bottom=0)
        a.grid(alpha=0.25)
        a.set_title(f"d = {d}, {t} thread{'s' if t > 1 else ''}", fontsize=10)
        if a in axes[-1]:
            a.set_xlabel("tokens")
        if d == widths[0]:
            a.set_ylabel("GFLOP/s")
    handles, labels = axes[0][0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="lower center", ncols=4, fontsize=8.5, frameon=False)
    m = results["machine"]
    figure.suptitle(f"Full attention, float, {results['heads']} heads: {m['cpu']}" + (" (quick run)" if results["quick"] else ""),
                    fontsize=11)
    figure.tight_layout(rect=(0, 0.075, 1, 0.985))
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=110)
    pyplot.close(figure)


def publish(results, folder, to_docs):
    chart(results, folder / "performance.png")
    print(f"{folder / 'results.json'}, results.md, performance.png")
    if to_docs:
        chart(results, ROOT / "docs" / "pictures" / "performance.png")
        page.replace("peers", markdown(results))
        print("docs/performance.md and docs/pictures/performance.png are up to date")
    else:
        print("docs/ is left alone")


if __name__ == "__main__":
    where = ROOT / "build" / "peers"
    stored = json.loads((where / "results.json").read_text(encoding="utf-8"))
    publish(stored, where, to_docs=not stored["quick"])
