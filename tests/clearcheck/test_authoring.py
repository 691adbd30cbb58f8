"""What an author may write, and how a question is evaluated."""

import re
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from clearcheck import AnswerProblem, Exercise, Question, RightSolutions, WrongSolutions, answers_to, equals, holds
from clearcheck.author.edits import EditError
from clearcheck.author.loading import AuthoringError, ExerciseNotFound, find_folder, load
from clearcheck.grading.evaluate import evaluate, generator
from clearcheck.grading.replies import Call
from clearcheck.worker.guarded_call import call_named

from .toy_notebook import SLUG


def question(*checks, **changes) -> Question:
    settings = {"id": "q", "title": "Q", "name": "answer", "minutes": 5, "difficulty": 1, "checks": checks, **changes}
    return Question(**settings)


def result_of(function, *checks, wrong=()):
    def transport(asked, packed):
        return call_named({"answer": function}, asked, packed)

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
        (lambda: Exercise("s", "t", "c", (question(DOUBLE),), core=("missing",)), "core names .'missing'.,"),
        (lambda: Exercise("s", "t", "c", (question(DOUBLE, uses=("r",)),), core=("q",)), "use .'r'.: name them, too"),
    ],
)
def test_an_exercise_that_cannot_work_is_refused_at_once(make, says):
    """Would catch an author's slip showing up first in a learner's notebook."""
    with pytest.raises(ValueError, match=says.replace("(", r"\(")):
        make()


def test_two_solutions_need_two_names():
    """Would catch one solution hiding another."""
    right = RightSolutions("q")
    right(abs)
    with pytest.raises(ValueError, match="two solutions named abs"):
        right(abs)


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


def test_a_change_is_told_beside_wrong_values():
    """Would catch a changed argument that is told only once the values are right."""

    def tripled(x):
        x *= 3
        return x

    message = result_of(tripled, DOUBLE).checks[0].message
    assert "this is off by" in message and message.endswith("so that the caller's data stays as it was.")
    assert "changed its argument 1 in place" in message


def test_arguments_that_were_changed_are_listed():
    """Would catch "its argument 1, 2"."""
    check = equals("values", 2, lambda rng: [(np.ones(3), np.ones(3), np.ones(3))], lambda *arrays: sum(arrays))

    def changes(*arrays, many):
        total = sum(arrays)
        for array in arrays[:many]:
            array += 1
        return total

    for many, says in ((1, "argument 1"), (2, "arguments 1 and 2"), (3, "arguments 1, 2 and 3")):
        message = result_of(partial(changes, many=many), check).checks[0].message
        assert f"changed its {says} in place" in message


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (lambda x: x.astype(np.float32).astype(float), True),
        (lambda x: x + 1e-7 * (x.max() > 1), False),
        (lambda x: np.where(x.max() > 1, x.astype(np.float32), x + 1e-3), False),
        (lambda x: np.where(x.max() > 1, x.astype(np.float32), x), False),
        (lambda x: x * (1 + 1e-4), False),
    ],
)
def test_single_precision_is_told_where_it_explains_every_case(answer, told):
    """Would catch a learner who is sent to look for float32 by numbers that are small, or by one case of several."""
    check = equals("values", 2, lambda rng: [(100 * rng.uniform(size=9),), (1e-3 * rng.uniform(size=9),)], lambda x: x)
    message = result_of(answer, replace(check, atol=1e-12)).checks[0].message
    assert message.endswith("In every case it is as little as a step in float32 loses.") is told


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

    def transport(asked, packed):
        calls.append(asked)
        return {"kind": "time"}

    result = evaluate(question(DOUBLE, equals("more", 1, cases, abs)), transport, 3, [])
    assert len(calls) == 1
    assert result.checks[1].message == "Not run, since an earlier call had to be stopped."


def test_a_forged_text_cannot_write_to_the_terminal():
    """Would catch control characters of a reply, which the learner's code may have forged, reaching a terminal."""

    def transport(asked, packed):
        return {"kind": "raised", "type": "Error", "text": "\x1b[2J\x07 gone", "line": "a\nb"}

    result = evaluate(question(DOUBLE), transport, 3, [])
    assert result.checks[0].message.isprintable()


def test_of_two_mistakes_that_agree_the_closer_one_is_told():
    """Would catch naming a mistake that other checks of the same question rule out."""
    wrong = WrongSolutions("q")
    wrong("Nothing is doubled.")(lambda x: x)
    wrong("Only positive sums are doubled.")(_doubled_if_positive)
    second = equals("positive", 1, lambda rng: [(np.ones(5),)], lambda x: 2 * x)
    first = equals("negative", 1, lambda rng: [(-np.ones(5),)], lambda x: 2 * x)
    result = result_of(_doubled_if_positive, first, second, wrong=wrong.of("q"))
    assert result.checks[0].diagnosis.message == "Only positive sums are doubled."


