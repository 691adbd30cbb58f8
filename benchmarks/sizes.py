"""The sizes that are measured, and what a run may change about them."""

from dataclasses import dataclass

N_VOCAB = 256


@dataclass(frozen=True)
class Size:
    """A GPT and its training batch; the hidden layer is 4 times as wide as the model."""

    name: str
    n_layers: int
    d_model: int
    n_heads: int
    n_tokens: int
    batch: int


TINY = Size("tiny", 4, 128, 4, 128, 16)
SMALL = Size("small", 6, 384, 6, 256, 8)


@dataclass(frozen=True)
class Options:
    """``rounds`` counts how often every candidate runs; in a round it is called until ``least`` seconds are over.

    ``gpt2`` asks for generation in GPT-2's 124 million parameters too; ``attention`` and ``backward`` are numbers of
    tokens.
    """

    rounds: int = 9
    least: float = 0.2
    sizes: tuple[Size, ...] = (TINY, SMALL)
    n_new: int = 128
    gpt2: bool = True
    attention: tuple[int, ...] = (128, 256, 512, 1024, 2048, 4096, 8192)
    backward: tuple[int, ...] = (256, 512, 1024, 2048)
