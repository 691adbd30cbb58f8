"""The weights of a live transformer as the site ships them: matrices in 8 bits with a scale for each row.

    W[o, i] ≈ s[o] · q[o, i],   q[o, i] = round(W[o, i] / s[o]),   s[o] = max_i |W[o, i]| / 127

A file of safetensors then has a tensor NAME of int8 and beside it NAME.scales; vectors stay in 32 bits. It has half the
bytes of one in 16 bits.
"""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch import Tensor

SCALES = ".scales"
MOST = 127
READ = 256  # tokens, on which the difference is measured


def quantized(weights: "Mapping[str, Tensor]") -> "dict[str, Tensor]":
    """Each matrix as int8 and its scales, all else in float32. A row of zeros stays one."""
    import torch

    shipped = {}
    for name, weight in weights.items():
        weight = weight.float()
        if weight.ndim != 2:
            shipped[name] = weight.contiguous()
            continue
        scales = weight.abs().amax(1) / MOST
        scales = torch.where(scales == 0, torch.ones_like(scales), scales)
        shipped[name] = (weight / scales[:, None]).round().to(torch.int8)
        shipped[name + SCALES] = scales
    return shipped


def restored(shipped: "Mapping[str, Tensor]") -> "dict[str, Tensor]":
    """The weights that a page computes with."""
    names = [name for name in shipped if not name.endswith(SCALES)]
    return {
        name: shipped[name] * shipped[name + SCALES][:, None] if name + SCALES in shipped else shipped[name]
        for name in names
    }


def shipped_file(folder: Path) -> bytes:
    """The file of a model's weights as the site ships it. Raises: FileNotFoundError."""
    from safetensors.torch import load, save

    return save(quantized(load((folder / "model.safetensors").read_bytes())))


@cache
def load_live_model(folder: Path):
    """The model as the page computes it, in the library, and its tokenizer: `load_language_model`, weights restored."""
    from clearbook.language_model import load_language_model

    model, tokenizer = load_language_model(folder)
    model.load_state_dict(restored(quantized(model.state_dict())))
    return model, tokenizer


def largest_difference(folder: Path) -> float:
    """Between the logits of the page and those of the weights as they were trained, on tokens that the model writes."""
    import torch
    from clearbook.language_model import load_language_model
    from clearformer.generation import generate

    exact, _ = load_language_model(folder)
    n_tokens = min(READ, exact.config.n_positions) - 1
    start = torch.tensor([[exact.config.n_vocab - 1]])
    with torch.no_grad():
        ids = generate(exact, start, n_tokens, generator=torch.Generator().manual_seed(0))
        return (load_live_model(folder)[0](ids) - exact(ids)).abs().max().item()
