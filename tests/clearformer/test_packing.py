"""Several documents in one row: each is read as if it stood alone, every token is a target once, little is padding."""

import inspect
from functools import partial
from itertools import pairwise

import pytest
import torch
from clearformer.losses import IGNORED, next_token_total
from clearformer.models.gpt import GPT, GPTConfig
from clearformer.packing import document_mask, document_positions, pack, packed_total
from clearformer.positions import Rotary
from clearformer.training import TrainConfig, train
from inline_snapshot import snapshot

from tests.clearformer.models import random_module
from tests.clearformer.refusals import refusal

V, N = 13, 12
KINDS = {
    "learned positions": {},
    "rotary": {"rope": Rotary, "n_kv_heads": 2},
    "a window": {"rope": partial(Rotary, base=50.0), "window": 3},
}


def some_documents(lengths=(5, 9, 2, 3, 7, 4, 6)):
    return [torch.randint(V, (length,)).tolist() for length in lengths]


@pytest.mark.parametrize("kind", KINDS)
def test_each_document_is_read_as_if_it_stood_alone(kind):
    """Catches a look at the document before, positions that go on counting, and targets across a border."""
    documents, model = some_documents(), random_module(GPT(GPTConfig(V, N, 24, 4, 2, **KINDS[kind])))
    ids, targets, numbers = pack(documents, N)
    logits = model(ids, document_mask(numbers), positions=document_positions(numbers))
    expected = {tuple(document[:-1]): model(torch.tensor([document[:-1]]))[0] for document in documents}
    for row, number in {(r, int(d)) for r in range(len(ids)) for d in numbers[r] if d}:
        mine = numbers[row] == number
        torch.testing.assert_close(logits[row, mine], expected.pop(tuple(ids[row, mine].tolist())), rtol=0, atol=1e-10)
    assert not expected
    alone = [next_token_total(model, torch.tensor([d[:-1]]), torch.tensor([d[1:]])) for d in documents]
    total, count = packed_total(model, ids, targets, numbers)
    assert int(count) == sum(int(n) for _, n in alone)
    torch.testing.assert_close(total, sum(value for value, _ in alone), rtol=0, atol=1e-9)


@pytest.mark.parametrize("lengths", [(2,), (N + 1,), (N + 2, 3), (3 * N + 5, 2, 1, 7), (1, 4) * 9])
def test_every_token_but_the_first_is_a_target_once(lengths):
    """Catches a token that is lost at a cut, and padding that counts."""
    documents = some_documents(lengths)
    ids, targets, numbers = pack(documents, N)
    assert sorted(targets[targets != IGNORED].tolist()) == sorted(i for d in documents for i in d[1:])
    assert torch.equal(numbers > 0, targets != IGNORED) and not ids[numbers == 0].any()
    pairs = {(int(a), int(b)) for a, b in zip(ids[numbers > 0], targets[numbers > 0], strict=True)}
    assert pairs == {pair for d in documents for pair in pairwise(d)}


def test_rows_are_as_few_as_the_lengths_allow():
    """Catches rows that are closed while a document would still fit."""
    ids, _, numbers = pack([[1] * (length + 1) for length in (4, 8, 6, 6, 3, 9)], 12)
    assert len(ids) == 3 and (numbers > 0).all()
    assert [row.unique().tolist() for row in numbers] == [[1, 2]] * 3


def test_places_are_counted_from_each_beginning():
    numbers = torch.tensor([[1, 1, 2, 3, 3, 3, 0, 0], [2, 2, 2, 2, 1, 1, 1, 1]])
    assert document_positions(numbers).tolist() == [[0, 1, 0, 0, 1, 2, 0, 1], [0, 1, 2, 3] * 2]
    assert document_mask(numbers)[0, 0, 4].tolist() == [False] * 3 + [True] * 3 + [False] * 2


def test_what_does_not_count_is_read_and_no_target():
    """Catches marks that are not shifted with their tokens."""
    ids, targets, _ = pack([[7, 8, 9, 10, 11]], N, counts=[[0, 0, 1, 0, 1]])
    assert ids[0, :4].tolist() == [7, 8, 9, 10]
    assert targets[0, :5].tolist() == [IGNORED, 9, IGNORED, 11, IGNORED]


def test_packed_rows_train_in_parts_of_a_batch_as_in_one():
    """Catches a row with few tokens that weighs as much as a full one."""
    rows = pack(some_documents((11, 2, 12, 3, 2, 7)), N)
    rows = tuple(tensor.repeat(4, 1)[:8] for tensor in rows)
    found = []
    for size, parts in ((8, 1), (2, 4)):
        torch.manual_seed(0)
        model = GPT(GPTConfig(V, N, 24, 4, 1)).double()
        config = TrainConfig(4, size, grad_accum_steps=parts)
        found.append(train(model, packed_total, [rows], config, progress=False).losses)
    assert found[0] == pytest.approx(found[1], abs=1e-6) and found[0][-1] < found[0][0]


def test_bad_documents_are_named():
    plain = inspect.unwrap(pack)  # without the checks of types that the tests add
    assert refusal(ValueError, plain, [[1], []], 4) == snapshot(
        "pack: 2 documents, expected one of at least two ids, for a token and its next."
    )
    assert refusal(ValueError, plain, [[1, 2], [[1, 2]]], 4) == snapshot(
        "pack: document 1 has shape (1, 2) and counts of shape (1, 2), expected a row of ids, and a number for each."
    )
    assert refusal(ValueError, plain, [[1.5, 2.5]], 4) == snapshot(
        "pack: document 0 has shape (2,) and counts of shape (2,), expected a row of ids, and a number for each."
    )
    assert refusal(ValueError, plain, [[1, 2]], 4, counts=[[1]]) == snapshot(
        "pack: document 0 has shape (2,) and counts of shape (1,), expected a row of ids, and a number for each."
    )
    assert refusal(ValueError, plain, [[1, 2]], 4, counts=[]) == snapshot(
        "pack: counts for 0 of 1 documents, expected them for each."
    )
    assert refusal(ValueError, plain, [[1, 2]], 0) == snapshot(
        "pack: n_positions=0, expected a whole number of at least 1."
    )
    assert refusal(TypeError, plain, "some text", 4) == snapshot(
        "pack: documents='some text' is of type str, expected lists of ids."
    )
