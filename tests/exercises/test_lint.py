"""Every exercise keeps the rules, and every rule can fail: a toy exercise breaks one after the other."""

import ast
from dataclasses import replace
from difflib import SequenceMatcher

import numpy as np
import pytest
from clearcheck import Exercise, Inputs, Question, RightSolutions, WrongSolutions, axes, equals, holds
from clearcheck.author.edits import EDITED_LINES, rename_definition
from clearcheck.author.mistakes import Solutions
from clearcheck.author.subject import Subject
from clearcheck.notebooks.cells import EXPERIMENTS, without_experiments
from inline_snapshot import snapshot

from tests.exercises.course_exercises import SLUGS, course_exercise, questions
from tests.exercises.lint import lint, subject_of


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


def with_a_default(X, scores, b_1, positions, mask, eps=0.1):
    return layer(X, scores, b_1, positions, mask, eps)


def draw_cases(factor=1.0, N=5, S=7, **changes):
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
    args = draw_cases()(rng)[0]
    return None if ask(*args).shape == (4, 5) else "The shape is not right."


def named_function(name):
    def solution(*args):
        return None

    solution.__name__ = name
    return solution


def checks(**changes):
    """Ordinary, saturated and huge scores, and a property."""
    return (
        equals("values", 6, draw_cases(**changes), layer),
        equals("saturated", 2, draw_cases(30.0, **changes), layer),
        equals("huge", 2, draw_cases(1e4, **changes), layer),
        holds("shape", 2, linear_in_the_values),
    )


def toy(
    question=None,
    titles=("A", "B", "C", "D", "Stretch: e"),
    right=3,
    wrong=8,
    answer=layer,
    told="Mistake {}.",
    **inputs,
) -> Subject:
    """A good exercise of five questions, the first of them with the changes that are given."""
    hints = ("Look at the axis.", "Which index is summed?", "Subtract something first.")
    good = {"sizes": axes("DM", "MN", "D", "N", "MN"), "scores": lambda X, scores, *rest: scores}
    made = Question("q0", titles[0], "f0", 10, 1, checks(), hints, "section", inputs=Inputs(**good))
    made = replace(made, **(question or {}))
    more = [replace(made, id=f"q{i}", name=f"f{i}", title=titles[i], difficulty=3) for i in range(1, len(titles))]
    made = replace(made, inputs=Inputs(**(good | inputs)))
    exercise = Exercise("90-toy", "Toy", "chapters/90-toy", (made, *(replace(q, checks=checks()) for q in more)))
    found, mistakes = Solutions(), Solutions()
    for asked in exercise.questions:
        first = asked is exercise.questions[0]
        right_ones, wrong_ones = RightSolutions(asked.id), WrongSolutions(asked.id)
        for i in range(right if first else 3):
            right_ones(answer if i == 0 else named_function(f"right_{i}"))
        for i in range(wrong if first else 8):
            wrong_ones(told.format(i))(named_function(f"wrong_{i}"))
        found.entries += right_ones.entries
        mistakes.entries += wrong_ones.entries
    return Subject(exercise, found, mistakes)


def test_a_good_exercise_has_no_misfit():
    assert lint(toy()) == []


def with_checks(**changes):
    return {"question": {"checks": checks(**changes)}}


def only_checks(*chosen):
    return {"question": {"checks": chosen}}


def square(rng, value):
    return rng.normal(size=(6, 6))


def seeds_ignored(rng):
    return draw_cases()(np.random.default_rng(0))


def forgiving_check(ask, rng):
    return linear_in_the_values(ask, rng)


