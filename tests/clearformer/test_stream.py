"""Tokens as they are chosen, and a function of one's own that changes the logits before."""

import inspect
import math

import numpy as np
import pytest
import torch
from clearformer.generation import generate, stream_tokens
from clearformer.sampling import keep_min_p, penalise_repetition

from tests.clearformer.devices import DEVICES
from tests.clearformer.writers import EACH, PROMPTS, N, Successor, V, gpt, prompts, seeded_rng


@pytest.mark.parametrize("device", DEVICES)
@EACH
@pytest.mark.parametrize("settings", [{}, {"stop": [2, 3]}, {"temperature": 1.0, "top_k": 5}])
def test_a_stream_is_what_is_generated(config, settings, device):
    """Catches a token that comes late or twice, rows that are mixed up, and a loop of its own."""
    model, rows = gpt(config, device), prompts(device)
    expected = generate(model, rows, 12, generator=seeded_rng(device=device), **settings)[:, N:]
    came = list(stream_tokens(model, rows, 12, generator=seeded_rng(device=device), **settings))
    assert torch.stack(came, 1).equal(expected)


def test_a_token_is_computed_when_it_is_asked_for(monkeypatch):
    """Catches a text that is written whole before the first token is handed out."""
    model, read = gpt(), []
    hidden_states = model.hidden_states
    monkeypatch.setattr(model, "hidden_states", lambda *it, **named: read.append(1) or hidden_states(*it, **named))
    tokens = stream_tokens(model, PROMPTS, 9)
    assert len(read) == 0
    assert next(tokens).shape == (len(PROMPTS),) and len(read) == 1
    next(tokens)
    assert len(read) == 2


def test_whoever_reads_a_stream_is_not_in_inference_mode():
    """Catches a mode that a generator leaves on between two tokens, and tokens that autograd refuses."""
    model = gpt()
    for token in stream_tokens(model, prompts(), 2):
        assert not torch.is_inference_mode_enabled()
        model(token[:, None]).sum().backward()
    assert model.tokens.weight.grad.abs().sum() > 0


def test_a_stream_refuses_at_once_and_in_its_own_name():
    """Catches a generator that looks at its arguments only when the first token is asked for."""
    for settings, message in (
        ({"temperature": -1}, "stream_tokens: temperature=-1"),
        ({"stop": V}, f"stream_tokens: stop={V}"),
    ):
        with pytest.raises(ValueError, match=message):
            inspect.unwrap(stream_tokens)(gpt(), [[1]], 2, **settings)


def test_a_stream_that_is_nan_says_so():
    model = gpt()
    torch.nn.init.constant_(model.decoder.norm.weight, math.nan)
    with pytest.raises(FloatingPointError, match=r"stream_tokens: the model's logits are NaN"):
        next(stream_tokens(model, [[1]], 3))


@pytest.mark.parametrize("stop", [{3, 5}, np.array([3, 5]), torch.tensor([3, 5]), (np.int64(5), 3), range(3, 6, 2)])
def test_stops_come_in_any_collection(stop):
    """Catches a collection that is taken for a single number."""
    model, rows = gpt(), prompts()
    found = inspect.unwrap(generate)(model, rows, 9, stop=stop)  # without the check that the tests add
    assert found.equal(generate(model, rows, 9, stop=[3, 5]))


@pytest.mark.parametrize("stop", [np.int64(5), torch.tensor(5), np.array(5)])
def test_a_single_stop_may_be_a_number_of_numpy_or_torch(stop):
    assert inspect.unwrap(generate)(Successor(), [[3]], 9, stop=stop)[0].tolist() == [3, 4, 5]


@pytest.mark.parametrize(
    "stop", [{0.5}, torch.tensor([[1]]), np.array([1.0]), b"ab", {"end"}, [None], {1: 2.0, "a": 3}]
)
def test_other_collections_are_refused(stop):
    with pytest.raises(TypeError, match=r"generate: stop="):
        inspect.unwrap(generate)(gpt(), [[1]], 2, stop=stop)


def test_the_logits_are_changed_given_what_was_written():
    """Catches prompts or padding among the tokens that are handed on, and an adjustment that is not used."""
    seen = []

    def never_twice(logits, new):
        seen.append(new.tolist())
        return logits.scatter(1, new, -math.inf)

    rows = generate(gpt(), PROMPTS, V, adjust=never_twice)
    for prompt, row in zip(PROMPTS, rows, strict=True):
        assert sorted(row[len(prompt) :].tolist()) == list(range(V))
    written = [row[len(prompt) :].tolist() for prompt, row in zip(PROMPTS, rows, strict=True)]
    assert seen == [[row[:n] for row in written] for n in range(V)]


def test_an_adjustment_comes_before_the_temperature_and_what_is_kept():
    """Catches another order: of two tokens that an adjustment leaves, top_k=1 takes the likelier."""
    model, rows = gpt(), prompts()
    left = torch.tensor([4, 7])
    allowed = torch.full((V,), -math.inf).index_fill(0, left, 0.0)
    logits = model(rows)[:, -1]
    found = generate(model, rows, 1, temperature=9.0, top_k=1, adjust=lambda logits, new: logits + allowed)
    assert found[:, -1].equal(left[logits[:, left].argmax(-1)])
    plain = generate(model, rows, 9, temperature=2.0, generator=seeded_rng())
    doubled = generate(model, rows, 9, temperature=4.0, generator=seeded_rng(), adjust=lambda logits, new: logits * 2)
    assert plain.equal(doubled)