def test_a_mistake_that_fits_some_checks_alone_is_told_as_such():
    """Would catch asserting a mistake of the whole answer that agrees with it in one check by chance."""
    wrong = WrongSolutions("q")
    wrong("Nothing is doubled.")(lambda x: x)
    checks = (
        equals("positive", 1, lambda rng: [(np.ones(5),)], lambda x: 2 * x),
        equals("negative", 1, lambda rng: [(-np.ones(5),)], lambda x: 2 * x),
    )
    told = result_of(lambda x: abs(x), *checks, wrong=wrong.of("q")).checks
    assert told[0].diagnosis.sentence == (
        "In this check your result equals that of a known mistake (in others it does not), so it may be another: "
        "Nothing is doubled."
    )
    assert told[1].diagnosis is None
    passed = result_of(lambda x: x if x.sum() > 0 else 2 * x, *checks, wrong=wrong.of("q")).checks
    assert passed[1].passed and not passed[0].diagnosis.everywhere
    whole = result_of(lambda x: 1 * x, *checks, wrong=wrong.of("q")).checks
    assert all(check.diagnosis.sentence.startswith("Your result equals a known mistake: ") for check in whole)


def test_a_mistake_is_not_told_where_it_is_right_itself():
    """Would catch the name of any mistake for a result that is nearly right, as sharply as the check looks."""
    wrong = WrongSolutions("q")
    wrong("Large numbers overflow.")(lambda x: 2 * x)
    check = equals("double", 2, cases, lambda x: 2 * x, atol=1e-12)
    result = result_of(lambda x: 2 * x + 4e-10, check, wrong=wrong.of("q"))
    assert not result.checks[0].passed and result.checks[0].diagnosis is None


class Refused(ValueError):
    """A learner's own kind of ValueError."""


@pytest.mark.parametrize(
    ("kind", "expected"), [(ValueError, True), (Refused, True), (TypeError, False), (KeyError, False)]
)
def test_a_class_that_is_derived_from_an_exception_is_one(kind, expected):
    """Would catch refusing a learner's own ValueError where one is asked for."""

    def refuses(x):
        raise kind("no")

    seen = []

    def test(ask, rng):
        with pytest.raises(AnswerProblem):
            ask(1.0)
        seen.append(ask.calls[-1].raised("ValueError"))

    result_of(refuses, holds("refusal", 1, test))
    assert seen == [expected]
    assert not Call(b"", {"kind": "raised", "type": "Odd", "text": "", "bases": 7}).raised("ValueError")


def test_a_mistake_that_raises_is_told_for_its_own_exception_alone():
    """Would catch every crash being called by the name of the one crash that the catalogue knows."""
    wrong = WrongSolutions("q")
    wrong("A width is asked of a vector.")(lambda x: x * x.shape[1])
    same = result_of(lambda x: 2 * x.shape[1] * x, DOUBLE, wrong=wrong.of("q"))
    other = result_of(lambda x: 2 * x * [1, 2][5], DOUBLE, wrong=wrong.of("q"))
    assert "IndexError" in same.checks[0].message and "IndexError" in other.checks[0].message
    assert same.checks[0].diagnosis.message == "A width is asked of a vector."
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


def test_a_file_with_another_question_than_its_name_says_is_refused(course):
    """Would catch solutions that no check ever meets."""
    path = course / "exercises" / "authoring" / SLUG / "means.py"
    path.write_text(path.read_text().replace('id="means"', 'id="mean"', 1))
    with pytest.raises(AuthoringError, match=r"mean\.py: this file is missing"):
        load(SLUG)


def test_a_file_without_its_collections_is_refused(course):
    """Would catch mistakes that were collected under another name, and so never told."""
    path = course / "exercises" / "authoring" / SLUG / "means.py"
    path.write_text(path.read_text() + "\nwrong = None\n")
    with pytest.raises(AuthoringError, match=r"means\.py: wrong is NoneType; a WrongSolutions is expected"):
        load(SLUG)


def by_steps(table):
    total = 0
    for row in table:
        total = total + row
    for row in table:
        total = total + row
    return total / len(table) / 2


def countdown(n):
    return [n] + (countdown(n - 1) if n else [])


def edited(text: str) -> list:
    right, wrong = answers_to(question(DOUBLE))
    right(by_steps)
    right(countdown)
    wrong.edits(text)
    return wrong.entries


