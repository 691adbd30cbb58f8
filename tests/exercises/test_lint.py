"""Every exercise keeps the rules, and every rule can fail: a toy exercise breaks one after the other."""

from dataclasses import replace

import numpy as np
import pytest
from clearcheck import Exercise, Question, Solutions, WrongSolutions, equals, holds

from tests.exercises.authored import SLUGS
from tests.exercises.inputs import Inputs, axes
from tests.exercises.lint import lint
from tests.exercises.subject import Subject, subject_of


@pytest.mark.parametrize("slug", SLUGS)
def test_the_exercise_keeps_the_rules(slug):
    assert lint(subject_of(slug)) == []


def softmax(scores):
    powers = np.exp(scores - scores.max(axis=0))
    return powers / powers.sum(axis=0)


def layer(X, scores, b_1, positions, mask, eps):
    """All kinds of arguments that have a rule."""
    A = softmax(scores) * mask
    return X @ A + b_1[:, None] + positions + eps


def drawn(factor=1.0, N=5, S=7, **changes):
    def cases(rng):
        found = []
        for length in (N, 1):
            given = {
                "X": rng.normal(size=(4, S)),
                "scores": factor * rng.normal(size=(S, length)),
                "b_1": rng.normal(size=4),
                "positions": 3 + 2 * np.arange(length),
                "mask": np.arange(S)[:, None] > np.arange(length) + (length == 1) * S,
                "eps": 0.1,
            }
            found.append(tuple((given | {name: make(rng, given[name]) for name, make in changes.items()}).values()))
        return found

    return cases


def linear_in_the_values(ask, rng):
    args = drawn()(rng)[0]
    return None if ask(*args).shape == (4, 5) else "The shape is not right."


def named(name):
    def solution(*args):
        return None

    solution.__name__ = name
    return solution


def checks(**changes):
    """Ordinary, saturated and huge scores, and a property."""
    return (
        equals("values", 6, drawn(**changes), layer),
        equals("saturated", 2, drawn(30.0, **changes), layer),
        equals("huge", 2, drawn(1e4, **changes), layer),
        holds("shape", 2, linear_in_the_values),
    )


def toy(question=None, titles=("A", "B", "C", "D", "Stretch: e"), right=3, wrong=8, **inputs) -> Subject:
    """A good exercise of five questions, the first of them with the changes that are given."""
    hints = ("Look at the axis.", "Which index is summed?", "Subtract something first.")
    made = Question("q0", titles[0], "f0", 10, 1, checks(), hints, "section")
    made = replace(made, **(question or {}))
    more = [replace(made, id=f"q{i}", name=f"f{i}", title=titles[i], difficulty=3) for i in range(1, len(titles))]
    exercise = Exercise("90-toy", "Toy", "chapters/90-toy", (made, *(replace(q, checks=checks()) for q in more)))
    good = {"sizes": axes("DM", "MN", "D", "N", "MN"), "scores": lambda X, scores, *rest: scores}
    collections = Solutions(), WrongSolutions()
    for asked in exercise.questions:
        first = asked is exercise.questions[0]
        for i in range(right if first else 3):
            collections[0](asked.id)(layer if i == 0 else named(f"right_{i}"))
        for i in range(wrong if first else 8):
            collections[1](asked.id, says=f"Mistake {i}.", section="s")(named(f"wrong_{i}"))
    described = {q.id: Inputs(**good) for q in exercise.questions}
    if inputs:
        described["q0"] = Inputs(**(good | inputs))
    return Subject(exercise, *collections, described)


def test_a_good_exercise_has_no_misfit():
    assert lint(toy()) == []


def with_checks(**changes):
    return {"question": {"checks": checks(**changes)}}


def alone(*chosen):
    return {"question": {"checks": chosen}}


def square(rng, value):
    return rng.normal(size=(6, 6))


def seeds_ignored(rng):
    return drawn()(np.random.default_rng(0))


def forgiving(ask, rng):
    return linear_in_the_values(ask, rng)


