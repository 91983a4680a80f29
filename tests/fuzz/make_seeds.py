"""Writes seeds/: good and bad checkpoints from which the fuzzer starts, and which the ordinary tests replay."""
import json
import pathlib
import struct

here = pathlib.Path(__file__).parent / "seeds"
here.mkdir(exist_ok=True)


def entry(kind="F32", shape=(2,), begin=0, end=8):
    return {"dtype": kind, "shape": list(shape), "data_offsets": [begin, end]}


def write(name, header, data=b"\0" * 8, size=None):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    (here / name).write_bytes(struct.pack("<Q", len(text) if size is None else size) + text + data)


vocabulary = "[MASK] [EOS] [SINK] [UNK] a \\x20 \\x0a"
write("good", {"__metadata__": {"tokenizer.unit": "characters", "tokenizer.vocabulary": vocabulary, "x": "\u00e4\n"},
               "a": entry(), "b": entry("F16", (2, 3), 8, 20), "none": entry("F32", (0, 4), 20, 20)}, bytes(range(20)))
write("empty_object", {}, b"")
write("scalar", {"a": entry("F32", (), 0, 4)}, b"\0\0\x80\x3f")
write("unicode", b'{"__metadata__":{"\\u00e4\\ud83d\\ude00\\t":"\\\\"},"\xc3\xa4":{"dtype":"F16","shape":[4],"data_offsets":[0,8]}}')
write("not_finite", {"a": entry("F16", (4,), 0, 8)}, struct.pack("<4H", 0x7c00, 0xfc00, 0x7e00, 0x8000))
(here / "short").write_bytes(b"\1\2\3")
write("truncated_header", {"a": entry()}, b"", 4096)
write("truncated_data", {"a": entry()}, b"\0" * 4)
write("too_much_data", {"a": entry()}, b"\0" * 12)
write("overlap", {"a": entry(), "b": entry("F32", (2,), 4, 12)}, b"\0" * 12)
write("gap", {"a": entry(), "b": entry("F32", (1,), 12, 16)}, b"\0" * 16)
write("huge_shape", {"a": entry("F32", (2**62, 2**62), 0, 8)})
write("wrong_type", {"a": entry("I64", (1,), 0, 8)})
write("twice", b'{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}')
write("deep", b'{"a":' + b"[" * 3000, b"")
write("vocabulary_twice", {"__metadata__": {"tokenizer.unit": "words", "tokenizer.vocabulary": "[MASK] [EOS] [SINK] [UNK] a a"}}, b"")


def model(name, drop=(), **other):
    """A whole checkpoint, as small as can be."""
    c = dict(kind="masked_diffusion", layers=1, width=2, heads=1, key_value_heads=1, hidden=1, gated=0, vocabulary=6, length=2, mask_token=0,
             rope_base=100, block=1, sinks="none", sink_count=1, sink_place="front")
    kind = other.pop("dtype", "F32")
    c.update({k: v for k, v in other.items() if k in c})
    w, v = c["width"], c["vocabulary"]
    shapes = {"embedding": (v, w)}
    if c["sinks"] in ("token", "registers"):
        shapes["extra_tokens"] = (c["sink_count"], w)
    for i in range(c["layers"]):
        per_layer = dict(attention_norm=(w,), query=(w, w), key=(w, w), value=(w, w), output=(w, w), mlp_norm=(w,), up=(c["hidden"], w), down=(w, c["hidden"]))
        if c["gated"]:
            per_layer["mlp_gate"] = (c["hidden"], w)
        if c["sinks"] == "gate":
            per_layer["output_gate"] = (w, w)
        if c["sinks"] == "logit":
            per_layer["sink_logit"] = (c["heads"],)
        if c["sinks"] == "zero_value":
            per_layer["sink_key"] = (c["key_value_heads"], c["sink_count"], w // c["heads"])
        shapes.update({f"layers.{i}.{k}": s for k, s in per_layer.items()})
    shapes.update(final_norm=(w,), head=(v, w))
    c.update(other.pop("claims", {}))  # what the header says and the tensors are not
    header, data = {"__metadata__": {k: str(x) for k, x in c.items()} | {"tokenizer.unit": "characters", "tokenizer.vocabulary": "[MASK] [EOS] [SINK] [UNK] a b"}}, b""
    for tensor, shape in shapes.items():
        if tensor in drop:
            continue
        count = 1
        for n in shape:
            count *= n
        numbers = [((7 * i + len(tensor)) % 11 - 5) / 4 for i in range(count)]
        begin = len(data)
        data += struct.pack(f"<{count}{'f' if kind == 'F32' else 'e'}", *numbers)
        header[tensor] = entry(kind, shape, begin, len(data))
    write(name, json.dumps(header, separators=(",", ":")).encode(), data)


model("model")
model("model_float16", dtype="F16", gated=1)
model("model_block", kind="block_diffusion", length=4, block=2, sinks="logit")
model("model_twin", kind="autoregressive", sinks="token", sink_count=2, sink_place="end")
model("model_registers", sinks="registers", sink_place="middle", length=3)
model("model_gate", sinks="gate", dtype="F16")
model("model_zero_value", sinks="zero_value", heads=1)
model("model_no_tensor", drop=("layers.0.down",))
model("model_too_large", claims=dict(layers=64, width=1024))  # gigabytes, if it were believed
model("model_too_long", claims=dict(length=65536))
model("model_other_words", claims=dict(vocabulary=7))
(here / "model_alone").write_bytes((lambda text: struct.pack("<Q", len(text)) + text)(json.dumps({"__metadata__": {
    "kind": "masked_diffusion", "layers": "64", "width": "1024", "heads": "4", "key_value_heads": "4", "hidden": "1024", "gated": "0", "vocabulary": "4",
    "length": "64", "mask_token": "0", "rope_base": "100", "block": "16", "sinks": "none", "sink_count": "1", "sink_place": "front",
    "tokenizer.unit": "words", "tokenizer.vocabulary": "[MASK] [EOS] [SINK] [UNK]"}}).encode()))
