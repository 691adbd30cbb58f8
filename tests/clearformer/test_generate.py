"""Generation: the cache, padding, batches and sources change nothing, and every row ends where it should."""

import inspect
import math

import pytest
import torch
from clearformer.decoding import LanguageModel
from clearformer.generation import beam_search, generate
from clearformer.models.seq2seq import Seq2Seq, Seq2SeqConfig
from torch import nn

from tests.clearformer.devices import DEVICES
from tests.clearformer.models import random_module
from tests.clearformer.writers import EACH, N_POSITIONS, PROMPTS, D, H, M, N, Successor, V, gpt, prompts


@pytest.mark.parametrize("device", DEVICES)
@EACH
def test_greedy_takes_the_likeliest_token_each_time(config, device):
    """Catches logits of the wrong position, and a cache that moves positions."""
    model, rows = gpt(config, device), prompts(device)
    expected = rows
    with torch.no_grad():
        for _ in range(12):
            expected = torch.cat((expected, model(expected)[:, -1:].argmax(-1)), dim=1)
    assert generate(model, rows, 12).equal(expected)
    assert generate(model, rows, 12, cached=False).equal(expected)


@pytest.mark.parametrize("device", DEVICES)
@EACH
@pytest.mark.parametrize("cached", [True, False])
def test_prompts_of_different_lengths_do_not_disturb_each_other(config, cached, device):
    """Catches padding that is looked at, and positions that count it."""
    model = gpt(config, device)
    together = generate(model, PROMPTS, 9, cached=cached)
    for prompt, row in zip(PROMPTS, together, strict=True):
        assert row.equal(generate(model, torch.tensor([prompt], device=device), 9)[0])
        assert row.tolist()[: len(prompt)] == prompt


def test_a_row_ends_with_its_stop_token_and_the_others_go_on():
    """Catches rows that go on after the end, and a loop that does not end with the last row."""
    model, rows = gpt(), prompts()
    free = generate(model, rows, 20)
    stop = int(free[0, N + 2])
    ended = generate(model, rows, 20, stop=stop)
    for row, full in zip(ended, free, strict=True):
        new = full[N:].tolist()
        end = N + (new.index(stop) + 1 if stop in new else len(new))
        assert row[:end].equal(full[:end])
        assert (row[end:] == stop).all()
    trimmed = generate(model, rows.tolist(), 20, stop=stop)
    assert any(len(row) < free.shape[1] for row in trimmed)
    for row, full in zip(trimmed, ended, strict=True):
        new = row[N:].tolist()
        assert row.equal(full[: len(row)])
        assert stop not in new[:-1] and (new[-1] == stop or len(row) == free.shape[1])
    assert generate(model, rows[:1], 20, stop=stop).shape[1] <= N + 3


def test_what_comes_back_may_be_trained_on():
    """Catches a tensor of inference mode, which autograd refuses."""
    model = gpt()
    rows = generate(model, prompts(), 3)
    model(rows).sum().backward()
    assert model.tokens.weight.grad.abs().sum() > 0


def translator():
    return random_module(Seq2Seq(Seq2SeqConfig(V, N_POSITIONS, D, H, M, padding=0))).eval()


def test_a_translator_generates_for_its_sources():
    """Catches sources mixed up between sentences and beams."""
    model = translator()
    source = torch.tensor([[3, 4, 5, 6], [7, 8, 0, 0], [9, 1, 2, 0]])
    start = torch.full((3, 1), 1)
    together = generate(model.conditioned_on(source), start, 6)
    beams, _ = beam_search(model.conditioned_on(source), start, 6, 4)
    for i in range(3):
        alone = model.conditioned_on(source[i : i + 1])
        assert together[i].equal(generate(alone, start[:1], 6)[0])
        assert beams[i].equal(beam_search(alone, start[:1], 6, 4)[0][0])
    assert generate(model.conditioned_on(source), start, 6, cached=False).equal(together)


