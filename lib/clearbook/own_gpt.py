"""The GPT that a reader types in chapter 9, written to a folder that the live page opens."""

from pathlib import Path
from typing import Any

import torch
from clearformer.models.gpt import GPT, GPTConfig
from clearformer.tokenizers import BytePairTokenizer, CharTokenizer
from safetensors.torch import save_file
from torch import nn

from clearbook.language_model import save_language_model

OWN_WEIGHTS = "gpt.safetensors"
N_POSITIONS = 64  # the length of the rows that it is trained on
NORMS = {"attention_norm": "norm_1", "feed_forward_norm": "norm_2"}


def as_library_gpt(own: Any, n_positions: int = N_POSITIONS) -> GPT:
    """The library's GPT with the weights of ``own``, a GPT of chapters/gpt.py; its positions are the sinusoids.

    Raises: ValueError if ``own`` knows fewer positions.
    """
    waves = own.embed.waves
    if n_positions > len(waves):
        raise ValueError(f"as_library_gpt: n_positions={n_positions}, but the model has only {len(waves)} positions.")
    V, D = own.embed.table.weight.shape
    n_heads = own.blocks[0].attention.n_heads
    library = GPT(GPTConfig(V, n_positions, D, n_heads, len(own.blocks), tied=False))
    found = {
        "tokens.weight": own.embed.table.weight,
        "positions.weight": waves[:n_positions],
        "head.weight": own.head.weight,
    }
    found |= _named("decoder.norm", own.norm)
    for m, block in enumerate(own.blocks):
        found |= _of_block(f"decoder.blocks.{m}", block)
    library.load_state_dict({name: weight.detach().cpu() for name, weight in found.items()})
    return library.eval()


def save_for_the_page(own: Any, tokenizer: BytePairTokenizer | CharTokenizer, folder: str | Path) -> None:
    """Write the two files that the live page reads, and the weights under the reader's own names, in half precision.

    Raises: ValueError for sizes that do not fit; OSError if the disk takes no more.
    """
    save_language_model(as_library_gpt(own), tokenizer, folder)
    halves = {name: weight.half().cpu().contiguous() for name, weight in own.state_dict().items()}
    save_file(halves, Path(folder) / OWN_WEIGHTS)


def _named(name: str, layer: nn.Module) -> dict[str, torch.Tensor]:
    return {f"{name}.{kind}": weight for kind, weight in layer.state_dict().items()}


def _of_block(name: str, block: Any) -> dict[str, torch.Tensor]:
    attention, feed_forward = block.attention, block.feed_forward
    maps = attention.query, attention.key, attention.value
    found = {
        f"{name}.attention.qkv.{kind}": torch.cat([getattr(one, kind) for one in maps]) for kind in ("weight", "bias")
    }
    found |= _named(f"{name}.attention.out", attention.out)
    for part in ("up", "down"):
        found |= _named(f"{name}.feed_forward.{part}", getattr(feed_forward, part))
    for theirs, own in NORMS.items():
        found |= _named(f"{name}.{theirs}", getattr(block, own))
    return found
