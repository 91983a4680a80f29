#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 basin contributors
# SPDX-License-Identifier: MIT
"""Writes pytorch_gradients.inc and pytorch_training.inc, which the tests compare basin with: gradients of PyTorch's autograd
through attention spelled out as a matrix, and the losses of a small model while it is trained. Needs torch; run it in this
folder when a case changes: python3 make_pytorch_data.py"""
import math

import torch

WORD = (1 << 64) - 1


class Numbers:
    """The random numbers of tests/support/random.hpp."""

    def __init__(self, seed, counter=0):
        self.seed, self.counter = seed, counter

    def uniform(self, low, high):
        x = (self.seed * 0x9E3779B97F4A7C15 + (self.counter + 1) * 0xBF58476D1CE4E5B9) & WORD
        self.counter += 1
        x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & WORD
        x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & WORD
        x ^= x >> 31
        return low + (high - low) * ((x >> 11) * 2.0**-53)

    def tensor(self, *shape, low=-1.0, high=1.0, dtype=torch.float32):
        numbers = [self.uniform(low, high) for _ in range(math.prod(shape))]
        return torch.tensor(numbers, dtype=dtype).reshape(shape)


def attention(q, k, v, scale, score=lambda s: s, visible=None, logits=None, sink=None):
    """(out, lse, received, entropy) of (batch, head, token, channel); sinks are columns after the keys."""
    group = q.shape[1] // k.shape[1]
    k, v = k.repeat_interleave(group, 1), v.repeat_interleave(group, 1)
    scores = score(q @ k.transpose(-1, -2) * scale)
    if visible is not None:
        scores = scores.masked_fill(~visible, -math.inf)
    keys = scores.shape[-1]
    columns = [scores]
    if logits is not None:
        columns.append(logits.reshape(1, -1, 1, 1).expand(*scores.shape[:3], 1))
        v = torch.cat([v, torch.zeros_like(v[:, :, :1])], 2)
    if sink is not None:
        sink_k, sink_v = (x.repeat_interleave(group, 0).expand(q.shape[0], -1, -1, -1) for x in sink)
        columns.append(q @ sink_k.transpose(-1, -2) * scale)
        v = torch.cat([v, sink_v], 2)
    scores = torch.cat(columns, -1)
    p = scores.softmax(-1)
    own = p[..., :keys]
    logs = torch.where(own > 0, own, 1.0).log()
    return p @ v, scores.logsumexp(-1), own.sum(-2), -(own * logs).sum(-1)


def gradients():
    batch, heads, kv, n, m, c, d = 2, 4, 2, 5, 7, 4, 3
    query, key = torch.arange(n).reshape(-1, 1), torch.arange(m)
    rows = []
    for case in ("causal", "window and sink logits", "softcap and alibi", "bias and kv_sink", "padded"):
        r = Numbers(41)
        made = {"q": r.tensor(batch, heads, n, c), "k": r.tensor(batch, kv, m, c), "v": r.tensor(batch, kv, m, d)}
        d_out, d_lse = r.tensor(batch, heads, n, d), r.tensor(batch, heads, n)
        d_received, d_entropy = r.tensor(batch, heads, m), r.tensor(batch, heads, n)
        how = {}
        if case == "causal":
            how["visible"] = (key <= query).expand(batch, heads, n, m)
        if case == "window and sink logits":
            made["logits"] = r.tensor(heads)
            how["visible"] = ((key - query >= -2) & (key - query <= 3)).expand(batch, heads, n, m)
        if case == "softcap and alibi":
            made["slopes"] = r.tensor(heads, low=0)
        if case == "bias and kv_sink":
            made["table"] = r.tensor(1, heads, n, m)
            made["sink_k"], made["sink_v"] = r.tensor(kv, 2, c), r.tensor(kv, 2, d)
        if case == "padded":
            made["temperature"] = r.tensor(1, low=0.5, high=1.5)
            lengths = torch.tensor([7, 4]).reshape(2, 1, 1, 1)
            how["visible"] = (key < lengths).expand(batch, heads, n, m)
        for x in made.values():
            x.requires_grad_()
        if case == "window and sink logits":
            how["logits"] = made["logits"]
        if case == "softcap and alibi":
            far = (query - key).abs()
            how["score"] = lambda s: 2 * torch.tanh(s / 2) - made["slopes"].reshape(1, -1, 1, 1) * far
        if case == "bias and kv_sink":
            how["score"] = lambda s: s + made["table"]
            how["sink"] = (made["sink_k"], made["sink_v"])
        if case == "padded":
            how["score"] = lambda s: s / made["temperature"]
        out, lse, received, entropy = attention(made["q"], made["k"], made["v"], 1 / math.sqrt(c), **how)
        loss = (out * d_out).sum()
        if case != "causal":
            loss = loss + (lse * d_lse).sum() + (received * d_received).sum() + (entropy * d_entropy).sum()
        loss.backward()
        for name, x in made.items():
            rows.append((case, name, x.grad.flatten().tolist()))
    return rows


BATCH, TOKENS, WIDTH, HEADS, HIDDEN, LAYERS, STEPS = 2, 9, 8, 2, 12, 2, 200


def training():
    """A model of two layers, trained by plain gradient descent; tests/backward/toy_model.cpp is the same model."""
    r = Numbers(7)
    new = lambda *shape: r.tensor(*shape, low=-0.4, high=0.4, dtype=torch.float64).requires_grad_()
    layers = []
    for _ in range(LAYERS):
        layer = {name: new(WIDTH, WIDTH) for name in ("q", "k", "v", "o")}
        layer |= {"up": new(WIDTH, HIDDEN), "down": new(HIDDEN, WIDTH), "logits": new(HEADS)}
        layers.append(layer)
    x0 = r.tensor(BATCH, TOKENS, WIDTH, dtype=torch.float64)
    target = r.tensor(BATCH, TOKENS, WIDTH, dtype=torch.float64)
    near = (torch.arange(TOKENS).reshape(-1, 1) - torch.arange(TOKENS)).abs() <= 4
    losses = []
    for _ in range(STEPS):
        x, extra = x0, 0.0
        for layer in layers:
            split = lambda y: y.reshape(BATCH, TOKENS, HEADS, WIDTH // HEADS).transpose(1, 2)
            q, k, v = (split(x @ layer[name]) for name in "qkv")
            out, _, received, entropy = attention(q, k, v, 1 / math.sqrt(WIDTH // HEADS), visible=near, logits=layer["logits"])
            x = x + out.transpose(1, 2).reshape(BATCH, TOKENS, WIDTH) @ layer["o"]
            x = x + torch.tanh(x @ layer["up"]) @ layer["down"]
            extra = extra + 0.02 * (received**2).mean() - 0.01 * entropy.mean()
        loss = ((x - target) ** 2).mean() + extra
        losses.append(loss.item())
        loss.backward()
        with torch.no_grad():
            for layer in layers:
                for p in layer.values():
                    p -= 0.5 * p.grad
                    p.grad = None
    return losses


def write(name, lines):
    with open(name, "w") as f:
        f.write(f"// Made by make_pytorch_data.py with PyTorch {torch.__version__.split('+')[0]}: data, not to be edited.\n")
        f.writelines(lines)


if __name__ == "__main__":
    write("pytorch_gradients.inc", [
        f'{{"{case}", "{name}", {{{", ".join(f"{x:.9g}" for x in numbers)}}}}},\n' for case, name, numbers in gradients()])
    write("pytorch_training.inc", [f"{x:.15g},\n" for x in training()])
