"""What the numbers of a wrong result show, whatever the question."""

import numpy as np
import pytest
from clearcheck import Inputs, WrongSolutions, axes, equals
from clearcheck.grading.misfits import why_shapes_misfit
from clearcheck.grading.pair import Pair
from clearcheck.grading.relations import RELATIONS, relation_of

from .small_questions import result_of

RNG = np.random.default_rng(5)
X = RNG.normal(size=(5, 7))
TABLE = RNG.normal(size=(2, 5, 7))
SHARES = np.exp(TABLE) / np.exp(TABLE).sum(1, keepdims=True)
ROWS = np.arange(12).reshape(4, 3)
SLIPS = {
    "overflow": (np.array([1.0, np.nan, 3.0, 4.0]), np.arange(1.0, 5), (np.array([900.0, 1.0]),)),
    "given_back": (X, X.T @ X, (X,)),
    "inverted": (X > 0, X <= 0),
    "other_layout": (X.T.copy(), X),
    "other_places": (X.T.copy().reshape(X.shape), X),
    "lost_axis": (TABLE.mean(0), TABLE),
    "power": (np.exp(X), X),
    "factor": (-X, X),
    "amount": (X + 1, X),
    "other_sums": (np.exp(TABLE) / np.exp(TABLE).sum(2, keepdims=True), SHARES),
    "one_end": (np.vstack([X[:-1], X[:1]]), X),
    "not_a_number": (np.where(X > 0, X, np.nan), X),
    "other_order": (ROWS[[1, 0, 3, 2]], ROWS),
    "unspread": (TABLE[:, :1], np.repeat(TABLE[:, :1], 5, axis=1)),
    "cut_short": (X[:3], X),
    "rounded": (X.astype(np.float32).astype(float), X),
    "only_the_first": (np.stack([TABLE[0], TABLE[1] ** 3]), TABLE),
    "left_at_0": (np.where(X > 0.5, X, 0), np.where(X > 0, X, 0)),
    "along_an_axis": (X * RNG.uniform(1, 2, size=(5, 1)), X),
}


@pytest.mark.parametrize("name", SLIPS)
def test_each_relation_is_seen(name):
    """Catches a slip that is told nothing but how far it is off."""
    assert relation_of([Pair(*SLIPS[name])]).name == name


def test_no_relation_is_left_out():
    """Catches a relation that is never tried."""
    assert sorted(SLIPS) == sorted(relation.__name__ for relation in RELATIONS)


@pytest.mark.parametrize(
    "came", [X + RNG.normal(size=X.shape), X**3, np.round(X), X[:, ::2], X.astype(complex), X[0, 0]]
)
def test_other_numbers_stand_in_no_relation(came):
    """Catches a name for what is wrong in a way of its own."""
    assert relation_of([Pair(np.asarray(came), X)]) is None


@pytest.mark.parametrize(
    ("came", "right"),
    [
        (np.vstack([X[:1], X[1:] ** 3]), X),  # the first token of a causal layer is right whatever the scale
        ((X * (1 + 1e-4)).round(3), X),
        (X[1:4], X),
        (ROWS[[1, 1, 0, 2]], ROWS),
        (np.where(X > 0, 0, X**3), X),
    ],
)
def test_what_is_right_in_part_by_chance_has_no_name(came, right):
    """Catches a name for a first token that is always right, rough numbers, rows of the middle, and a row twice."""
    assert relation_of([Pair(came, right)]) is None


def test_a_relation_holds_for_every_wrong_result():
    """Catches a name told from one case while another contradicts it."""
    assert relation_of([Pair(2 * X, X), Pair(2 * TABLE, TABLE)]).sentence.endswith("twice as large as they should be.")
    assert relation_of([Pair(2 * X, X), Pair(-TABLE, TABLE)]).sentence.endswith("look for a scale or a count.")
    assert relation_of([Pair(2 * X, X), Pair(TABLE + 1, TABLE)]) is None
    assert relation_of([]) is None


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (lambda x: x.sum(axis=1), "N times too large: a sum where a mean is asked for, or a division left out."),
        (lambda x: x.sum(axis=1) / x.shape[1] ** 0.5, "√N times too large: look at what is divided by a root."),
        (
            lambda x: x.sum(axis=1) / (x.shape[1] - 1),
            "off as if N − 1 were counted in place of N, or the other way round.",
        ),
        (lambda x: x.mean(axis=1) / np.log(2), "off by the factor between the natural logarithm and that of base 2."),
        (lambda x: x.mean(axis=1) * x[0, 0], "off by one and the same factor: look for a scale or a count."),
    ],
)
def test_a_factor_is_told_by_the_letter_of_the_task(answer, told):
    """Catches a missing scale that hears a number, in two cases of different sizes."""

    def cases(rng):
        return [(rng.normal(size=(5, n)),) for n in (3, 7)]

    check = equals("means", 2, cases, lambda x: x.mean(axis=1))
    result = result_of(answer, check, inputs=Inputs(axes("DN")))
    assert result.checks[0].diagnosis.sentence == f"All numbers of your result are {told}"
    assert result.checks[0].diagnosis.seen and "this is off by" in result.checks[0].message