ORDINARY = equals("values", 6, draw_cases(), layer)
BROKEN = {
    "points": ({"question": {"checks": (equals("values", 60, draw_cases(), layer), *checks()[1:])}}, "114 points"),
    "four questions": ({"titles": ("A", "B", "C", "Stretch: d")}, "4 questions"),
    "no stretch task": ({"titles": ("A", "B", "C", "D", "E")}, "the last question, and no other, is a stretch task"),
    "stretch first": ({"titles": ("Stretch: a", "B", "C", "D", "Stretch: e")}, "and no other, is a stretch task"),
    "two right": ({"right": 2}, "q0: 2 right solutions"),
    "none right": ({"right": 0}, "q0: there is no right solution"),
    "seven wrong": ({"wrong": 7}, "q0: 7 wrong solutions"),
    "the same words": ({"told": "Mistake."}, "q0: what wrong_0 is told is told to wrong_1, too"),
    "all or nothing": (only_checks(equals("values", 12, draw_cases(), layer)), "one check for all points"),
    "properties alone": (
        only_checks(holds("one", 5, forgiving_check), holds("two", 5, forgiving_check)),
        "no check compares a whole result",
    ),
    "two hints": ({"question": {"hints": ("One.", "Two.")}}, "three different hints"),
    "a hint twice": ({"question": {"hints": ("One.", "Two.", "One.")}}, "three different hints"),
    "one minute": ({"question": {"minutes": 1}}, "1 minutes"),
    "no section": ({"question": {"section": ""}}, "no section to read"),
    "not described": ({"sizes": None}, "do not say which sizes"),
    "scores not described": ({"scores": None}, "do not say how its scores"),
    "equal sizes": (with_checks(N=7), "none may be equal to or divide another"),
    "a multiple": (with_checks(N=14), "none may be equal to or divide another"),
    "announced and not alike": ({"alike": ("values",)}, "equal ones were announced"),
    "only distinct": ({"question": {"checks": checks(N=7)}, "only_distinct": "heads"}, "values: the sizes"),
    "never one token": (
        {"sizes": lambda X, scores, *rest: {"D": 4, "M": 7, "N": max(scores.shape[1], 5)}},
        "N is never 1",
    ),
    "flat scores": (with_checks(scores=lambda rng, s: 0.01 * s), "the scores spread by"),
    "never saturated": (only_checks(ORDINARY, equals("huge", 4, draw_cases(1e4), layer)), "saturated scores"),
    "never huge": (only_checks(ORDINARY, equals("saturated", 4, draw_cases(30.0), layer)), "scores like 10 000"),
    "biases of 0": (with_checks(b_1=lambda rng, b: 0 * b), "hides its absence"),
    "biases alike": (with_checks(b_1=lambda rng, b: 0 * b + 0.3), "hides its absence"),
    "positions from 0": ({"question": {"checks": checks(positions=lambda rng, p: p - 3)[:3]}}, "always begin with 0"),
    "positions in a row": (
        {"question": {"checks": checks(positions=lambda rng, p: np.arange(3, 3 + len(p)))[:3]}},
        "always follow one another",
    ),
    "tiny epsilon": ({"question": {"checks": checks(eps=lambda rng, e: 1e-5)[:3]}}, "ε is always tiny"),
    "a default never used": ({"answer": with_a_default}, "eps is never left out"),
    "no empty mask": ({"question": {"checks": checks(mask=lambda rng, m: m | True)[:3]}}, "hides everything"),
    "the same case for every seed": (
        only_checks(ORDINARY, equals("again", 4, seeds_ignored, layer)),
        "again: every seed",
    ),
    "single precision": (with_checks(X=lambda rng, X: X.astype(np.float32)), "single precision"),
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
    asked, told = zip(*(misfit.split(": ") for misfit in misfits), strict=True)
    assert asked == ("q0", "q1", "q2", "q3", "q4") and len({*told}) == 1
    assert told[0] == snapshot("three different hints, each in whole sentences, are expected.")
    assert lint(toy(wrong=7)) == snapshot(["q0: 7 wrong solutions; at least 8 are expected."])


def calls_an_experiment(cell: str) -> bool:
    calls = [node.func for node in ast.walk(ast.parse(cell)) if isinstance(node, ast.Call)]
    return any(isinstance(called, ast.Name) and called.id in EXPERIMENTS for called in calls)


@pytest.mark.parametrize("slug", SLUGS)
def test_no_grade_waits_for_an_experiment(slug):
    """A graded notebook runs without a line `experiment(…)`. Catches one in a `try`, which is run."""
    cells = [cell.source for cell in course_exercise(slug).source.cells if cell.cell_type == "code"]
    assert [cell for cell in cells if calls_an_experiment(without_experiments(cell))] == []
    assert calls_an_experiment(without_experiments("for i in range(3):\n    experiment(i)"))


@pytest.mark.parametrize(("slug", "id"), questions())
def test_no_mistake_is_written_out_that_is_near_a_right_answer(slug, id):
    """Catches a whole function under @wrong that differs from a right answer by three lines or less."""
    it = course_exercise(slug)
    whole = [entry for entry in it.wrong.of(id) if not entry.base and entry.source]
    assert [(entry.name, right.name) for entry in whole for right in it.right.of(id) if is_near(right, entry)] == []


def is_near(right, entry) -> bool:
    one, other = (rename_definition(each.source, each.name, "answer").splitlines() for each in (right, entry))
    changes = SequenceMatcher(None, one, other, autojunk=False).get_opcodes()
    return sum(max(i2 - i1, j2 - j1) for kind, i1, i2, j1, j2 in changes if kind != "equal") <= EDITED_LINES
