"""Writes python.safetensors with the Python package: what that package writes must be read here."""
import pathlib

import numpy as np
from safetensors.numpy import save_file

here = pathlib.Path(__file__).parent
save_file(
    {
        "weights": np.arange(12, dtype=np.float32).reshape(3, 4) / 8 - 0.5,
        "halves": np.array([1.5, -65504, 6e-8, 0.333251953125], dtype=np.float16),
        "nothing": np.zeros((0, 5), dtype=np.float32),
        "\u00e4 name": np.array(2.5, dtype=np.float32),
    },
    here / "python.safetensors",
    metadata={"kind": "masked_diffusion", "text": "two\nlines, \"quotes\" and \u00e4"},
)
