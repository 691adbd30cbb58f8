"""Several documents in one row: little is spent on padding, and no token sees another document than its own."""

from bisect import bisect_left, insort
from collections.abc import Iterable, Sequence

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from clearformer.checks import check_items, check_whole
from clearformer.losses import IGNORED, sum_and_count
from clearformer.shapes import shaped

Rows = Int[Tensor, "B N"]


def pack(
    documents: Iterable[Sequence[int]], n_positions: int, *, counts: Iterable[Sequence[int]] | None = None
) -> tuple[Rows, Rows, Rows]:
    """Rows of ``n_positions`` tokens: the ids to read, the targets, and each token's document, numbered from 1.

    A document of T tokens takes T - 1 places, since its last token is only asked for; a longer one is cut so that each
    of its tokens but the first is a target once. ``counts`` has a number for each token, and one of 0 is no target, as
    in the questions of a conversation. What is left of a row is padding, of document 0, and no target either. The rows
    are for ``packed_total``.

    Source: Ding et al. 2024, best-fit packing.
    Raises: TypeError or ValueError for documents that are no ids, none that has two, or other numbers of ``counts``.
    """
    n_positions = check_whole("pack", "n_positions", n_positions)
    pieces = _pieces(check_items("pack", "documents", documents, "lists of ids"), n_positions, counts)
    rows = _best_fit([len(read) for read, _ in pieces], n_positions)
    packed = torch.zeros(3, len(rows), n_positions, dtype=torch.long)
    packed[1] = IGNORED
    for row, members in enumerate(rows):
        start = 0
        for number, (read, targets) in enumerate((pieces[i] for i in members), start=1):
            place = slice(start, start + len(read))
            packed[0, row, place], packed[1, row, place], packed[2, row, place] = read, targets, number
            start += len(read)
    ids, targets, numbers = packed
    return ids, targets, numbers


def _pieces(documents: list, n_positions: int, counts: Iterable | None) -> list[tuple[Tensor, Tensor]]:
    """What is read and what is asked for, at most ``n_positions`` tokens of each."""
    marks = [None] * len(documents) if counts is None else check_items("pack", "counts", counts, "a list a document")
    if len(marks) != len(documents):
        raise ValueError(f"pack: counts for {len(marks)} of {len(documents)} documents, expected them for each.")
    pieces: list[tuple[Tensor, Tensor]] = []
    for index, (document, marked) in enumerate(zip(documents, marks, strict=True)):
        ids = torch.as_tensor(document)
        counted = torch.ones_like(ids) if marked is None else torch.as_tensor(marked)
        if ids.dim() != 1 or (len(ids) and ids.is_floating_point()) or counted.shape != ids.shape:
            raise ValueError(
                f"pack: document {index} has shape {tuple(ids.shape)} and counts of shape {tuple(counted.shape)}, "
                "expected a row of ids, and a number for each."
            )
        targets = ids[1:].masked_fill(counted[1:] == 0, IGNORED)
        pieces += zip(ids[:-1].split(n_positions), targets.split(n_positions), strict=True)
    pieces = [piece for piece in pieces if len(piece[0])]
    if not pieces:
        raise ValueError(
            f"pack: {len(documents)} documents, expected one of at least two ids, for a token and its next."
        )
    return pieces


def _best_fit(lengths: list[int], room: int) -> list[list[int]]:
    """Which pieces share a row: from the longest on, each goes where the least room is left that is enough."""
    rows: list[list[int]] = []
    left: list[tuple[int, int]] = []  # the room in each row, and the row's number, by room
    for index in sorted(range(len(lengths)), key=lambda i: -lengths[i]):
        place = bisect_left(left, (lengths[index], 0))
        if place == len(left):
            rows.append([])
            left.append((room, len(rows) - 1))
        in_row, row = left.pop(place)
        rows[row].append(index)
        insort(left, (in_row - lengths[index], row))
    return rows


@shaped
def document_mask(documents: Int[Tensor, "B N"]) -> Bool[Tensor, "B 1 N N"]:
    """True where target and source are of the same document, the same for every head."""
    return (documents[:, :, None] == documents[:, None, :])[:, None]


@shaped
def document_positions(documents: Int[Tensor, "B N"]) -> Int[Tensor, "B N"]:
    """The place of each token in its document, counted from 0."""
    places = torch.arange(documents.shape[1], device=documents.device).expand_as(documents)
    begins = documents.diff(dim=1, prepend=documents[:, :1] - 1) != 0
    return places - places.where(begins, 0).cummax(dim=1).values


@shaped
def packed_total(
    model: nn.Module, ids: Int[Tensor, "B N"], targets: Int[Tensor, "B N"], documents: Int[Tensor, "B N"]
) -> tuple[Float[Tensor, ""], Int[Tensor, ""]]:
    """``next_token_total`` of a GPT for rows of ``pack``: each document is read as if it stood alone."""
    logits = model(ids, document_mask(documents), positions=document_positions(documents))
    return sum_and_count(logits, targets)
