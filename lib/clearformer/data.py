"""Real data that needs no download: it comes with Python or with a library."""

import ast
import codecs
import importlib.util
from pathlib import Path

import torch
from jaxtyping import Float, Int
from torch import Tensor


def zen_text() -> str:
    """The Zen of Python by Tim Peters, as the standard library holds it: 21 lines, the same in every version."""
    source = Path(importlib.util.find_spec("this").origin).read_text(encoding="utf-8")
    scrambled = next(
        node.value.value
        for node in ast.parse(source).body
        if isinstance(node, ast.Assign) and node.targets[0].id == "s"
    )
    return codecs.decode(scrambled, "rot13")


def digits() -> tuple[Float[Tensor, "B 1 8 8"], Int[Tensor, "B"]]:
    """1,797 handwritten digits of 8 × 8 pixels, grey values from 0 to 1, with their labels 0 to 9.

    Source: UCI "Optical recognition of handwritten digits", as scikit-learn ships it.
    """
    from sklearn.datasets import load_digits

    bunch = load_digits()
    images = torch.as_tensor(bunch.images / 16.0, dtype=torch.float32)[:, None]
    return images, torch.as_tensor(bunch.target)
