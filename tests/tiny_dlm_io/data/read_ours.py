"""Reads with the Python package safetensors what basin's example wrote: ours.safetensors and every committed checkpoint.

    python3 tests/tiny_dlm_io/data/read_ours.py

BASIN_TEST_PYTHON names another Python that has the package. Exit code 77: there is none."""
import os
import pathlib
import sys

try:
    import numpy as np
    from safetensors import safe_open
    from safetensors.numpy import load_file
except ImportError as missing:
    other = os.environ.pop("BASIN_TEST_PYTHON", None)
    if other:
        os.execvp(other, [other, *sys.argv])
    print(f"skipped: {sys.executable} cannot read safetensors ({missing}); BASIN_TEST_PYTHON names a Python that can")
    sys.exit(77)

here = pathlib.Path(__file__).resolve().parent
ours, weights = here / "ours.safetensors", here.parents[2] / "examples/tiny_dlm/weights"

arrays = load_file(ours)
assert sorted(arrays) == ["a", "b", "nothing", "one"], sorted(arrays)
expected = np.array([[0.5, -1.0, 0.1], [3.0, 1e-30, -0.0]], dtype=np.float32)
assert arrays["a"].dtype == np.float32 and arrays["a"].tobytes() == expected.tobytes(), arrays["a"]
assert arrays["b"].dtype == np.float16 and arrays["b"].tolist() == [1.5, -65504.0, 2.0**-24]
assert arrays["nothing"].shape == (0, 2) and arrays["one"].shape == () and arrays["one"] == 7
with safe_open(ours, "np") as file:
    assert file.metadata() == {"kind": "block_diffusion", "text": "tab\t, quote \" and \u00e4"}, file.metadata()

checkpoints = sorted(weights.glob("*.safetensors"))
for path in checkpoints:
    arrays = load_file(path)
    with safe_open(path, "np") as file:
        facts = file.metadata()
    layers, width, hidden, words = (int(facts[k]) for k in ("layers", "width", "hidden", "vocabulary"))
    shapes = {"embedding": (words, width), "head": (words, width), "final_norm": (width,)}
    for i in range(layers):
        p = f"layers.{i}."
        shapes |= {p + "attention_norm": (width,), p + "mlp_norm": (width,), p + "query": (width, width), p + "output": (width, width),
                   p + "up": (hidden, width), p + "down": (width, hidden)}
    for name, shape in shapes.items():
        assert arrays[name].shape == shape, (path, name, arrays[name].shape)
    for name, array in arrays.items():
        assert array.dtype == np.float16 and np.isfinite(array).all(), (path, name)
        assert array.any() or name.endswith("sink_logit"), (path, name, "is all zeros")
    assert len(facts["tokenizer.vocabulary"].split(" ")) == words, path
assert len(checkpoints) >= 16, weights
print(f"read by Python: {ours.name} and {len(checkpoints)} checkpoints")