def test_one_number_and_equal_numbers_tell_no_relation():
    """Catches a name by chance: any two numbers differ by a factor, and by an amount."""
    for came, right in ((0.7, 0.3), (np.full(8, 0.7), np.full(8, 0.3))):
        assert relation_of([Pair(np.asarray(came), np.asarray(right))]) is None


def test_a_known_mistake_is_told_before_what_the_numbers_show():
    """Catches a general remark in the place of the question's own words."""
    wrong = WrongSolutions("q")

    @wrong("You add the tokens up.")
    def summed(x):
        return x.sum(axis=1)

    check = equals("means", 2, lambda rng: [(rng.normal(size=(5, 7)),)], lambda x: x.mean(axis=1))
    diagnosis = result_of(lambda x: x.sum(1), check, wrong=wrong.of("q")).checks[0].diagnosis
    assert diagnosis.message == "You add the tokens up." and not diagnosis.seen


def test_a_part_that_is_not_asked_for_changes_nothing():
    """Catches a relation looked for in entries whose points another check gives."""
    check = equals("sum", 1, lambda rng: [(rng.normal(size=8),)], lambda x: {"a": x, "b": 2 * x}, parts=("a",))
    told = result_of(lambda x: {"a": -x, "b": x**3}, check).checks[0].diagnosis
    assert told.sentence == "All numbers of your result have the wrong sign."


@pytest.mark.parametrize(
    ("operation", "told"),
    [
        ("(4, 7) @ (5, 7)", "they would be with its second factor transposed."),
        ("(4, 7) @ (4, 5)", "they would be with its first factor transposed."),
        ("(4, 7) @ (5, 4)", "they would be with its factors exchanged."),
        ("(4, 7) @ (4, 7)", "with its second factor transposed or with its first factor transposed."),
        ("(4, 7) @ (2, 3)", "not equal."),
        ("(4, 7) - (4,)", "keepdims=True keeps it, with length 1."),
        ("(2, 4, 7) / (2, 4)", "keepdims=True keeps it, with length 1."),
        ("(4, 7) + (7, 4)", "with one of them transposed."),
        ("(4, 7) + (3, 2)", "whose shapes do not fit."),
        ("reshape((4, 7), (4, 3))", "than there are."),
        ("concatenate((4, 7), (5, 6), axis 0)", "the one of the joint."),
        ("where((4, 7), (7, 4))", "which axes the mask should have."),
        ("einsum(ab,bc->ac, (4, 7), (5, 6))", "as many letters as axes."),
        ("sum((4, 7), (2,))", "that the array does not have."),
    ],
)
def test_shapes_that_do_not_fit_say_what_would(operation, told):
    """Catches an error of shapes whose reader is left with its numbers."""
    assert why_shapes_misfit(f"{operation} cannot be").endswith(told)
    assert why_shapes_misfit(operation) == ""


def test_an_error_of_shapes_has_a_name_where_the_question_knows_none():
    """Catches an answer that raises in every case and hears no more than the words of NumPy."""

    def answer(x):
        return x - x.max(axis=1)

    check = equals("rest", 1, lambda rng: [(rng.normal(size=(4, n)),) for n in (7, 9)], lambda x: x - x.max(1)[:, None])
    diagnosis = result_of(answer, check).checks[0].diagnosis
    assert diagnosis.mistake == "shapes" and "keepdims=True" in diagnosis.sentence


def test_an_error_is_no_reason_for_a_wrong_result_before_it():
    """Catches a mask blamed, beside numbers that came without any mask and are wrong already."""

    def answer(x, mask=None):
        y = x + 1
        return y if mask is None else np.where(mask.T, y, 0.0)

    def cases(rng):
        return [(rng.normal(size=(4, 7)),), (rng.normal(size=(4, 7)), np.ones((4, 7)) > 0)]

    told = []
    for added in (0, 1):
        check = equals("kept", 1, cases, lambda x, mask=True, added=added: (x + added) * mask)
        told.append(result_of(answer, check).checks[0].diagnosis.sentence)
    assert told[1].startswith("A mask and what it hides")
    assert told[0] == f"With other arguments of this check your answer raises an error. {told[1]}"


@pytest.mark.parametrize(("how", "told"), [("function", "keepdims=True"), ("tensors", "keepdim=True")])
def test_the_kept_axis_is_named_as_the_library_has_it(how, told):
    """Catches advice in the words of NumPy for an answer in PyTorch."""
    assert told in why_shapes_misfit("(4, 7) - (4,) cannot be", how)
