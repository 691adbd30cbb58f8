"""Writing on beyond the last position: what a rolling cache holds is what a text without the forgotten tokens gives."""

import inspect
import math
from dataclasses import replace
from functools import partial

import pytest
import torch
from clearformer.generation import generate, stream_tokens
from clearformer.models.gpt import GPTConfig
from clearformer.models.options import LayerOptions
from clearformer.positions import Rotary
from clearformer.rope_scaling import LongRotary, YarnScaling

from tests.clearformer.devices import DEVICES
from tests.clearformer.test_generate import translator
from tests.clearformer.writers import LEARNED, N_POSITIONS, PROMPTS, ROTARY, D, H, Successor, V, gpt, seeded_rng

ONE_LAYER = GPTConfig(V, 12, D, H, 1, rope=partial(Rotary, dtype=torch.float64))
ROPES = {
    "plain": partial(Rotary, dtype=torch.float64),
    "neighbours, half of them": partial(Rotary, dtype=torch.float64, interleaved=True, share=0.5),
    "with a factor": partial(Rotary, dtype=torch.float64, scaling=YarnScaling(4.0, 8)),
}


def kept_by_hand(row, n_positions, n_sinks):
    """The tokens that are seen when the next one is chosen, for a text of as many tokens as ``row``."""
    seen = []
    for token in row:
        if len(seen) == n_positions:
            n_dropped = (n_positions - n_sinks) // 2
            seen = seen[:n_sinks] + seen[n_sinks + n_dropped :]
        seen.append(token)
    return seen


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("n_sinks", [0, 1, 4, 10])
@pytest.mark.parametrize("rope", ROPES.values(), ids=ROPES)
@torch.no_grad()
def test_the_next_token_is_that_after_what_is_kept(rope, n_sinks, device):
    """In one layer keys and values are those of the tokens alone, so that a rolling cache can be compared with none.

    Catches keys that are turned by a wrong angle or twice by the factor, sinks that move, and tokens that stay.
    """
    model = gpt(replace(ONE_LAYER, rope=rope), device)
    row = [5, 3]
    for (token,) in stream_tokens(model, torch.tensor([row], device=device), 40, n_sinks=n_sinks):
        expected = model(torch.tensor([kept_by_hand(row, 12, n_sinks)], device=device))[0, -1].argmax()
        assert token == expected
        row.append(int(token))


@torch.no_grad()
def test_without_sinks_each_layer_sees_what_a_mask_shows():
    """In several layers values hold what was seen before; with true distances a mask over the whole text says the same.

    Catches keys and values that are mixed up between layers, and a layer that is left out.
    """
    large = gpt(GPTConfig(V, 60, D, H, 3, rope=partial(Rotary, dtype=torch.float64)))
    small = gpt(GPTConfig(V, 12, D, H, 3, rope=partial(Rotary, dtype=torch.float64)))
    small.load_state_dict(large.state_dict())
    for block in small.decoder.blocks:
        assert block.attention.rope.n_positions == 12
    (row,) = generate(small, [[5, 3]], 50, n_sinks=0, temperature=1.0, generator=seeded_rng())
    places, mask = [*range(len(row))], torch.zeros(len(row), len(row), dtype=torch.bool)
    for n in places:
        mask[n, kept_by_hand(places[: n + 1], 12, 0)] = True
    allowed = large.head(large.hidden_states(row[None], mask[None, None]))[0, 1:-1].softmax(-1)
    drawn = []
    rng = seeded_rng()
    for p in allowed:
        drawn.append(int(torch.multinomial(p[None], 1, generator=rng)))
    assert drawn == row[2:].tolist()


@pytest.mark.parametrize("n_sinks", [0, 3])
def test_texts_of_different_lengths_do_not_disturb_each_other(n_sinks):
    """Catches padding that is kept as a sink, and tokens that are forgotten while padding stays."""
    model = gpt(replace(ROTARY, n_layers=1, rope=partial(Rotary, dtype=torch.float64)))
    together = generate(model, PROMPTS, 90, n_sinks=n_sinks)
    for prompt, row in zip(PROMPTS, together, strict=True):
        text = prompt[:]
        n_padding = max(map(len, PROMPTS)) - len(prompt)
        seen, n_hidden = prompt[:], n_padding
        for token in row[len(prompt) :].tolist():
            with torch.no_grad():
                assert model(torch.tensor([seen]))[0, -1].argmax() == token
            if n_hidden + len(seen) == N_POSITIONS:
                n_dropped = (N_POSITIONS - n_sinks) // 2
                n_tokens = n_dropped - min(n_hidden, n_dropped)
                n_hidden -= n_dropped - n_tokens
                seen = seen[:n_sinks] + seen[n_sinks + n_tokens :]
            seen.append(token)
            text.append(token)
        assert text == row.tolist()


