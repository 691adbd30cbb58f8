"""5,000 handwritten digits of MNIST, packed beside this file."""

from pathlib import Path

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

PACKED = Path(__file__).with_name(
    "mnist.zip"
)  # its README.txt says where the digits come from, and under which licence
N_HELD_OUT = 1000

Digits = tuple[Float[Tensor, "B 1 28 28"], Int[Tensor, "B"]]


def mnist() -> Digits:
    """The digits of 28 × 28 pixels, 500 of each, grey values from 0 (paper) to 1 (ink), with their labels 0 to 9."""
    with np.load(PACKED) as packed:
        images, labels = packed["images"], packed["labels"]
    return torch.as_tensor(images / 255, dtype=torch.float32)[:, None], torch.as_tensor(labels, dtype=torch.int64)


def mnist_split() -> tuple[Digits, Digits]:
    """4,000 of the digits to learn from, in a mixed order, and 1,000 to test on; always the same ones."""
    images, labels = mnist()
    mixed = torch.randperm(len(images), generator=torch.Generator().manual_seed(0))
    learned, held_out = mixed[:-N_HELD_OUT], mixed[-N_HELD_OUT:]
    return (images[learned], labels[learned]), (images[held_out], labels[held_out])
