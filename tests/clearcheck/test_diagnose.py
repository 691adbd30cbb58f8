"""How a result is compared with many known mistakes."""

import itertools

import pytest
from clearcheck import RightSolutions, WrongSolutions, equals, holds
from clearcheck.grading import evaluate

from .small_questions import result_of

DRAWN = map(float, itertools.count(100, 7))


def test_arguments_are_not_packed_for_each_mistake(monkeypatch):
    """Would catch a catalogue whose every entry costs another packing of the same arguments, in every call."""
    wrong, packed = WrongSolutions("q"), []
    for n in range(9):
        wrong(f"You add {n}.")(rename_function(f"adds_{n}", lambda x, n=n: x + n))
    monkeypatch.setattr(evaluate, "pack", lambda args, pack=evaluate.pack: packed.append(args) or pack(args))
    check = equals("values", 2, lambda rng: [(rng.normal(),)], lambda x: x - 1)
    result = result_of(lambda x: x + 7, check, wrong=wrong.of("q"))
    assert result.checks[0].diagnosis.message == "You add 7."
    assert len(packed) == 2  # for the answer, and for the one mistake that it equals, which must not pass the check


def test_a_float_for_a_count_is_not_told_as_a_mistake_with_the_right_count():
    """Would catch 9.0 for 9 named by a mistake that shows on other arguments only, and gives 9 here."""
    wrong = WrongSolutions("q")
    wrong("You take the image for a square.")(rename_function("square_assumed", lambda rows, columns: rows**2))
    check = equals("squares", 2, lambda rng: [(n, n) for n in rng.integers(3, 9, 2).tolist()], lambda a, b: a * b)
    result = result_of(lambda rows, columns: float(rows * columns), check, wrong=wrong.of("q"))
    assert "a float" in result.checks[0].message and result.checks[0].diagnosis is None


def test_a_mistake_in_one_entry_is_told_whatever_the_others_are():
    """Would catch two mistakes in one answer, each of a check of its own, that together are no known mistake."""
    wrong = WrongSolutions("q")
    wrong("You add 2.")(rename_function("adds_two", lambda x: {"sum": x + 2, "double": 2 * x}))
    wrong("You double twice.")(rename_function("doubles_twice", lambda x: {"sum": x + 1, "double": 4 * x}))
    checks = (
        equals(key, 1, lambda rng: [(rng.normal(),)], lambda x: {"sum": x + 1, "double": 2 * x}, parts=(key,))
        for key in ("sum", "double")
    )
    result = result_of(lambda x: {"sum": x + 2, "double": 4 * x}, *checks, wrong=wrong.of("q"))
    assert [check.diagnosis.message for check in result.checks] == ["You add 2.", "You double twice."]
    assert all(check.diagnosis.everywhere for check in result.checks)


@pytest.mark.parametrize(("other", "doubted"), [("rim", False), ("area", True)])
def test_a_mistake_in_what_is_asked_for_by_one_name_is_not_doubted(other, doubted):
    """Would catch "it may be another" said to who makes a mistake in the area alone, since the rim is right; and no
    doubt where other areas are right.
    """
    wrong = WrongSolutions("q")
    wrong("You take it for a square.")(rename_function("square", lambda what, a, b: area_or_rim(what, a, a)))
    checks = (
        equals("small", 1, lambda rng: [("area", 2, 7), ("area", 3, 5)], area_or_rim),
        equals("large", 1, lambda rng: [(other, 20, 70), (other, 30, 50)], area_or_rim),
        equals("both", 1, lambda rng: [("rim", 4, 5), ("area", 6, 6)], area_or_rim),
    )

    def answer(what, a, b):
        return a * a if what == "area" and a < 9 else area_or_rim(what, a, b)

    told = result_of(answer, *checks, wrong=wrong.of("q")).checks
    assert [check.passed for check in told] == [False, True, True]
    assert told[0].diagnosis.everywhere is not doubted


def area_or_rim(what, a, b):
    return a * b if what == "area" else 2 * (a + b)


@pytest.mark.parametrize(("noise", "everywhere"), [(lambda: next(DRAWN), True), (lambda: 0.0, False)])
def test_a_passed_check_need_not_give_the_same_numbers(noise, everywhere):
    """Would catch a diagnosis that is doubted since the learner draws other numbers than the author, in a check that
    both pass; and one that is not doubted although the mistake fails what the learner passes.
    """
    wrong = WrongSolutions("q")
    wrong("You double.")(rename_function("doubles", lambda x: 2 * x + (noise() if x < 0 else 0.0)))

    def check_difference(ask, rng):
        return "Two calls gave the same number." if ask(-1.0) == ask(-2.0) + 2 else None

    checks = equals("values", 1, lambda rng: [(rng.uniform(),)], lambda x: x), holds("drawn", 1, check_difference)
    result = result_of(lambda x: 2 * x + (next(DRAWN) if x < 0 else 0.0), *checks, wrong=wrong.of("q"))
    assert [check.passed for check in result.checks] == [False, True]
    assert result.checks[0].diagnosis.everywhere is everywhere