ORDINARY = equals("values", 6, drawn(), layer)
BROKEN = {
    "points": ({"question": {"checks": (equals("values", 60, drawn(), layer), *checks()[1:])}}, "114 points"),
    "four questions": ({"titles": ("A", "B", "C", "Stretch: d")}, "4 questions"),
    "no stretch task": ({"titles": ("A", "B", "C", "D", "E")}, "the last question, and no other, is a stretch task"),
    "stretch first": ({"titles": ("Stretch: a", "B", "C", "D", "Stretch: e")}, "and no other, is a stretch task"),
    "two right": ({"right": 2}, "q0: 2 right solutions"),
    "none right": ({"right": 0}, "q0: there is no right solution"),
    "seven wrong": ({"wrong": 7}, "q0: 7 wrong solutions"),
    "all or nothing": (alone(equals("values", 12, drawn(), layer)), "one check for all points"),
    "properties alone": (
        alone(holds("one", 5, forgiving), holds("two", 5, forgiving)),
        "no check compares a whole result",
    ),
    "two hints": ({"question": {"hints": ("One.", "Two.")}}, "three different hints"),
    "a hint twice": ({"question": {"hints": ("One.", "Two.", "One.")}}, "three different hints"),
    "one minute": ({"question": {"minutes": 1}}, "1 minutes"),
    "no section": ({"question": {"section": ""}}, "no section to read"),
    "not described": ({"sizes": None}, "does not say which sizes"),
    "scores not described": ({"scores": None}, "does not say how its scores"),
    "equal sizes": (with_checks(N=7), "none may be equal to or divide another"),
    "a multiple": (with_checks(N=14), "none may be equal to or divide another"),
    "announced and not alike": ({"alike": ("values",)}, "equal ones were announced"),
    "only distinct": ({"question": {"checks": checks(N=7)}, "only_distinct": "heads"}, "values: the sizes"),
    "never one token": (
        {"sizes": lambda X, scores, *rest: {"D": 4, "M": 7, "N": max(scores.shape[1], 5)}},
        "N is never 1",
    ),
    "flat scores": (with_checks(scores=lambda rng, s: 0.01 * s), "the scores spread by"),
    "never saturated": (alone(ORDINARY, equals("huge", 4, drawn(1e4), layer)), "saturated scores"),
    "never huge": (alone(ORDINARY, equals("saturated", 4, drawn(30.0), layer)), "scores like 10 000"),
    "biases of 0": (with_checks(b_1=lambda rng, b: 0 * b), "hides its absence"),
    "biases alike": (with_checks(b_1=lambda rng, b: 0 * b + 0.3), "hides its absence"),
    "positions from 0": ({"question": {"checks": checks(positions=lambda rng, p: p - 3)[:3]}}, "always begin with 0"),
    "positions in a row": (
        {"question": {"checks": checks(positions=lambda rng, p: np.arange(3, 3 + len(p)))[:3]}},
        "always follow one another",
    ),
    "tiny epsilon": ({"question": {"checks": checks(eps=lambda rng, e: 1e-5)[:3]}}, "ε is always tiny"),
    "no empty mask": ({"question": {"checks": checks(mask=lambda rng, m: m | True)[:3]}}, "hides everything"),
    "the same case for every seed": (alone(ORDINARY, equals("again", 4, seeds_ignored, layer)), "again: every seed"),
    "single precision": (with_checks(X=lambda rng, X: X.astype(np.float32)), "single precision"),
    "arguments may change": (
        alone(holds("shape", 6, forgiving), holds("again", 6, forgiving)),
        "changes its arguments gets full points",
    ),
}


@pytest.mark.parametrize("name", BROKEN)
def test_each_rule_can_fail(name):
    """Catches a rule that lets everything pass: the toy exercise with one fault is told that fault."""
    changes, says = BROKEN[name]
    misfits = lint(toy(**changes))
    assert any(says in misfit for misfit in misfits), misfits


def test_the_misfits_name_the_question_and_nothing_else():
    """Catches a fault of one question told of another."""
    misfits = lint(toy(question={"hints": ("One.",)}))
    assert misfits == [f"q{i}: three different hints, each in whole sentences, are expected." for i in range(5)]
    assert lint(toy(wrong=7)) == ["q0: 7 wrong solutions; at least 8 are expected."]
