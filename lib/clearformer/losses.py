"""How surprised a language model is at a text: the loss that it learns by, and the bits of every token."""

import math

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor, nn

from clearformer.checks import check_whole
from clearformer.shapes import extremes, shaped

IGNORED = -100  # a target that does not count, as in PyTorch


@shaped
def next_token_loss(model: nn.Module, ids: Int[Tensor, "B N"], targets: Int[Tensor, "B N"]) -> Float[Tensor, ""]:
    r"""The mean surprise at what came next, in nats a token.

    .. math:: -\frac{1}{B N} \sum_{b, n} \log p(w_{b, n+1} \mid w_{b, 1:n})

    A target of -100 does not count.

    Source: turner-v2, section 4.1.
    """
    logits = model(ids).flatten(0, 1)
    _check_targets(targets, logits.shape[1])
    return F.cross_entropy(logits, targets.flatten().long())


@shaped
def next_token_total(
    model: nn.Module, ids: Int[Tensor, "B N"], targets: Int[Tensor, "B N"]
) -> tuple[Float[Tensor, ""], Int[Tensor, ""]]:
    """The sum whose mean ``next_token_loss`` is, and how many targets it counts: for ``train``, where rows of unequal
    length end in targets of -100 and would else weigh more in a small part of a batch than in a large one.
    """
    return sum_and_count(model(ids), targets)


def sum_and_count(
    logits: Float[Tensor, "B N V"], targets: Int[Tensor, "B N"]
) -> tuple[Float[Tensor, ""], Int[Tensor, ""]]:
    """The surprise at all targets but those of -100, in nats, and how many they are."""
    _check_targets(targets, logits.shape[2])
    targets = targets.flatten().long()
    total = F.cross_entropy(logits.flatten(0, 1), targets, ignore_index=IGNORED, reduction="sum")
    return total, (targets != IGNORED).sum()


def _check_targets(targets: Tensor, n_vocab: int) -> None:
    low, high = extremes(targets.masked_fill(targets == IGNORED, 0)) or (0, 0)
    if low < 0 or high >= n_vocab:
        raise ValueError(
            f"next_token_loss: target {low if low < 0 else high} is outside the vocabulary, expected 0 to "
            f"{n_vocab - 1}, or {IGNORED} for what does not count."
        )


@torch.no_grad()
@shaped
def surprisal(
    model: nn.Module, ids: Int[Tensor, "T"], *, stride: int | None = None, batch: int = 32
) -> Float[Tensor, "T-1"]:
    """-log2 p of every token of ``ids`` but the first, given the tokens before it, in bits.

    Windows of ``n_positions`` tokens move on by ``stride``, half of it unless given. A token counts in the first
    window that reaches it, so beyond that window it is predicted from at least ``n_positions - stride`` tokens.

    Cost: a forward pass of about ``len(ids) * n_positions / stride`` tokens.
    Raises: ValueError for fewer than two ids, or a stride that is not from 1 to ``n_positions``.
    """
    n_positions = model.config.n_positions
    length, batch = min(n_positions, len(ids) - 1), check_whole("surprisal", "batch", batch)
    stride = max(n_positions // 2, 1) if stride is None else check_whole("surprisal", "stride", stride)
    if length < 1 or stride > n_positions:
        raise ValueError(
            f"surprisal: {len(ids)} ids with stride={stride}, expected at least 2 ids and a stride from 1 to "
            f"n_positions={n_positions}, else tokens would be left out."
        )
    last = len(ids) - 1 - length
    starts = torch.tensor([*range(0, last, stride), last])
    rows = starts[:, None] + torch.arange(length)
    dtype = torch.promote_types(next(model.parameters()).dtype, torch.float32)
    bits = ids.new_zeros(len(ids) - 1, dtype=dtype)
    for part in rows.flip(0).split(batch):  # from the end, so that earlier windows have the last word
        log_p = model(ids[part]).log_softmax(-1, dtype=dtype).gather(2, ids[part + 1][..., None])[..., 0]
        for row, values in zip(part, log_p, strict=True):
            bits[row[0] :][: len(row)] = values
    return -bits / math.log(2)
