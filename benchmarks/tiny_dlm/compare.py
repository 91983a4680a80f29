# SPDX-FileCopyrightText: 2026 basin contributors
# SPDX-License-Identifier: MIT
"""The tiny model here and in PyTorch eager, in turns: training steps, and denoising in 32 steps with all statistics.

    compare.py PROGRAM [SECONDS [ROUNDS]]

The same shapes, batches, optimizer, sampler and number of threads; wall clock; the median of rounds in which each side runs for
SECONDS per line. Both compute logits of masked tokens alone where a loss is wanted. When denoising, basin's model computes those
of masked tokens alone, which is all that the sampler reads; PyTorch's computes all, as published samplers do."""
import pathlib
import statistics
import subprocess
import sys
import time

import torch

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tests" / "tiny_dlm"))
from torch_model import MASK, Config, Model, denoise  # noqa: E402

MODELS = {
    "tasks": (Config(), 32, 8),
    "english": (
        Config(layers=5, width=96, hidden=288, length=128, vocabulary=1004, rope_base=10000.0),
        8,
        4,
    ),
}


def median_ms(seconds, work):
    work()
    times, start = [], time.perf_counter()
    while len(times) < 2 or time.perf_counter() - start < seconds:
        begin = time.perf_counter()
        work()
        times.append(1e3 * (time.perf_counter() - begin))
    return statistics.median(times)


def training(config, texts, seconds):
    model = Model(config)
    adam = torch.optim.AdamW(model.parameters(), lr=5e-3, betas=(0.9, 0.98), weight_decay=0.1)
    clean = torch.randint(4, config.vocabulary, (texts, config.length))

    def step():
        p = ((torch.arange(texts) / texts + torch.rand(())) % 1 * 0.999 + 1e-3)[:, None]
        hidden = torch.rand(clean.shape) < p
        logits = model(torch.where(hidden, MASK, clean), wanted=hidden)
        losses = torch.nn.functional.cross_entropy(logits, clean[hidden], reduction="none")
        loss = (losses / p.expand_as(hidden)[hidden]).sum() / hidden.numel()
        adam.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        adam.step()

    return median_ms(seconds, step)


def sampling(config, texts, seconds, watched):
    model = Model(config)
    tokens = torch.full((texts, config.length), MASK)
    return median_ms(seconds, lambda: denoise(model, tokens, 32, {} if watched else None))


def main():
    program, seconds, rounds = sys.argv[1], float((sys.argv + ["", "0.25"])[2] or 0.25), int((sys.argv + [""] * 3)[3] or 7)
    torch.set_num_threads(2)
    ours, theirs = {}, {}
    for _ in range(rounds):
        lines = subprocess.run([program, str(seconds), "2"], check=True, capture_output=True, text=True).stdout
        for name, ms in (line.split() for line in lines.splitlines()):
            ours.setdefault(name, []).append(float(ms))
        for name, (config, train_texts, sample_texts) in MODELS.items():
            theirs.setdefault(f"train_{name}", []).append(training(config, train_texts, seconds))
            theirs.setdefault(f"sample_{name}", []).append(sampling(config, sample_texts, seconds, False))
            theirs.setdefault(f"sample_{name}_statistics", []).append(sampling(config, sample_texts, seconds, True))
    print(f"2 threads, median of {rounds} rounds in turns; PyTorch {torch.__version__} eager; milliseconds")
    for name, times in ours.items():
        mine = statistics.median(times)
        # with tracking, basin's lead is over statistics alone: PyTorch has no trackers
        other = statistics.median(theirs[name.replace("_tracking", "_statistics")])
        print(f"{name:28s} basin {mine:9.2f}   PyTorch {other:9.2f}   {other / mine:5.2f} x")
    for name in MODELS:  # what each round saw: its three samplings took turns
        added = {x: [b / a - 1 for a, b in zip(ours[f"sample_{name}"], ours[f"sample_{name}_{x}"])] for x in ("statistics", "tracking")}
        middle = {x: 100 * statistics.median(shares) for x, shares in added.items()}
        print(f"{name}: statistics add {middle['statistics']:.1f} % to sampling, with detection and tracking {middle['tracking']:.1f} %")


main()
