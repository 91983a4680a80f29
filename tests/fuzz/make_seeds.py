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
