# SPDX-FileCopyrightText: 2026 basin contributors
# SPDX-License-Identifier: MIT
"""Makes fixture.txt: logits, greedy denoising and the loss of every variant, by PyTorch in double. Needs torch.

    python3 tests/tiny_dlm/make_fixture.py > tests/tiny_dlm/fixture.txt

Weights and tokens come from a formula that the test repeats (see numbers below), so that the file holds results alone."""
import torch
import torch.nn.functional as F
from torch_model import MASK, Config, Model, denoise

VARIANTS = [
    dict(),
    dict(kind="block_diffusion"),
    dict(kind="autoregressive"),
    dict(sinks="token"),
    dict(sinks="token", count=2, place="middle"),
    dict(sinks="token", count=4, place="end"),
    dict(kind="autoregressive", sinks="token"),
    dict(sinks="zero_value", count=2),
    dict(sinks="logit"),
    dict(sinks="off_by_one"),
    dict(sinks="registers", count=2),
    dict(sinks="gate"),
    dict(gated=True),
    dict(kv_heads=1),
]
SMALL = dict(layers=2, width=16, heads=2, kv_heads=2, hidden=24, vocabulary=20, length=12, block=4, rope_base=100.0)


def numbers(count, start):
    """A linear congruential generator: (-1, 1)."""
    state, result = start, []
    for _ in range(count):
        state = (state * 1103515245 + 12345) % 2**31
        result.append(state / 2**30 - 1)
    return result


def main():
    torch.set_default_dtype(torch.float64)
    for number, given in enumerate(VARIANTS):
        c = Config(**{**SMALL, **given})
        weights = {}
        for i, (name, shape) in enumerate(c.shapes()):
            x = torch.tensor(numbers(torch.Size(shape).numel(), 1000 * number + i)).view(shape)
            weights[name] = 1 + 0.1 * x if name.endswith("norm") else 0.6 * x
        model = Model(c, weights)
        tokens = torch.tensor([4 + int((x + 1) * 8) for x in numbers(2 * c.length, 77 + number)]).view(2, c.length)
        clean = tokens.clone()
        tokens[:, 3:] = MASK
        with torch.no_grad():
            logits = model(tokens)
            learned = model(tokens, clean=clean) if c.kind == "block_diffusion" else logits
            loss = F.cross_entropy(learned[:, 3:].flatten(0, 1), clean[:, 3:].flatten(), reduction="sum") / 16
        print(c.kind, c.sinks, c.count, c.place, int(c.gated), c.kv_heads)
        print(*tokens.flatten().tolist())
        print(*denoise(model, tokens, 5).flatten().tolist())
        print(*clean.flatten().tolist())
        print(f"{loss.item():.10g}")
        print(*(f"{x:.7g}" for x in logits.flatten().tolist()))


main()
