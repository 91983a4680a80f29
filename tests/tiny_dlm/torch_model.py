# SPDX-FileCopyrightText: 2026 basin contributors
# SPDX-License-Identifier: MIT
"""The tiny model of examples/tiny_dlm in plain PyTorch: what it is compared with, in tests and benchmarks."""
import math

import torch
import torch.nn.functional as F

MASK, EOS, SPECIALS = 0, 1, 4


class Config:
    """As model_config in examples/tiny_dlm/config.hpp."""

    def __init__(self, **given):
        self.kind, self.sinks, self.place, self.count = "masked_diffusion", "none", "front", 1
        self.layers, self.width, self.heads, self.kv_heads, self.hidden, self.gated = 4, 64, 4, 4, 192, False
        self.vocabulary, self.length, self.rope_base, self.block = 37, 64, 100.0, 16
        self.__dict__.update(given)
        self.channels = self.width // self.heads
        self.extra = self.count if self.sinks in ("token", "registers") else 0
        self.extra_begin = {"front": 0, "middle": self.length // 2, "end": self.length}[self.place]

    def shapes(self):
        """Names and shapes of all parameters, in the order of the flat array."""
        kv = self.kv_heads * self.channels
        yield "embedding", (self.vocabulary, self.width)
        if self.extra:
            yield "extra_tokens", (self.count, self.width)
        for i in range(self.layers):
            p = f"layers.{i}."
            yield p + "attention_norm", (self.width,)
            yield p + "query", (self.width, self.width)
            yield p + "key", (kv, self.width)
            yield p + "value", (kv, self.width)
            yield p + "output", (self.width, self.width)
            yield p + "mlp_norm", (self.width,)
            yield p + "up", (self.hidden, self.width)
            if self.gated:
                yield p + "mlp_gate", (self.hidden, self.width)
            yield p + "down", (self.width, self.hidden)
            if self.sinks == "gate":
                yield p + "output_gate", (self.width, self.width)
            if self.sinks == "logit":
                yield p + "sink_logit", (self.heads,)
            if self.sinks == "zero_value":
                yield p + "sink_key", (self.kv_heads, self.count, self.channels)
        yield "final_norm", (self.width,)
        yield "head", (self.vocabulary, self.width)


def norm(x, gain):
    return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + 1e-6) * gain


def visible(c, rows, copy):
    """(query, key): who sees whom."""
    q, k = torch.arange(rows)[:, None], torch.arange(rows)[None, :]
    if c.kind == "autoregressive":
        mask = k <= q
    elif c.kind == "masked_diffusion":
        mask = torch.ones(rows, rows, dtype=torch.bool)
    elif not copy:
        mask = k // c.block <= q // c.block
    else:  # noisy text first, then its clean copy
        n = rows // 2
        qb, kb = (q % n) // c.block, (k % n) // c.block
        mask = torch.where(q < n, torch.where(k < n, qb == kb, kb < qb), (k >= n) & (kb <= qb))
    if c.sinks == "token":
        sink = torch.zeros(rows, dtype=torch.bool)
        sink[c.extra_begin : c.extra_begin + c.extra] = True
        mask = torch.where(sink[:, None], q == k, mask | sink[None, :])
    return mask


