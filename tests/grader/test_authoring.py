"""What an author may write, and how a question is evaluated."""

import numpy as np
import pytest
from clearcheck import Exercise, Question, Solutions, WrongSolutions, equals, holds
from clearcheck.calls import call_named
from clearcheck.evaluate import evaluate, generator
from clearcheck.loading import AuthoringError, ExerciseNotFound, find_folder, load

from .conftest import SLUG


def question(*checks, **changes) -> Question:
    settings = {"id": "q", "title": "Q", "name": "answer", "minutes": 5, "difficulty": 1, "checks": checks, **changes}
    return Question(**settings)


def result_of(function, *checks, wrong=()):
    def transport(name, packed, seconds):
        return call_named({"answer": function}, name, packed, seconds)

    return evaluate(question(*checks), transport, 3, list(wrong))


def cases(rng):
    return [(rng.normal(size=5),), (rng.normal(size=7),)]


DOUBLE = equals("double", 2, cases, lambda x: 2 * x)


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: equals("e", 0, cases, abs), "points=0"),
        (lambda: holds("h", True, abs), "points=True"),
        (lambda: holds("h", 1.5, abs), "points=1.5"),
        (lambda: equals("e", 1, cases, abs, dtype="double"), "dtype='double'"),
        (lambda: question(DOUBLE, difficulty=4), "difficulty=4"),
        (lambda: question(DOUBLE, name="two words"), "name='two words'"),
        (lambda: question(DOUBLE, DOUBLE), "'double'"),
        (lambda: question(), "needs check names"),
        (lambda: Exercise("Bad Slug", "t", "c", (question(DOUBLE),)), "slug='Bad Slug'"),
        (lambda: Exercise("s", "t", "c", (question(DOUBLE), question(DOUBLE))), "question ids must differ"),
    ],
)
def test_an_exercise_that_cannot_work_is_refused_at_once(make, says):
    """Would catch an author's slip showing up first in a learner's notebook."""
    with pytest.raises(ValueError, match=says.replace("(", r"\(")):
        make()


def test_two_solutions_need_two_names():
    """Would catch one solution hiding another."""
    right = Solutions()
    right("q")(abs)
    with pytest.raises(ValueError, match="two solutions named abs"):
        right("q")(abs)


def test_each_check_has_its_own_arguments():
    """Would catch a check whose arguments change when another one is added."""
    asked = question(DOUBLE)
    draws = {generator(asked, name, seed).integers(10**9) for name in ("a", "b") for seed in (0, 1)}
    assert len(draws) == 4
    assert generator(asked, "a", 1).integers(10**9) in draws


def test_the_checks_arguments_are_out_of_reach():
    """Would catch a learner's change reaching the reference, which then agrees with it."""

    def answer(x):
        x[:] = 0
        return 2 * x

    result = result_of(answer, DOUBLE)
    assert "this is off by" in result.checks[0].message


def test_a_check_that_never_asks_gives_no_points():
    """Would catch a property that holds for everyone."""
    result = result_of(lambda x: x, holds("idle", 2, lambda ask, rng: None))
    assert result.points == 0
    assert "never called your function" in result.checks[0].message


def test_a_property_that_stumbles_over_the_answer_fails_with_a_sentence():
    """Would catch a TypeError inside a check ending the grader."""
    result = result_of(lambda x: None, holds("sum", 2, lambda ask, rng: None if ask(np.ones(5)).sum() else "No."))
    assert "could not work with what your function returned (AttributeError" in result.checks[0].message


def test_a_broken_check_is_told_as_such():
    """Would catch blaming the learner for a fault of the author."""
    result = result_of(lambda x: x, equals("broken", 1, cases, lambda x: x.nothing), DOUBLE)
    assert "This check itself is broken (AttributeError" in result.checks[0].message
    assert len(result.checks) == 2


def test_a_stopped_call_ends_its_question():
    """Would catch a class of endless loops taking the limit once for every call."""
    calls = []

    def transport(name, packed, seconds):
        calls.append(name)
        return {"kind": "time"}

    result = evaluate(question(DOUBLE, equals("more", 1, cases, abs)), transport, 3, [])
    assert len(calls) == 1
    assert result.checks[1].message == "Not run, since an earlier call had to be stopped."


def test_a_forged_text_cannot_write_to_the_terminal():
    """Would catch control characters of a reply, which the learner's code may have forged, reaching a terminal."""

    def transport(name, packed, seconds):
        return {"kind": "raised", "type": "Error", "text": "\x1b[2J\x07 gone", "line": "a\nb"}

    result = evaluate(question(DOUBLE), transport, 3, [])
    assert result.checks[0].message.isprintable()


def test_of_two_mistakes_that_agree_the_closer_one_is_told():
    """Would catch naming a mistake that other checks of the same question rule out."""
    wrong = WrongSolutions()
    wrong("q", says="Nothing is doubled.")(lambda x: x)
    wrong("q", says="Only positive sums are doubled.")(_doubled_if_positive)
    second = equals("positive", 1, lambda rng: [(np.ones(5),)], lambda x: 2 * x)
    first = equals("negative", 1, lambda rng: [(-np.ones(5),)], lambda x: 2 * x)
    result = result_of(_doubled_if_positive, first, second, wrong=wrong.of("q"))
    assert result.checks[0].diagnosis.says == "Only positive sums are doubled."


def test_a_mistake_that_raises_is_told_for_its_own_exception_alone():
    """Would catch every crash being called by the name of the one crash that the catalogue knows."""
    wrong = WrongSolutions()
    wrong("q", says="A width is asked of a vector.")(lambda x: x * x.shape[1])
    same = result_of(lambda x: 2 * x.shape[1] * x, DOUBLE, wrong=wrong.of("q"))
    other = result_of(lambda x: 2 * x * [1, 2][5], DOUBLE, wrong=wrong.of("q"))
    assert "IndexError" in same.checks[0].message and "IndexError" in other.checks[0].message
    assert same.checks[0].diagnosis.says == "A width is asked of a vector."
    assert other.checks[0].diagnosis is None


def _doubled_if_positive(x):
    return 2 * x if x.sum() > 0 else x


def test_the_exercise_is_found_from_below_and_listed_when_not(course):
    """Would catch notebooks that work in one folder only, and an error without the places looked at."""
    below = course / "exercises" / "deep" / "down"
    below.mkdir(parents=True)
    assert find_folder(SLUG, below) == course / "exercises" / "authoring" / SLUG
    with pytest.raises(ExerciseNotFound, match=SLUG):
        find_folder("99-nowhere")
    with pytest.raises(ExerciseNotFound, match="lower-case words"):
        find_folder("../01-columns")


def test_solutions_of_an_unknown_question_are_refused(course):
    """Would catch a catalogue that no check ever meets."""
    path = course / "exercises" / "authoring" / SLUG / "wrong.py"
    path.write_text(path.read_text().replace('@wrong("means"', '@wrong("mean"', 1))
    with pytest.raises(AuthoringError, match="mean"):
        load(SLUG)


def test_the_learners_side_needs_numpy_alone():
    """Would catch an import that a learner's environment may not have."""
    import subprocess
    import sys

    probe = "import sys; before = set(sys.modules); import clearcheck.notebook, clearcheck.worker, clearcheck.grade; "
    probe += "print(*sorted(set(sys.modules) - before))"
    done = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, timeout=120, check=True)
    loaded = {name.split(".")[0] for name in done.stdout.split()}
    foreign = {name for name in loaded if name not in sys.stdlib_module_names and not name.startswith("_")}
    assert foreign - {"cython_runtime"} <= {"numpy", "clearcheck"}
