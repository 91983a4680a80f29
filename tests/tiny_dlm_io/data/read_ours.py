"""Reads ours.safetensors, which basin's example wrote, with the Python package."""
import sys

import numpy as np
from safetensors import safe_open
from safetensors.numpy import load_file

arrays = load_file(sys.argv[1])
assert sorted(arrays) == ["a", "b", "nothing", "one"], sorted(arrays)
expected = np.array([[0.5, -1.0, 0.1], [3.0, 1e-30, -0.0]], dtype=np.float32)
assert arrays["a"].dtype == np.float32 and arrays["a"].tobytes() == expected.tobytes(), arrays["a"]
assert arrays["b"].dtype == np.float16 and arrays["b"].tolist() == [1.5, -65504.0, 2.0**-24]
assert arrays["nothing"].shape == (0, 2) and arrays["one"].shape == () and arrays["one"] == 7
with safe_open(sys.argv[1], "np") as file:
    assert file.metadata() == {"kind": "block_diffusion", "text": "tab\t, quote \" and \u00e4"}, file.metadata()
print("read by Python")