class Model(torch.nn.Module):
    """Eager: every operation is one of PyTorch's; attention is scaled_dot_product_attention where no weights are asked for."""

    def __init__(self, config, weights=None):
        super().__init__()
        self.c = config
        self.w = torch.nn.ParameterDict(
            {
                name.replace(".", "_"): torch.nn.Parameter(
                    weights[name] if weights else torch.randn(shape) * (shape[-1] ** -0.5 if len(shape) == 2 else 1)
                )
                for name, shape in config.shapes()
            }
        )
        self.masks, self.turns = {}, {}

    def get(self, layer, name):
        return self.w[f"layers_{layer}_{name}"]

    def positions(self, rows, copy):
        key = (rows, copy)
        if key not in self.turns:
            p = torch.arange(rows) % (rows // 2 if copy else rows)
            angle = p[:, None] * self.c.rope_base ** (-2.0 * torch.arange(self.c.channels // 2) / self.c.channels)
            self.turns[key] = angle.cos(), angle.sin()
            self.masks[key] = visible(self.c, rows, copy)
        return self.turns[key]

    def turn(self, x, cos, sin):
        a, b = x.chunk(2, -1)
        return torch.cat((a * cos - b * sin, b * cos + a * sin), -1)

    def attend(self, i, q, k, v, mask, statistics):
        c = self.c
        if c.heads != c.kv_heads:
            k, v = (x.repeat_interleave(c.heads // c.kv_heads, 1) for x in (k, v))
        extra = None  # logits of sinks in the denominator: (batch, head, query, n)
        if c.sinks in ("logit", "off_by_one"):
            logit = self.get(i, "sink_logit") if c.sinks == "logit" else torch.zeros(c.heads)
            extra = logit[None, :, None, None].expand(*q.shape[:3], 1)
        elif c.sinks == "zero_value":
            keys = self.get(i, "sink_key").repeat_interleave(c.heads // c.kv_heads, 0)
            extra = q @ keys.transpose(-1, -2) / math.sqrt(c.channels)
        everyone = bool(mask.all())
        if extra is None and statistics is None:
            return F.scaled_dot_product_attention(q, k, v, attn_mask=None if everyone else mask)
        scores = q @ k.transpose(-1, -2) / math.sqrt(c.channels)
        if not everyone:
            scores = scores.masked_fill(~mask, -math.inf)
        if extra is not None:
            scores = torch.cat((scores, extra), -1)
        p = scores.softmax(-1)
        p = p[..., : k.shape[2]]
        if statistics is not None:
            masked = statistics["masked"][:, None, :, None]
            by = torch.stack(((p * ~masked).sum(2), (p * masked).sum(2)), 2)
            statistics["layers"].append(
                {
                    "received": by.sum(2),
                    "received_by": by,
                    "entropy": -(p * (p + 1e-30).log()).sum(-1),
                    "lse": scores.logsumexp(-1),
                    "escaped": 1 - p.sum(-1),
                    "value_norm": v.norm(dim=-1),
                }
            )
        return p @ v

    def forward(self, tokens, clean=None, wanted=None, statistics=None):
        """Logits of tokens (text, token); `clean` is the copy of block diffusion; `wanted` (text, token) chooses rows."""
        c = self.c
        x = F.embedding(tokens, self.w["embedding"])
        if c.extra:
            extra = self.w["extra_tokens"][None].expand(len(x), -1, -1)
            x = torch.cat((x[:, : c.extra_begin], extra, x[:, c.extra_begin :]), 1)
        if clean is not None:
            x = torch.cat((x, F.embedding(clean, self.w["embedding"])), 1)
        rows = x.shape[1]
        cos, sin = self.positions(rows, clean is not None)
        mask = self.masks[(rows, clean is not None)]
        if statistics is not None:
            masked = torch.zeros(len(x), rows, dtype=torch.bool)
            inside = [r for r in range(rows) if not c.extra_begin <= r < c.extra_begin + c.extra]
            masked[:, inside] = tokens == MASK
            statistics.update(masked=masked, layers=[])
        for i in range(c.layers):
            h = norm(x, self.get(i, "attention_norm"))
            parts = [F.linear(h, self.get(i, n)) for n in ("query", "key", "value")]
            q, k, v = (p.view(*p.shape[:2], -1, c.channels).transpose(1, 2) for p in parts)
            q, k = self.turn(q, cos, sin), self.turn(k, cos, sin)
            o = self.attend(i, q, k, v, mask, statistics).transpose(1, 2).flatten(2)
            if c.sinks == "gate":
                o = o * torch.sigmoid(F.linear(h, self.get(i, "output_gate")))
            x = x + F.linear(o, self.get(i, "output"))
            h = norm(x, self.get(i, "mlp_norm"))
            up = F.linear(h, self.get(i, "up"))
            active = F.silu(up) * F.linear(h, self.get(i, "mlp_gate")) if c.gated else F.relu(up).square()
            x = x + F.linear(active, self.get(i, "down"))
        if c.extra:
            x = torch.cat((x[:, : c.extra_begin], x[:, c.extra_begin + c.extra :]), 1)
        x = x[:, : tokens.shape[1]]
        if wanted is not None:
            x = x[wanted]
        return F.linear(norm(x, self.w["final_norm"]), self.w["head"])


def share_of(masked, left):
    return (masked + left - 1) // left


@torch.no_grad()
def denoise(model, tokens, steps, statistics=None):
    """Greedy denoising, highest confidence first (block diffusion: block after block); autoregressive: left to right."""
    c, tokens = model.c, tokens.clone()
    allowed = torch.ones(c.vocabulary, dtype=torch.bool)
    allowed[:SPECIALS] = False
    allowed[EOS] = True

    def run():
        return model(tokens, statistics=statistics).masked_fill(~allowed, -math.inf)

    if c.kind == "autoregressive":
        for p in range(1, tokens.shape[1]):
            if (tokens[:, p] == MASK).any():
                best = run()[:, p - 1].argmax(-1)
                tokens[:, p] = torch.where(tokens[:, p] == MASK, best, tokens[:, p])
        return tokens
    width = c.block if c.kind == "block_diffusion" else tokens.shape[1]
    begins = [b for b in range(0, tokens.shape[1], width) if (tokens[:, b : b + width] == MASK).any()]
    for n, begin in enumerate(begins):
        most = int((tokens[:, begin : begin + width] == MASK).sum(1).max())
        left = min(max(steps // len(begins) + (n < steps % len(begins)), 1), most)
        while (tokens[:, begin : begin + width] == MASK).any():
            confidence, best = run().softmax(-1).max(-1)
            open_ = torch.zeros_like(tokens, dtype=torch.bool)
            open_[:, begin : begin + width] = tokens[:, begin : begin + width] == MASK
            order = torch.sort(confidence.masked_fill(~open_, -1), dim=-1, descending=True, stable=True).indices
            for t in range(len(tokens)):
                chosen = order[t, : share_of(int(open_[t].sum()), left)]
                tokens[t, chosen] = best[t, chosen]
            left = max(1, left - 1)
    return tokens