def test_another_structure_than_the_parts_takes_no_other_check_its_name():
    """Would catch a tuple for a dict in one check whose keys are no places, and that no mistake is told any more."""
    wrong = WrongSolutions("q")
    wrong("You add 2.")(rename_function("adds_two", lambda x: {"sum": x + 2}))
    checks = [
        equals(name, 1, lambda rng, x=x: [(x,)], lambda x: {"sum": x + 1}, parts=("sum",))
        for name, x in (("below", -1.0), ("above", 1.0))
    ]
    result = result_of(lambda x: {"sum": x + 2} if x > 0 else (x + 2,), *checks, wrong=wrong.of("q"))
    assert result.checks[0].diagnosis is None and result.checks[1].diagnosis.message == "You add 2."


@pytest.mark.parametrize(
    ("message", "told"),
    [
        ("there is no room for {}", True),
        ("{} is too much, the limit being {}", True),
        ("{:,} is too much", True),
        ("too much", True),
        ("{} is more than 1500", False),
    ],
)
def test_exceptions_raised_on_purpose_for_other_figures_are_told_apart(message, told):
    """Would catch a refusal for another reason, whose text says so, told as a known mistake that refuses as well."""
    wrong = WrongSolutions("q")
    wrong("You refuse all above 1,000.")(refuses_too_much)

    def answer(x):
        if x > 1000:
            raise ValueError(message.format(x, 1000))
        return x

    check = equals("values", 2, lambda rng: [(1,), (2000,)], lambda x: x)
    result = result_of(answer, check, wrong=wrong.of("q"))
    assert (result.checks[0].diagnosis is not None) is told


def refuses_too_much(x):
    if x > 1000:
        raise ValueError(f"{x} is above 1000")
    return x


def rename_function(name, function):
    function.__name__ = name
    return function


TWO = """
# in_steps
## shifted: You shift by 1.
- shift = 0
+ shift = 1
## doubled: You double.
- factor = 1
- factor = factor * 1
+ factor = 2
## tripled: You triple.
- factor = factor * 1
+ factor = factor * 3
## no_tokens: You leave the tokens out.
- count = x.shape[1]
- total = x.sum(axis=1)
+ total = x.sum(axis=1)
+ count = 1
## early: You return too early.
- total = x.sum(axis=1)
+ return x
"""


def in_steps(x):
    shift = 0
    factor = 1
    factor = factor * 1
    count = x.shape[1]
    total = x.sum(axis=1)
    return factor * total / count + shift


def mistakes_of_two_places():
    right = RightSolutions("q")
    right(in_steps)
    wrong = WrongSolutions("q", right=right)
    wrong.edits(TWO)
    return wrong.of("q")


MEANS = equals("means", 2, lambda rng: [(rng.normal(size=(3, n)),) for n in (4, 5)], lambda x: x.mean(axis=1))


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (lambda x: 2 * x.mean(axis=1) + 1, "You shift by 1. And: You double."),
        (lambda x: 3 * x.sum(axis=1), "You triple. And: You leave the tokens out."),
        (lambda x: x.sum(axis=1) + 1, "You shift by 1. And: You leave the tokens out."),
    ],
)
def test_two_known_mistakes_in_one_answer_are_both_told(answer, told):
    """Catches a first answer with two slips that is told neither, since no single mistake gives its result."""
    diagnosis = result_of(answer, MEANS, wrong=mistakes_of_two_places()).checks[0].diagnosis
    assert diagnosis.sentence == f"Your answer does what two known mistakes together do: {told}"


def test_one_mistake_is_not_told_as_two():
    """Catches a second mistake told to who made one."""
    diagnosis = result_of(lambda x: 2 * x.mean(axis=1), MEANS, wrong=mistakes_of_two_places()).checks[0].diagnosis
    assert diagnosis.sentence == "Your result equals a known mistake: You double."


def test_two_mistakes_have_to_fit_every_check():
    """Catches two mistakes told from one check, where another contradicts them."""
    wide = equals("wide", 2, lambda rng: [(rng.normal(size=(3, 9)),)], lambda x: x.mean(axis=1))

    def answer(x):
        return x.mean(axis=1) ** 3 if x.shape[1] == 9 else 2 * x.mean(axis=1) + 1

    checks = result_of(answer, MEANS, wide, wrong=mistakes_of_two_places()).checks
    assert not any(check.diagnosis and check.diagnosis.two for check in checks)


def test_mistakes_of_one_place_are_not_put_together():
    """Catches a text in which the second mistake has overwritten the first."""
    entries = {entry.name: entry for entry in mistakes_of_two_places()}
    assert entries["doubled"].together_with(entries["tripled"]) is None
    both = entries["no_tokens"].together_with(entries["shifted"])
    assert [line.strip() for line in both.source.splitlines()[1:]] == [
        "shift = 1",
        "factor = 1",
        "factor = factor * 1",
        "total = x.sum(axis=1)",
        "count = 1",
        "return factor * total / count + shift",
    ]
    assert both.source.startswith("def no_tokens(x):")
