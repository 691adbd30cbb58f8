"""Guessed tokens change how many passes a text takes, and nothing of what is written."""

import inspect
from collections import Counter
from functools import partial

import pytest
import torch
from clearformer.drafts import prompt_lookup
from clearformer.generation import generate, stream_tokens

from tests.clearformer.devices import DEVICES
from tests.clearformer.test_generate import translator
from tests.clearformer.writers import EACH, N_POSITIONS, ROTARY, Successor, V, gpt, seeded_rng

GUESSES = {
    "prompt lookup": prompt_lookup,
    "one token": partial(prompt_lookup, n_matched=1, n_drafted=1),
    "nothing": lambda ids: ids[:0],
    "an empty list": lambda ids: [],
    "always wrong": lambda ids: (ids[-5:] + 1) % V,
    "too many": lambda ids: [3] * 99,
    "of 32 bits": lambda ids: ids[-2:].int(),
}
DRAFT = pytest.mark.parametrize("draft", GUESSES.values(), ids=GUESSES)


@pytest.mark.parametrize("device", DEVICES)
@EACH
@DRAFT
@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_the_tokens_are_those_without_guesses(config, draft, temperature, device):
    """Catches logits of another position, a cache that keeps wrong guesses, and draws that are not the plain ones."""
    model, prompt = gpt(config, device), torch.randint(4, (1, 5), device=device)

    def write(writer, **settings):
        return writer(model, prompt, 14, temperature=temperature, generator=seeded_rng(device=device), **settings)

    expected = write(generate)
    assert write(generate, draft=draft).equal(expected)
    assert torch.stack([*write(stream_tokens, draft=draft, cached=False)], 1).equal(expected[:, 5:])


def test_a_drafted_text_follows_the_exact_law():
    """Every text of three tokens as often as the model's probabilities say: 1,500 texts, four standard deviations.

    Catches a guess that is preferred, and a rejected one that is drawn again.
    """
    model, prompt, n = gpt(), [1, 2, 1, 2], 1500
    counts: Counter = Counter()
    rng = seeded_rng()
    guess = partial(prompt_lookup, n_matched=2, n_drafted=3)
    for _ in range(n):
        (row,) = generate(model, [prompt], 3, temperature=1.0, top_k=2, draft=guess, generator=rng)
        counts[tuple(row.tolist()[4:])] += 1
    law = {(): 1.0}
    with torch.no_grad():
        for _ in range(3):
            longer = {}
            for text, p in law.items():
                likeliest = model(torch.tensor([[*prompt, *text]]))[0, -1].topk(2)
                for token, share in zip(likeliest.indices.tolist(), likeliest.values.softmax(0).tolist(), strict=True):
                    longer[*text, token] = p * share
            law = longer
    assert counts.keys() <= law.keys() and len(law) == 8
    for text, p in law.items():
        assert abs(counts[text] / n - p) < 4 * (p * (1 - p) / n) ** 0.5


def count_passes(monkeypatch, model):
    read = []
    hidden_states = model.hidden_states
    monkeypatch.setattr(
        model,
        "hidden_states",
        lambda ids, *rest, **named: read.append(ids.shape[1]) or hidden_states(ids, *rest, **named),
    )
    return read


def test_right_guesses_cost_one_pass(monkeypatch):
    """Catches guesses that are checked one by one: after ids 0 to 10 comes what stands there already."""
    model = Successor()
    read = count_passes(monkeypatch, model)
    prompt = [[*range(V), 0, 1]]
    (row,) = generate(model, prompt, 17, draft=partial(prompt_lookup, n_drafted=8))
    assert row.tolist() == [i % V for i in range(V + 2 + 17)]
    assert read == [13 + 8, 8]  # eight right and the one behind them, then eight: the last is not guessed


def test_wrong_guesses_are_forgotten(monkeypatch):
    """Catches a cache that is computed anew, or holds tokens that were not written."""
    model = gpt()
    read = count_passes(monkeypatch, model)
    generate(model, [[1]], 5, draft=lambda ids: (ids[-1:] + 1) % V)
    assert sum(read) <= 1 + 2 * 5 and all(n <= 2 for n in read)


