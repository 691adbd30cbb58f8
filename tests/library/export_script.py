"""Export each model and compare it with the model at other sizes, one line for each: a program of its own.

The shape checks of the test run, which look at sizes, are not part of the library.
"""

import warnings

import torch
from clearformer.models.bert import BERT, BERTConfig
from clearformer.models.gpt import GPT, GPTConfig
from clearformer.models.mae import MAE, MAEConfig
from clearformer.models.seq2seq import Seq2Seq, Seq2SeqConfig
from clearformer.models.vit import ViT, ViTConfig
from clearformer.positions import Rotary
from torch.export import Dim, export

V, POSITIONS, WIDTHS = 37, 32, (24, 4, 2)  # model width, heads, layers
BATCH, TARGETS, SOURCES = Dim("batch", max=64), Dim("targets", max=POSITIONS), Dim("sources", max=POSITIONS)


def ids(batch, n_tokens):
    return torch.randint(0, V, (batch, n_tokens))


def images(batch, *_):
    return torch.randn(batch, 2, 12, 12)


CASES = {
    "GPT": (lambda: GPT(GPTConfig(V, POSITIONS, *WIDTHS)), [(ids, {0: BATCH, 1: TARGETS})]),
    "GPT with rotary positions and shared keys": (
        lambda: GPT(GPTConfig(V, POSITIONS, *WIDTHS, n_kv_heads=2, rope=Rotary)),
        [(ids, {0: BATCH, 1: TARGETS})],
    ),
    "BERT": (lambda: BERT(BERTConfig(V, POSITIONS, *WIDTHS)), [(ids, {0: BATCH, 1: TARGETS})]),
    "ViT": (lambda: ViT(ViTConfig(12, 4, 2, 3, *WIDTHS)), [(images, {0: BATCH})]),
    "MAE": (
        lambda: MAE(MAEConfig(12, 4, 2, *WIDTHS, 20, 5, 1)),
        [(images, {0: BATCH}), (lambda batch, *_: torch.rand(batch, 9), {0: BATCH})],
    ),
    "Seq2Seq": (
        lambda: Seq2Seq(Seq2SeqConfig(V, POSITIONS, *WIDTHS, padding=0)),
        [(lambda b, n: ids(b, n + 3), {0: BATCH, 1: SOURCES}), (ids, {0: BATCH, 1: TARGETS})],
    ),
}


def compared(name: str) -> str:
    """A line that says what came of it; whatever fails for one model stops no other."""
    try:
        _compare(name)
    except Exception as error:
        return f"{name}: {type(error).__name__}: {str(error)[:500]}"
    return f"{name}: exported and equal"


def _compare(name: str) -> None:
    build, parts = CASES[name]
    model = build().eval()
    example = tuple(make(3, 5) for make, _ in parts)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exported = export(model, example, dynamic_shapes=[sizes for _, sizes in parts], strict=False).module()
    for sizes in ((1, 1), (7, 9), (2, 29)):
        inputs = [make(*sizes) for make, _ in parts]
        torch.testing.assert_close(exported(*inputs), model(*inputs))


if __name__ == "__main__":
    for name in CASES:
        print(compared(name), flush=True)