def test_a_text_that_fits_is_written_as_before():
    """Catches a cache that rolls too soon."""
    model = gpt(ROTARY)
    assert generate(model, [[1, 2]], N_POSITIONS - 2, n_sinks=4)[0].equal(generate(model, [[1, 2]], N_POSITIONS - 2)[0])


def test_the_cache_does_not_grow(monkeypatch):
    """Catches room for the whole text, which no output shows."""
    model, made = gpt(ROTARY), []
    new_cache = model.new_cache
    monkeypatch.setattr(model, "new_cache", lambda *sizes: made.append(sizes) or new_cache(*sizes))
    (row,) = generate(model, torch.tensor([[*range(V), *range(V), *range(8)]]), 60, n_sinks=4)
    assert made == [(1, N_POSITIONS)] and len(row) == N_POSITIONS + 60


def test_layers_with_a_window_or_without_positions_roll_too():
    """Catches a demand that every layer turns its keys alike."""
    layers = (LayerOptions((0,), window=4, rope=ROTARY.rope), LayerOptions((1,)))
    model = gpt(replace(ROTARY, n_layers=3, layers=layers))
    assert len(generate(model, [[1]], 70, n_sinks=2)[0]) == 71


def test_a_key_that_is_turned_on_is_the_key_of_the_later_position():
    x = torch.randn(2, 3, 5, 8, dtype=torch.float64)
    for rope in ROPES.values():
        turn = rope(8, 40)
        before = torch.tensor([[9, 8, 7, 6, 5], [30, 20, 21, 7, 8]])
        steps = torch.tensor([[-9, 0, 4, -1, 2], [-30, 5, 0, 0, 3]])
        found = turn.moved(turn(x, before), steps)
        torch.testing.assert_close(found, turn(x, before + steps), rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    ("model", "n_sinks", "options", "message"),
    [
        (lambda: gpt(LEARNED), 4, {}, "only positions are Rotary, .*this GPT writes up to n_positions=30 tokens"),
        (lambda: translator().conditioned_on(torch.ones(1, 2).long()), 4, {}, "this SourceConditioned writes up to"),
        (Successor, 4, {}, "this Successor writes up to"),
        (
            lambda: gpt(replace(ROTARY, rope=partial(LongRotary, short=[1.0] * 4, long=[2.0] * 4, n_trained=9))),
            4,
            {},
            "this GPT writes up to",
        ),
        (lambda: gpt(ROTARY), -1, {}, r"n_sinks=-1, expected a whole number from 0 to 28"),
        (lambda: gpt(ROTARY), 29, {}, r"n_sinks=29, expected a whole number from 0 to 28"),
        (lambda: gpt(ROTARY), 2.0, {}, r"n_sinks=2\.0 is of type float"),
        (lambda: gpt(ROTARY), True, {}, r"n_sinks=True is of type bool"),
        (lambda: gpt(ROTARY), 4, {"cached": False}, "n_sinks=4 is about the cache. Leave cached=False out"),
    ],
)
def test_what_cannot_roll_is_refused(model, n_sinks, options, message):
    with pytest.raises((TypeError, ValueError), match=f"generate: .*{message}"):
        inspect.unwrap(generate)(model(), [[1]], 60, n_sinks=n_sinks, **options)


def test_too_many_tokens_are_told_of_the_way_on():
    with pytest.raises(ValueError, match=r"generate: 60 new .*at most 29, .* n_sinks=4 writes on beyond"):
        generate(gpt(ROTARY), [[1]], 60)


def test_nan_is_told_beyond_the_last_position():
    model = gpt(ROTARY)
    tokens = stream_tokens(model, [[1]], 100, n_sinks=2)
    for _ in range(40):
        next(tokens)
    torch.nn.init.constant_(model.decoder.norm.weight, math.nan)
    with pytest.raises(FloatingPointError, match="after 41 tokens"):
        next(tokens)