def test_a_stop_among_right_guesses_ends_the_text():
    """Catches the tokens behind it."""
    (row,) = generate(Successor(), [[3, 4, 5, 6, 7, 3]], 9, stop=5, draft=partial(prompt_lookup, n_matched=1))
    assert row.tolist() == [3, 4, 5, 6, 7, 3, 4, 5]


def test_a_text_with_guesses_may_fill_every_position():
    """Catches guesses that ask for positions beyond the last."""
    model = gpt()
    expected = generate(model, [[1, 1]], N_POSITIONS - 2)[0]
    assert generate(model, [[1, 1]], N_POSITIONS - 2, draft=lambda ids: [1] * 40)[0].equal(expected)


@DRAFT
def test_guesses_do_not_change_what_a_rolling_cache_forgets(draft):
    """Catches tokens that are forgotten sooner, to make room for guesses."""
    model = gpt(ROTARY)
    settings = {"temperature": 1.0, "n_sinks": 3}
    expected = generate(model, [[1, 2, 1, 2]], 70, generator=seeded_rng(), **settings)
    assert generate(model, [[1, 2, 1, 2]], 70, draft=draft, generator=seeded_rng(), **settings)[0].equal(expected[0])


def test_a_translation_may_be_guessed():
    """Catches a source that is read with one target alone."""
    model = translator().conditioned_on(torch.tensor([[3, 4, 5]]))
    expected = generate(model, [[1]], 12)[0]
    assert generate(model, [[1]], 12, draft=lambda ids: [2, 3, 4])[0].equal(expected)


@pytest.mark.parametrize(
    ("ids", "options", "expected"),
    [
        ([1, 2, 3, 4, 1, 2], {}, [3, 4, 1, 2]),
        ([1, 2, 3, 1, 2, 4, 1, 2], {}, [4, 1, 2]),  # the last time, not the first
        ([1, 2, 3, 4, 1, 2], {"n_drafted": 1}, [3]),
        ([9, 2, 3, 4, 1, 2], {}, [3, 4, 1, 2]),  # one token, since the two never stood together
        ([9, 2, 3, 2, 5, 9, 2], {"n_matched": 1}, [5, 9, 2]),
        ([9, 2, 3, 2, 5, 9, 2], {"n_matched": 2}, [3, 2, 5, 9, 2]),
        ([5, 5, 5], {"n_matched": 3}, [5]),
        ([1, 2, 3], {}, []),
        ([1], {}, []),
    ],
)
def test_a_guess_is_what_followed_before(ids, options, expected):
    """Catches an occurrence too early, its tokens in place of those behind it, and the end of the text found itself."""
    assert prompt_lookup(torch.tensor(ids), **options).tolist() == expected


@pytest.mark.parametrize(
    ("draft", "error", "message"),
    [
        (lambda ids: [V], ValueError, rf"draft gave \[{V}\], expected a row of ids from 0 to {V - 1}"),
        (lambda ids: [-1], ValueError, r"draft gave \[-1\]"),
        (lambda ids: "abc", ValueError, "draft gave 'abc'"),
        (lambda ids: None, ValueError, "draft gave None"),
        (lambda ids: [0.5], ValueError, r"draft gave \[0\.5\]"),
        (lambda ids: [[1]], ValueError, r"draft gave \[\[1\]\]"),
        (7, TypeError, "draft=7 is of type int, expected something to call"),
    ],
)
def test_what_is_no_guess_is_named(draft, error, message):
    with pytest.raises(error, match=f"generate: {message}"):
        inspect.unwrap(generate)(gpt(), [[1]], 3, draft=draft)


def test_several_texts_are_not_guessed_at_once():
    with pytest.raises(ValueError, match="draft guesses for one text at a time, and there are 2"):
        generate(gpt(), [[1], [2]], 3, draft=prompt_lookup)


@pytest.mark.parametrize("options", [{"n_matched": 0}, {"n_drafted": 0}, {"n_drafted": 2.0}])
def test_numbers_of_a_lookup_are_whole_and_at_least_1(options):
    (name,) = options
    with pytest.raises((TypeError, ValueError), match=f"prompt_lookup: {name}="):
        inspect.unwrap(prompt_lookup)(torch.tensor([1, 2]), **options)