def digits_then_end(logits, new):
    """Up to three digits (tokens 0 to 9), then the end (token 10): a grammar as a function."""
    allowed = range(10) if new.shape[1] == 0 else range(11) if new.shape[1] < 3 else [10]
    forbidden = torch.ones(V, dtype=torch.bool).index_fill(0, torch.tensor([*allowed]), False)
    return logits.masked_fill(forbidden, -math.inf)


def test_a_grammar_of_digits_holds():
    """Catches a draw that does not obey, and a row that has ended and of which nothing is left."""
    model, rows = gpt(), torch.arange(10).repeat(20)[:, None]
    found = generate(model, rows, 4, temperature=3.0, adjust=digits_then_end, stop=10, generator=seeded_rng())
    assert {row.index(10) for row in found[:, 1:].tolist()} == {1, 2, 3}

    def nothing_more(logits, new):
        ended = (new == 10).any(1, keepdim=True)
        return digits_then_end(logits, new).masked_fill(ended, -math.inf)

    settings = {"temperature": 3.0, "stop": 10}
    again = generate(model, rows, 4, adjust=nothing_more, generator=seeded_rng(), **settings)
    assert again.equal(found)


@pytest.mark.parametrize(
    ("adjust", "error", "message"),
    [
        (lambda logits, new: None, TypeError, r"adjust gave None, expected logits of shape \(1, 11\)"),
        (lambda logits, new: logits[:, :3], TypeError, r"torch\.float64 of shape \(1, 3\)"),
        (lambda logits, new: logits > 0, TypeError, r"torch\.bool of shape \(1, 11\)"),
        (lambda logits, new: logits - math.inf, ValueError, "nothing to choose from in row 0"),
        (lambda logits, new: logits * math.nan, ValueError, "nothing to choose from in row 0"),
        (lambda logits, new: logits + math.inf, ValueError, "nothing to choose from in row 0"),
        (3, TypeError, "adjust=3 is of type int, expected something to call"),
        (dict, TypeError, "adjust=.*dict.*expected something to call"),
    ],
)
@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_logits_that_nothing_can_be_drawn_from_are_named(adjust, error, message, temperature):
    with pytest.raises(error, match=f"generate: .*{message}" if "adjust" not in message else f"generate: {message}"):
        inspect.unwrap(generate)(gpt(), [[1]], 2, adjust=adjust, temperature=temperature)


def test_min_p_keeps_what_is_near_the_likeliest():
    """Catches a share of 1 in place of one of the likeliest probability, and a bound that is left out."""
    logits = torch.tensor([[0.5, 0.25, 0.2, 0.05], [0.97, 0.01, 0.01, 0.01]], dtype=torch.float64).log()
    assert keep_min_p(logits, 0.5 - 1e-9).isfinite().tolist() == [[True, True, False, False], [True, *[False] * 3]]
    assert keep_min_p(logits, 0.1 - 1e-9).isfinite().tolist() == [[True] * 4, [True, *[False] * 3]]
    assert keep_min_p(logits, 1.0).isfinite().sum() == 2
    assert keep_min_p(logits + 7, 0.3).isfinite().equal(keep_min_p(logits, 0.3).isfinite())
    for p in (0.0, 1.5, math.nan):
        with pytest.raises(ValueError, match=rf"keep_min_p: p={p}, .*above 0, at most 1"):
            keep_min_p(logits, p)


@pytest.mark.parametrize("dtype", [torch.int32, torch.int64])
def test_repetition_makes_a_token_less_likely_once(dtype):
    """Catches a penalty that counts how often a token stands there, and one that helps what is unlikely."""
    logits = torch.tensor([[2.0, -2.0, 0.0, 1.0], [2.0, -2.0, 0.0, 1.0]])
    ids = torch.tensor([[0, 0, 1], [3, 3, 3]], dtype=dtype)
    assert penalise_repetition(logits, ids, 2.0).tolist() == [[1.0, -4.0, 0.0, 1.0], [2.0, -2.0, 0.0, 0.5]]
    assert penalise_repetition(logits, ids[:, :0], 2.0).equal(logits)
    for wrong in (ids[0], ids[:1], ids + 1, ids - 1):
        with pytest.raises(ValueError, match=r"penalise_repetition: ids of shape .* row for each of 2 rows .* 0 to 3"):
            penalise_repetition(logits, wrong, 2.0)
    for penalty in (0.0, -1.0, math.inf):
        with pytest.raises(ValueError, match=f"penalise_repetition: penalty={penalty}, .*above 0"):
            penalise_repetition(logits, ids, penalty)


def test_repetition_is_penalised_in_a_text():
    """Catches an adjustment that does not see what was written: a large penalty writes each token once."""
    rows = generate(gpt(), prompts(), V, adjust=lambda logits, new: penalise_repetition(logits + 50, new, 1e6))
    assert all(len(set(row[N:].tolist())) == V for row in rows)
