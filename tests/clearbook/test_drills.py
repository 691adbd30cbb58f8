"""Drills: the key is what really comes out, the check helps and keeps the answer to itself."""

import re
from functools import cache
from math import prod

import numpy as np
import pytest
import torch
from clearbook.drills.drill import drill
from clearbook.drills.kinds import KINDS
from clearformer.multihead import MultiHeadAttention

SEEDS = range(30)
# Written down here a second time, without the library: what each answer is in the sizes.
EXPECTED = {
    "attention": lambda n, d, k, v: [(n, k), (n, k), (n, v), (n, n), (n, n), (n, v)],
    "cross-attention": lambda n, m, d, k, v: [(n, k), (m, k), (m, v), (n, m), (n, m), (n, v)],
    "columns": lambda D, N, S, K, Kv: [(K, N), (K, S), (Kv, S), (S, N), (Kv, N)],
    "heads": lambda B, N, H, K, D: [
        (B, H, N, D // H),
        (B, H, N, N),
        (B, H, N, D // H),
        (B, N, D),
        (B, N, D),
    ],
    "groups": lambda B, N, G, r, K, H, D: [
        (D + 2 * (D // r), D),
        (B, G, N, K),
        (B, G * r, N, N),
        2 * D // r,
    ],
    "embedding": lambda B, N, V, D: [(V, D), (B, N, D), (B, N, V), D * V],
    "patches": lambda B, C, s, D, rows, columns, **_: [
        (B, rows * columns // s**2, C * s**2),
        (D, C * s**2),
        (B, rows * columns // s**2 + 1, D),
    ],
    "parameters": lambda H, K, r, D, F: [
        4 * (D + 1) * D,
        (D + 1) * F + (F + 1) * D,
        4 * (D + 1) * D + (D + 1) * F + (F + 1) * D + 2 * 2 * D,
    ],
    "flops": lambda N, H, K, D: [
        4 * 2 * N * D * D,
        H * (2 * N * K * N + 2 * N * N * K),
        4 * 2 * N * D * D + 2 * H * 2 * N * N * K,
    ],
    "cache": lambda M, B, G, N, K: [prod((M, 2, B, G, N, K)), 2 * prod((M, 2, B, G, N, K))],
    "decode-step": lambda M, B, G, r, N, K, H, D, F: [
        2 * M * D * (D + G * K + G * K + D + F + F),
        2 * prod((M, 2, B, G, N, K)),
        2 * B * M * D * (D + G * K + G * K + D + F + F),
    ],
    "roofline": lambda n, D, E, R, W: [
        prod((2, n, D, E)),
        sum(2 * rows * columns for rows, columns in ((E, D), (n, D), (n, E))),
        prod((2, n, D, E)) * 10**9 // (R * 10**12),
        2 * (E * D + n * (D + E)) * 10**9 // (W * 10**9),
    ],
    "cut": lambda B, N, T, a, f, D, F: [(f, D), (D, f), (B, N, f), (B, N, a * T), (T - 1) * 2 * B * N * a],
    "experts": lambda D, F, E, k: [D * (E + 3 * F * E + 3 * F), D * (E + 3 * F * k + 3 * F)],
    "latent": lambda D, H, R, T, U, V: [(T + R, D), (H * U + H * V, R), T + R, H * U + H * T + H * V],
    "state": lambda B, H, N, K, V: [(B, H, V, K), (B, H, K), B * H * K * (V + 1), B * N * (H * K + H * V)],
    "adapter": lambda D, E, r: [(r, D), (E, r), r * D + E * r, 2 * 4 * (r * D + E * r)],
    "attempts": lambda P, n, Q, M, V: [(n * P, Q + M), (n * P, M + Q - 1, V), (n * P, M), (P, n)],
    "training": lambda M, H, K, r, D, F: [
        M * 2 * (4 * (D + 1) * D + (D + 1) * F + (F + 1) * D + 2 * 2 * D),
        M * (2 + 2 + 4 + 4 + 4) * (4 * (D + 1) * D + (D + 1) * F + (F + 1) * D + 2 * 2 * D),
    ],
}


@cache
def cached_drill(kind: str, seed: int):
    """A drill for all that is asked of it: to work out what really comes out takes longest."""
    return drill(kind, seed)


def test_every_kind_has_a_formula_of_its_own_here():
    assert EXPECTED.keys() == KINDS.keys()


@pytest.mark.parametrize("kind", KINDS)
def test_the_key_agrees_with_formulas_that_do_not_use_the_library(kind):
    for seed in SEEDS:
        asked = cached_drill(kind, seed)
        assert list(asked.answers.values()) == EXPECTED[kind](**asked.sizes)


@pytest.mark.parametrize("kind", KINDS)
def test_the_formula_shown_beside_the_answer_gives_the_answer(kind):
    for seed in SEEDS:
        asked = cached_drill(kind, seed)
        assert asked.answers.keys() == asked.formulas.keys()
        assert asked.answers == {name: eval(text, dict(asked.sizes)) for name, text in asked.formulas.items()}


@pytest.mark.parametrize("kind", KINDS)
def test_sizes_differ_and_the_question_names_all_that_is_needed(kind):
    """Equal sizes would let a swapped axis pass; a size that is not in the text could not be known."""
    for seed in SEEDS:
        asked = cached_drill(kind, seed)
        assert len(set(asked.sizes.values())) == len(asked.sizes)
        numbers = set(re.findall(r"\d+", asked.question))
        needed = {letter for text in asked.formulas.values() for letter in re.findall(r"[A-Za-z]+", text)}
        assert {str(asked.sizes[letter]) for letter in needed} <= numbers
        assert needed <= set(re.findall(r"\w+", asked.question))
        assert "{" not in asked.question
        assert all(f"`{name}`" in asked.question for name in asked.answers)


def test_a_seed_gives_one_question_and_another_seed_another():
    assert drill("heads", 3) == drill("heads", 3)
    assert len({repr(drill("heads", seed)) for seed in SEEDS}) == len(SEEDS)


def test_an_unknown_kind_is_refused_with_the_list():
    with pytest.raises(ValueError, match=r"'convolution' does not exist. Choose from attention, cross-attention"):
        drill("convolution")


def test_the_arrays_of_heads_are_those_of_the_real_layer():
    """Catches a drill that builds shapes which the library's layer does not have."""
    asked = drill("heads", seed=1)
    B, N, H, D = (asked.sizes[letter] for letter in "BNHD")
    seen = {}

    def watch(q, k, v, mask, *, causal):
        weights = (q @ k.mT).softmax(dim=-1)
        seen.update(q=q, weights=weights, y=weights @ v)
        return weights @ v, weights

    seen["output"], _ = MultiHeadAttention(D, H, attend=watch)(torch.zeros(B, N, D))
    assert {name: tuple(array.shape) for name, array in seen.items()} == {
        name: shape for name, shape in asked.answers.items() if name != "joined"
    }


@pytest.mark.parametrize("kind", KINDS)
def test_check_accepts_the_key_and_says_what_is_missing(kind):
    asked = drill(kind, seed=2)
    assert asked.check(**asked.answers) == "\n".join(f"{name}: right." for name in asked.answers)
    first, *others = asked.answers
    assert asked.check(**{first: asked.answers[first]}) == f"{first}: right.\nnot yet given: {', '.join(others)}"


def shapes():
    asked = drill("cross-attention", seed=4)
    return asked, asked.answers["scores"]


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda n, m: (m, n), "the right sizes in the wrong order."),
        (lambda n, m: (n, m + 1), "not right in axis 1, counting from 0."),
        (lambda n, m: (n + 1, m + 1), "not right in axis 0 and 1, counting from 0."),
        (lambda n, m: (1, n, m), "too many axes."),
        (lambda n, m: [n], "too few axes."),
        (lambda n, m: 7.5, "a shape is wanted, whole numbers such as (2, 3), not 7.5."),
        (lambda n, m: ("n", "m"), "a shape is wanted, whole numbers such as (2, 3), not ('n', 'm')."),
        (lambda n, m: [n, m], "right."),
    ],
)
def test_check_says_what_is_wrong_with_a_shape(change, says):
    asked, scores = shapes()
    assert asked.check(scores=change(*scores)).splitlines()[0] == f"scores: {says}"


def test_check_says_what_is_wrong_with_a_number():
    asked = drill("parameters", seed=5)
    D, right = asked.sizes["D"], asked.answers["attention"]
    given = {right + 1: "too large.", right - 1: "too small.", "many": "a number is wanted, not 'many'."}
    given |= {4 * D * D: "not right; the biases are missing."}
    for answer, says in given.items():
        assert asked.check(attention=answer).splitlines()[0] == f"attention: {says}"


@pytest.mark.parametrize("kind", KINDS)
def test_check_never_gives_the_answer_away(kind):
    for seed in SEEDS:
        asked = cached_drill(kind, seed)
        for name, right in asked.answers.items():
            wrong = right + 1 if isinstance(right, int) else tuple(size + 100_000 for size in right)
            said = asked.check(**{name: wrong}).splitlines()[0]
            assert not said.endswith(": right.")
            numbers = {str(right)} if isinstance(right, int) else {str(size) for size in right}
            assert not numbers & set(re.findall(r"\d\d+", said))


@pytest.mark.parametrize("kind", KINDS)
def test_a_slip_is_never_the_answer(kind):
    for seed in SEEDS:
        asked = cached_drill(kind, seed)
        for name, wrong in KINDS[kind].slips.items():
            for formula, hint in wrong.items():
                value = eval(formula, dict(asked.sizes))
                assert value != asked.answers[name]
                assert asked.check(**{name: value}).splitlines()[0] == f"{name}: not right; {hint}"


def test_numbers_of_numpy_and_shapes_of_torch_are_answers_too():
    flops, attention = drill("flops"), drill("attention")
    n, total = flops.answers["total"], np.int64(flops.answers["total"])
    assert str(flops.check(total=total)).startswith("total: right.") and n == total
    assert str(attention.check(Q=tuple(np.array(attention.answers["Q"])))).startswith("Q: right.")
    assert str(attention.check(Q=torch.Size(attention.answers["Q"]))).startswith("Q: right.")
    assert "whole numbers" in attention.check(Q=tuple(np.array(attention.answers["Q"]) + 0.5))


def test_check_refuses_a_name_that_is_not_asked_for():
    with pytest.raises(ValueError, match=r"QK is not asked for. Give some of Q, K, V, scores"):
        drill("attention").check(QK=(2, 3))


def test_a_notebook_hides_the_answer_and_a_terminal_does_not_show_it():
    asked = drill("flops", seed=1)
    page = asked._repr_markdown_()
    question, _, hidden = page.partition("<details")
    assert "<summary>Answer</summary>" in hidden and hidden.endswith("</details>")
    for answer in asked.answers.values():
        assert f"**{answer:,}**" in hidden
        assert f"{answer:,}" not in question and str(answer) not in repr(asked)
    assert "`" not in repr(asked)
    assert repr(asked.check()) == "not yet given: projections, pairs, total"