def test_a_model_of_ones_own_writes():
    """Catches a demand that the protocol does not name."""
    assert [row.tolist() for row in generate(Successor(), [[3], [5, 8]], 4)] == [[3, 4, 5, 6, 7], [5, 8, 9, 10, 0, 1]]
    assert beam_search(Successor(), [[3]], 2, 2)[0][0].tolist() == [3, 4, 5]


WRITERS = {
    "a GPT": gpt,
    "one's own": Successor,
    "a translator": lambda: translator().conditioned_on(torch.ones(1, 1).int()),
}


@pytest.mark.parametrize("make", WRITERS.values(), ids=WRITERS)
def test_what_writes_is_an_instance_of_the_protocol_on_every_python(make):
    """Catches a member that a module registers: ``isinstance`` does not see it from Python 3.12 on, but sees it before.

    Raises AttributeError for a member that only ``__getattr__`` finds.
    """
    members = {*LanguageModel.__annotations__, *(name for name in vars(LanguageModel) if not name.startswith("_"))}
    for name in members:
        inspect.getattr_static(make(), name)
    assert members and isinstance(make(), LanguageModel)


@EACH
def test_under_autocast_the_cache_holds_what_the_layers_compute(config):
    """Catches a cache of float32 for keys of bfloat16; the logits are those of a forward pass under autocast."""
    model = gpt(config).float()
    with torch.autocast("cpu", torch.bfloat16):
        rows = generate(model, PROMPTS, 6)
        beams, _ = beam_search(model, PROMPTS, 6, 3)
        expected = model(rows[2][None, :-1]).argmax(-1)[0, -6:]
        cache = model.new_cache(1, 9)
        assert cache[0].k.dtype == torch.bfloat16
    assert (rows[2][-6:] == expected).sum() >= 5  # one near tie may fall the other way in bfloat16
    assert [len(row) for row in beams] == [len(prompt) + 6 for prompt in PROMPTS]
    with torch.autocast("cpu", torch.bfloat16):
        assert gpt(config).new_cache(1, 9)[0].k.dtype == torch.float64  # which autocast leaves alone


@pytest.mark.parametrize("ids", [PROMPTS, torch.tensor([[1, 2], [3, 4]])], ids=["list", "tensor"])
def test_a_head_may_be_any_module(ids):
    """Catches a look at ``head.weight``, which the protocol does not promise."""
    model = gpt()
    expected = generate(model, ids, 4)
    model.head = nn.Sequential(nn.Identity(), model.head)
    assert all(a.equal(b) for a, b in zip(generate(model, ids, 4), expected, strict=True))


@pytest.mark.parametrize("stop", [[3, 5], (5, 3), torch.tensor([3, 5]).tolist()])
def test_the_first_of_several_stops_ends_a_text(stop):
    """Catches a stop that is not looked for, and a row that is filled with another token than the one that ended it."""
    model, prompts = gpt(), torch.arange(6)[:, None]
    free = generate(model, prompts, 8)
    found = generate(model, prompts, 8, stop=stop)
    lists = generate(model, [[i] for i in range(6)], 8, stop=stop)
    for row, mine, listed in zip(free[:, 1:].tolist(), found[:, 1:].tolist(), lists, strict=True):
        end = next((i for i, token in enumerate(row) if token in (3, 5)), len(row) - 1)
        expected = row[: end + 1]
        assert mine[: end + 1] == expected and set(mine[end + 1 :]) <= {row[end]}
        assert listed[1:].tolist() == expected
    beams, scores = beam_search(model, prompts, 8, 1, stop=stop)
    assert beams[:, : found.shape[1]].equal(found[:, : beams.shape[1]]) and scores.isfinite().all()


def test_a_model_whose_logits_are_nan_writes_nothing():
    """Catches token 0 written for NaN, and a beam whose score is NaN."""
    model = gpt()
    torch.nn.init.constant_(model.decoder.norm.weight, math.nan)
    for write in (lambda: generate(model, [[1]], 3), lambda: beam_search(model, [[1]], 3, 2)):
        with pytest.raises(FloatingPointError, match=r"logits .*NaN after 1\b"):
            write()
