"""Beams: one is greedy, enough of them find the best, and their scores are log-probabilities."""

import itertools

import pytest
import torch
from clearformer.generation import beam_search, generate

from tests.clearformer.writers import EACH, PROMPTS, N, V, gpt, prompts


def log_p(model, prompt, new):
    """Sum of the log-probabilities of ``new`` after ``prompt``, from one forward pass."""
    with torch.no_grad():
        rows = model(torch.tensor([[*prompt, *new]])).log_softmax(-1)[0, len(prompt) - 1 : -1]
    return sum(rows[i, token].item() for i, token in enumerate(new))


@EACH
def test_one_beam_is_greedy(config):
    model, rows = gpt(config), prompts()
    best, scores = beam_search(model, rows, 8, 1)
    greedy = generate(model, rows, 8)
    assert best.equal(greedy)
    for row, score in zip(best.tolist(), scores.tolist(), strict=True):
        assert score == pytest.approx(log_p(model, row[:N], row[N:]) / 8)


@EACH
def test_enough_beams_find_the_best_of_all_continuations(config):
    """Catches beams of one prompt continued by another, a cache that is not reordered, and a wrong length.

    Every continuation of three tokens, or fewer with a stop, is scored by brute force.
    """
    model, stop, n = gpt(config), 7, 3
    sums = [sums_of_all_continuations(model, prompt, n, stop) for prompt in PROMPTS]
    for penalty in (0.0, 1.0, 2.0):
        rows, scores = beam_search(model, PROMPTS, n, V**2, stop=stop, length_penalty=penalty)
        for prompt, row, score, sums_of_one in zip(PROMPTS, rows, scores, sums, strict=True):
            values = {new: total / len(new) ** penalty for new, total in sums_of_one.items()}
            best = max(values, key=values.get)
            assert tuple(row.tolist()[len(prompt) :]) == best, penalty
            assert score.item() == pytest.approx(values[best])


def sums_of_all_continuations(model, prompt: list[int], n: int, stop: int) -> dict[tuple, float]:
    """The log-probability of every continuation of n tokens, cut behind a stop."""
    every = list(itertools.product(range(V), repeat=n))
    with torch.no_grad():
        log_p = model(torch.tensor([[*prompt, *new] for new in every])).log_softmax(-1)[:, len(prompt) - 1 : -1]
    sums = {}
    for new, table in zip(every, log_p.tolist(), strict=True):
        new = new[: new.index(stop) + 1] if stop in new else new
        sums[new] = sum(table[i][token] for i, token in enumerate(new))
    return sums


def test_more_beams_score_no_worse_and_the_cache_changes_nothing():
    model, rows = gpt(), prompts()
    scores = [beam_search(model, rows, 6, n)[1] for n in (1, 40)]
    assert (scores[1] >= scores[0] - 1e-9).all()
    with_cache, without = (beam_search(model, rows, 6, 3, stop=2, cached=cached)[0] for cached in (True, False))
    assert with_cache.equal(without)


def test_the_scores_of_beams_can_be_used_in_training():
    """Catches a tensor of inference mode that is handed out."""
    _, scores = beam_search(gpt(), [[1]], 3, 2)
    assert not scores.is_inference()
