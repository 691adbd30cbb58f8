"""The operations of the page, done to the library's own model: other weights in a head, another column."""

import math
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import cache

import torch
from clearformer.attention import attend
from torch import Tensor

from tools.extension.live_weights import load_live_model
from tools.play.operate_on_it import MODEL

Heads = dict[tuple[int, int], Callable[[Tensor], Tensor]]  # layer and head -> the weights N N instead of its own
LAYERS, HEADS = 4, 4
KINDS: dict[str, Callable[[Tensor], Tensor]] = {
    "off": torch.zeros_like,
    "even": lambda weights: (even := torch.ones_like(weights).tril()) / even.sum(-1, keepdim=True),
    "first": lambda weights: torch.eye(len(weights))[[0] * len(weights)],
    "previous": lambda weights: torch.eye(len(weights))[[0, *range(len(weights) - 1)]],
}


@cache
def patient():
    return load_live_model(MODEL)


def ids_of(text: str) -> Tensor:
    _, tokenizer = patient()
    return torch.tensor([[tokenizer.n_vocab, *tokenizer.encode(text)]])


def painted(n: int, parts: list[int]) -> Callable[[Tensor], Tensor]:
    """The head's own weights but for row n, which is shared out by parts."""

    def paint(weights: Tensor) -> Tensor:
        row = torch.zeros(len(weights))
        row[: len(parts)] = torch.tensor(parts) / sum(parts)
        return weights.index_copy(0, torch.tensor([n]), row[None])

    return paint


@contextmanager
def changed(heads: Heads) -> Iterator[None]:
    """While it lasts the model's heads look as they are told."""
    layers = [block.attention for block in patient()[0].decoder.blocks]
    before = [layer.attend for layer in layers]

    def operated(m: int):
        def look(q, k, v, mask=None, **options):
            _, weights = attend(q, k, v, mask, **options)
            weights = weights.clone()
            for (layer, head), change in heads.items():
                if layer == m:
                    weights[0, head] = change(weights[0, head])
            return weights @ v, weights

        return look

    try:
        for m, layer in enumerate(layers):
            layer.attend = operated(m)
        yield
    finally:
        for layer, own in zip(layers, before, strict=True):
            layer.attend = own


@contextmanager
def at_depths(change: Callable[[int, Tensor], Tensor]) -> Iterator[None]:
    """`change` gets the stream before layer m, and behind the last one, and gives it back."""
    decoder = patient()[0].decoder
    with ExitStack() as hooks:
        for m, part in enumerate([*decoder.blocks, decoder.norm]):

            def enter(module, inputs, m=m):
                return (change(m, inputs[0]), *inputs[1:])

            hooks.callback(part.register_forward_pre_hook(enter).remove)
        yield


@torch.no_grad()
def log_probabilities(text: str, heads: Heads | None = None) -> Tensor:
    """Of every next token, in bits, N V."""
    with changed(heads or {}):
        return patient()[0](ids_of(text))[0].log_softmax(-1) / math.log(2)


def bits(text: str, heads: Heads | None = None) -> Tensor:
    ids = ids_of(text)[0]
    return -log_probabilities(text, heads)[:-1].gather(1, ids[1:, None])[:, 0]


def she_and_he(text: str, heads: Heads | None = None) -> tuple[float, float]:
    """Their probabilities in place of the text's last token."""
    p = log_probabilities(text, heads)[-2].exp2()
    return p[id_of(" she")].item(), p[id_of(" he")].item()


def id_of(word: str) -> int:
    return patient()[1].encode(word)[0]


@torch.no_grad()
def streams(text: str) -> list[Tensor]:
    """N D at every depth, the embedding first."""
    found: list[Tensor] = []

    def note(m: int, x: Tensor) -> Tensor:
        found.append(x[0].clone())
        return x

    with at_depths(note):
        patient()[0](ids_of(text))
    return found


@torch.no_grad()
def transplanted(text: str, donor: str, m: int, n: int) -> tuple[float, float]:
    """she and he in place of the last token, when the column of token n at depth m comes from the donor."""
    column = streams(donor)[m][n]

    def exchange(depth: int, x: Tensor) -> Tensor:
        return x.index_copy(1, torch.tensor([n]), column[None, None]) if depth == m else x

    with at_depths(exchange):
        p = patient()[0](ids_of(text))[0, -2].softmax(-1)
    return p[id_of(" she")].item(), p[id_of(" he")].item()
