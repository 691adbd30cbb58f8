"""A lint of the graded inputs: they must be able to tell right from wrong.

Each rule stands for a wrong solution that well-known courses let pass: equal sizes hide a missing transpose, saturated
scores hide a missing scale, small ones an overflow.
"""

from itertools import combinations

import numpy as np
import pytest
from clearcheck.calls import call_named
from clearcheck.evaluate import Ask
from clearcheck.transcript import same_reply
from clearcheck.values import pack

from tests.exercises.authored import FRESH, authored, cases, comparisons, questions

# The axes of the arguments of each question that takes arrays; "square": a check in which widths agree on purpose.
AXES = {
    ("01-tokens", "embed"): ("DV", "N"),
    ("02-attention", "softmax"): ("SN",),
    ("02-attention", "lookup"): ("KN", "KS", "VS"),
    ("02-attention", "hull"): ("DC", "DN"),  # C corners, D + 1 of them
    ("02-attention", "signs"): ("SN",),
    ("02-attention", "gradient"): ("DS", "SN", "DN"),
    ("03-self-attention", "weights"): ("SN",),
    ("03-self-attention", "ladder"): ("DN", "KD", "KD"),
    ("03-self-attention", "rungs"): ("DN", "NN"),
    ("03-self-attention", "scaling"): ("KN", "KS", "VS"),
    ("03-self-attention", "matrix-form"): ("ND", "KD", "KD", "VD"),
    ("03-self-attention", "equivariance"): ("DN", "KD", "KD", "VD"),
    ("04-multi-head", "join"): ("BHNK",),
    ("04-multi-head", "concatenate"): ("DN", "HKD", "HKD", "HVD", "HDV"),
    ("05-feed-forward", "mlp"): ("DN", "FD", "F", "DF", "D"),
    ("05-feed-forward", "gelu"): ("DN",),
    ("05-feed-forward", "backward"): ("DN", "FD", "F", "DF", "DN"),
    ("07-residual-norm", "layer-norm"): ("DN", "D", "D"),
    ("07-residual-norm", "norms"): ("BDN",),
    ("07-residual-norm", "prints"): ("DN", "DN"),
    ("07-residual-norm", "museum"): ("BND", "DD"),
    ("07-residual-norm", "block"): ("DN",),
    ("07-residual-norm", "depth"): ("MDD", "D"),
    ("07-residual-norm", "backward"): ("DN", "D", "DN"),
}
ALIKE_ON_PURPOSE = {
    ("matrix-form", "square maps"),
    ("mlp", "equal sizes"),
    ("backward", "equal sizes"),
    ("prints", "squares that hide a slip"),
}
# Scores of the arguments, for the questions whose softmax they enter.
SCORES = {
    ("02-attention", "softmax"): lambda scores, axis: scores,
    ("02-attention", "lookup"): lambda Q, K, V, temperature: K.T @ Q / temperature,
    ("02-attention", "gradient"): lambda X, scores, dY: scores,
    ("03-self-attention", "weights"): lambda scores: scores,
    ("03-self-attention", "scaling"): lambda Q, K, V: K.T @ Q / np.sqrt(len(K)),
    ("03-self-attention", "matrix-form"): lambda X, U_q, U_k, U_v: X @ U_k.T @ U_q @ X.T / np.sqrt(len(U_q)),
    ("03-self-attention", "equivariance"): lambda X, U_q, U_k, U_v: X.T @ U_k.T @ U_q @ X / np.sqrt(len(U_q)),
    ("04-multi-head", "concatenate"): lambda X, U_q, U_k, U_v, U_o: (
        (U_k @ X).swapaxes(1, 2) @ (U_q @ X) / np.sqrt(U_q.shape[1])
    ),
    ("04-multi-head", "groups"): lambda q, k, v: (
        q @ k.repeat(q.shape[1] // k.shape[1], axis=1).swapaxes(2, 3) / np.sqrt(q.shape[3])
    ),
    ("04-multi-head", "museum"): lambda x, W_q, W_k, W_v, W_o, n_heads, causal: (
        np.stack(np.split(x @ W_q, n_heads, axis=2))
        @ np.stack(np.split(x @ W_k, n_heads, axis=2)).swapaxes(2, 3)
        / np.sqrt(W_q.shape[1] // n_heads)
    ),
}


def question_of(slug, id):
    return authored(slug).exercise.question(id)


def sizes(axes, args) -> dict[str, int]:
    """The size of each named axis; the same name must have the same size everywhere. Numbers have no axes."""
    found = {}
    arrays = [value for value in args if isinstance(value, np.ndarray)]
    for names, array in zip(axes, arrays, strict=True):
        for name, size in zip(names, array.shape, strict=True):
            assert found.setdefault(name, size) == size
    return found


@pytest.mark.parametrize(("slug", "id"), AXES)
def test_sizes_differ_and_do_not_divide_each_other(slug, id):
    """Catches inputs on which a transposed or reshaped table fits by chance; one token is the only exception."""
    for check in comparisons(question_of(slug, id)):
        for args in cases(check):
            found = [size for size in sizes(AXES[slug, id], args).values() if size > 1]
            if (id, check.name) in ALIKE_ON_PURPOSE:
                assert len(set(found)) < len(found)
                continue
            assert all(max(pair) % min(pair) for pair in combinations(found, 2)), (check.name, found)


@pytest.mark.parametrize(("slug", "id"), AXES)
def test_there_is_a_sequence_of_one_token(slug, id):
    """Catches a `squeeze` and a broadcast that only a length of 1 shows: one target, and one source where S differs."""
    found = [sizes(AXES[slug, id], args) for check in comparisons(question_of(slug, id)) for args in cases(check)]
    for length in {"N", "S"} & found[0].keys():
        assert any(case[length] == 1 for case in found), length


@pytest.mark.parametrize(("slug", "id"), SCORES)
def test_scores_are_ordinary_saturated_and_huge(slug, id):
    """Catches inputs that hide the scale (all saturated) or an overflow (none huge)."""
    first, *others = comparisons(question_of(slug, id))
    ordinary = [SCORES[slug, id](*args) for args in cases(first)]
    assert 0.4 < np.std(np.concatenate([scores.ravel() for scores in ordinary if scores.size > 9])) < 2.5
    largest = [np.abs(SCORES[slug, id](*args)).max() for check in others for args in cases(check)]
    assert any(20 < size < 2_000 for size in largest)
    assert any(size > 5_000 for size in largest)


@pytest.mark.parametrize(("slug", "id"), questions())
def test_inputs_are_fresh_and_double(slug, id):
    """Catches a case that can be learned by heart, and one in single precision; ids are whole numbers."""
    for check in comparisons(question_of(slug, id)):
        one, other = cases(check, FRESH), cases(check, FRESH + 1)
        assert pack(one) != pack(other), check.name
        arrays = [value for args in one for value in args if isinstance(value, np.ndarray)]
        assert all(array.dtype in (np.float64, np.int64) for array in arrays)


@pytest.mark.parametrize("layout", ["rows", "columns"])
def test_the_five_sizes_of_a_drill_differ(layout):
    check = {check.name: check for check in question_of("03-self-attention", "dimensions").checks}[layout]
    for *given, _ in cases(check):
        given = [size for size in given if size > 1]
        assert len(given) >= 4
        assert all(max(pair) % min(pair) for pair in combinations(given, 2))


@pytest.mark.parametrize("id", ["patches", "rows"])
def test_sides_and_heads_differ(id):
    """Catches an image or a split into heads on which exchanged axes fit: equal sides, grid, heads or widths."""
    for check in comparisons(question_of("01-tokens", id))[:1]:
        for args in cases(check):
            if id == "patches":
                (channels, rows, columns), size = args[0].shape, args[1]
                found = [channels, size, rows // size, columns // size]
            else:
                found = [len(args[0]), args[2], args[0].shape[1] // args[2]]
            assert len(set(found)) == len(found)


def asked_by_properties(question, right) -> list[tuple]:
    """The arguments with which the checks of properties call a right solution."""
    ask = Ask(lambda name, packed, seconds: call_named({name: right}, name, packed, seconds), question)
    for check in question.checks:
        if check not in comparisons(question):
            assert check.run(ask, np.random.default_rng(FRESH)) is None
    return [call.args for call in ask.calls]


@pytest.mark.parametrize(("slug", "id"), questions())
def test_no_two_mistakes_look_the_same(slug, id):
    """Catches an ambiguous diagnosis: on some graded case any two wrong solutions give different replies."""
    question = question_of(slug, id)
    packed = [pack(args) for check in comparisons(question) for args in cases(check)]
    packed += [pack(args) for args in asked_by_properties(question, authored(slug).right.of(id)[0].function)]

    def replies(entry):
        with np.errstate(all="ignore"):
            return [call_named({"answer": entry.function}, "answer", args, 10.0) for args in packed]

    found = {entry.name: replies(entry) for entry in authored(slug).wrong.of(id)}
    alike = [
        (one, other)
        for one, other in combinations(found, 2)
        if all(same_reply(a, b) for a, b in zip(found[one], found[other], strict=True))
    ]
    assert not alike


@pytest.mark.parametrize(("slug", "id"), questions())
def test_enough_solutions(slug, id):
    """Each question is proven by at least 3 right and 8 wrong solutions; each wrong one says where to read on."""
    assert len(authored(slug).right.of(id)) >= 3
    wrong = authored(slug).wrong.of(id)
    assert len(wrong) >= 8
    assert all(entry.says.endswith(".") and entry.section for entry in wrong)
    assert len({entry.says for entry in wrong}) == len(wrong)