def test_an_edit_changes_the_lines_that_it_names():
    """Would catch an edit applied in another place, with another indentation, or to an answer edited before."""
    one, other = edited("""
    # by_steps
    ## doubled [a-section]: The sum is doubled,
    and nothing else.
    - return total / len(table) / 2
    + total = 2 * total
    + return total / len(table) / 2
    ...
    - total = 0
    + total = 1
    ## minus: The first row is taken away.
      total = 0
      for row in table:
    -     total = total + row
    +     total = total - row
    """)
    assert (one.name, one.section, one.base) == ("doubled", "a-section", "by_steps")
    assert one.says == "The sum is doubled, and nothing else."
    assert one.source.splitlines()[0] == "def doubled(table):"
    assert one.function(np.ones((3, 2))).tolist() == [(1 + 6) * 2 / 3 / 2] * 2
    assert other.change == ("-     total = total + row", "+     total = total - row")
    assert other.source.count("total - row") == 1 and other.function(np.ones((3, 2))).tolist() == [0, 0]


def test_an_edit_without_lines_as_they_are_changes_the_place_of_the_one_above():
    """Would catch a mistake that loses its place, keeps the new lines of the one above, or forgets where it says that
    a line stands.
    """
    above, below, third = edited("""
    # by_steps
    ## minus: The first row is taken away.
      total = 0
      for row in table:
    -     total = total + row
    +     total = total - row
    ## doubled: Each row counts twice.
    +     total = total + 2 * row
    ## alone: Only the last row counts.
    +     total = row
    """)
    assert above.function(np.ones((3, 2))).tolist() == [0, 0]
    assert below.source.count("total + 2 * row") == 1 and "total - row" not in below.source
    assert below.function(np.ones((3, 2))).tolist() == [(6 + 3) / 3 / 2] * 2
    assert third.change == ("-     total = total + row", "+     total = row")


def test_an_edited_answer_still_calls_itself():
    """Would catch a mistake whose recursion runs into the right answer."""
    line = "return [n] + (countdown(n - {}) if n else [])"
    text = f"# countdown\n## by_two: Every other.\n- {line.format(1)}\n+ {line.format(2)}"
    [found] = edited(text)
    assert found.function(4) == [4, 2, 0]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("- total = 0\n+ total = 1", '"- total = 0" stands before the first'),
        ("## two words: S.\n- total = 0", '"## two words: S." should be "## name: What the learner is told."'),
        ("## bare\n- total = 0", '"## bare" should be'),
        ("## none: S.", "mistake none: at least one changed line"),
        ("## far: S.\n- total = 7", "mistake far: by_steps has 0 places that read\ntotal = 7"),
        ("## twice: S.\n- total = total + row\n+ total = row", "mistake twice: by_steps has 2 places"),
        ("## where: S.\n+ total = 1", "mistake where: + total = 1\nadds a line, but not where"),
        (
            "## two: S.\n- total = 0\n+ total = 1\n...\n- return total / len(table) / 2\n## where: S.\n+ total = 2",
            "mistake where: + total = 2\nadds a line, but not where",
        ),
        (
            "## one: S.\n- total = 0\n+ total = 1\n# countdown\n## where: S.\n+ total = 2",
            "mistake where: + total = 2\nadds a line, but not where",
        ),
        ("## same: S.\n  total = 0", "mistake same: 0 lines are changed; 1 to 3 are expected"),
        ("## long: S.\n- total = 0" + 4 * "\n+ total = 1", "mistake long: 4 lines are changed"),
        ("## odd: S.\n- total = 0\n+ total = = 1", "mistake odd: by_steps is no Python any more"),
        ("## late: S.\n- total = 0\nso it is", '"so it is" has no sign in front'),
        (
            "# by_magic\n## lost: S.\n- total = 0",
            '"# by_magic" names no right answer: choose one of by_steps, countdown',
        ),
    ],
)
def test_an_edit_that_does_not_fit_is_an_error(text, says):
    """Would catch a mistake that is another one than its author meant: question, mistake and line are named."""
    with pytest.raises(EditError, match=re.escape(says)) as raised:
        edited(f"# by_steps\n{text}")
    assert 'Question "q"' in str(raised.value)


def test_the_learners_side_needs_numpy_alone():
    """Would catch an import that a learner's environment may not have."""
    import subprocess
    import sys

    modules = "clearcheck.notebook, clearcheck.worker.child, clearcheck.report.grade"
    probe = f"import sys; before = set(sys.modules); import {modules}; "
    probe += "print(*sorted(set(sys.modules) - before))"
    done = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, timeout=120, check=True)
    loaded = {name.split(".")[0] for name in done.stdout.split()}
    foreign = {name for name in loaded if name not in sys.stdlib_module_names and not name.startswith("_")}
    assert foreign - {"cython_runtime"} <= {"numpy", "clearcheck"}


def test_an_exercise_can_be_loaded_by_several_threads(course):
    """Catches a thread whose half-imported files another one throws away, as happened to a class in containers."""
    with ThreadPoolExecutor(4) as threads:
        loaded = list(threads.map(load, [SLUG] * 16))
    assert {tuple(question.id for question in one.exercise.questions) for one in loaded} == {("means", "ranges")}
