"""Answers that raise: told the mistake they hold, whatever their names, and no other."""

import linecache

import numpy as np
import pytest
from clearcheck import WrongSolutions, equals, holds
from clearcheck.grading.replies import same_reply
from clearcheck.worker.call_request import CallRequest
from clearcheck.worker.guarded_call import call_named, exception_reply
from clearcheck.worker.values import pack
from inline_snapshot import snapshot

from .raising import (
    ALIKE,
    SAYS,
    UNRELATED,
    keys_times_queries_turned,
    no_transpose,
    plain_attention,
    queries_keys_values,
    weights_transposed,
)
from .small_questions import result_of

CHECK = equals("values", 2, queries_keys_values, plain_attention)


def diagnosed_mistake(answer) -> str | None:
    """The mistake that an answer is told, when the catalogue holds all of those above."""
    wrong = WrongSolutions("q")
    for function, says in SAYS.items():
        wrong(says)(function)
    result = result_of(answer, CHECK, wrong=wrong.of("q"))
    assert result.points == 0
    diagnosis = result.checks[0].diagnosis
    if diagnosis is None or diagnosis.seen:
        return None
    assert diagnosis.sentence.startswith("Your function fails as a known mistake does: ")
    return diagnosis.message


@pytest.mark.parametrize(("answer", "mistake"), [*ALIKE.items(), *((function, function) for function in SAYS)])
def test_the_same_mistake_is_told_in_other_words(answer, mistake):
    """Would catch a diagnosis that knows a crash by its spelling: names, spaces, lines, the place in a helper."""
    assert diagnosed_mistake(answer) == SAYS[mistake]


@pytest.mark.parametrize("answer", UNRELATED)
def test_an_unrelated_exception_is_told_no_mistake(answer):
    """Would catch a mistake told from the type of an exception, or from a message that many products share."""
    assert diagnosed_mistake(answer) is None


def test_two_products_with_one_message_are_told_apart():
    """Would catch a proof by luck above: NumPy's own words for the two are indeed the same."""
    args = queries_keys_values(np.random.default_rng(3))[0]
    replies = [reply_of(function, args) for function in (weights_transposed, keys_times_queries_turned)]
    assert replies[0]["text"] == replies[1]["text"] and replies[0]["type"] == replies[1]["type"] == "ValueError"
    assert [reply["operation"] for reply in replies] == ["(6, 7) @ (5, 7) cannot be", "(4, 7) @ (5, 4) cannot be"]
    assert not same_reply(*replies)


def reply_of(function, args):
    return call_named({"answer": function}, CallRequest("answer", 5.0), pack(args))


@pytest.mark.parametrize("answer", [plain_attention, lambda Q, K, V: np.einsum("vs,ks,kn->vn", V, K, Q)])
def test_a_right_answer_is_told_nothing(answer):
    """Would catch a diagnosis beside full points."""
    wrong = WrongSolutions("q")
    wrong("The keys are not transposed.")(no_transpose)
    result = result_of(answer, CHECK, wrong=wrong.of("q"))
    assert result.points == 2 and result.checks[0].diagnosis is None


LAYER = """
def hide(scores, mask):
    return np.where(mask, scores, -np.inf)
"""
OTHER_LAYER = """
def hide(looks, shown):
    hidden = np.logical_not(shown)
    return np.where(hidden, -np.inf, looks)
"""
BLOCK = """
def answer(scores, mask):
    return hide(scores, mask.T) + 1
"""


def test_an_error_in_a_function_of_another_cell_is_told():
    """Would catch a mistake that a learner is told by the shapes alone, since what raised stands in another cell of
    theirs, and in another file of the author's.
    """
    author = {"__package__": "an_exercise", "np": np}
    function = _written(BLOCK, {**author, "hide": _written(LAYER, dict(author))["hide"]})["answer"]
    wrong = WrongSolutions("q")
    wrong("You turn the mask.")(function)
    notebook: dict = {"np": np}
    answer = _written(BLOCK, _written(OTHER_LAYER, notebook))["answer"]
    check = equals("values", 2, lambda rng: [(np.ones((4, 7)), np.ones((4, 7)) > 0)], lambda x, mask: x + 1)
    diagnosis = result_of(answer, check, wrong=wrong.of("q")).checks[0].diagnosis
    assert diagnosis.sentence == snapshot("Your function fails as a known mistake does: You turn the mask.")


def _written(cell: str, names: dict) -> dict:
    """The namespace in which a cell, or a file, was run."""
    file = f"<{cell}>"
    linecache.cache[file] = (len(cell), None, cell.splitlines(keepends=True), file)
    exec(compile(cell, file, "exec"), names)
    return names


def test_one_call_with_a_value_is_enough_to_tell_an_exception_apart():
    """Would catch a mistake told from its exceptions while its values differ."""

    def cases(rng):
        return [(np.ones((5, 5)), np.ones((5, 5)) + 1), (np.ones((4, 5)), np.ones((4, 5)))]

    wrong = WrongSolutions("q")
    wrong("Nothing is transposed.")(lambda a, b: a @ b)
    check = equals("values", 2, cases, lambda a, b: a.T @ b)
    alike = result_of(lambda left, right: left @ right, check, wrong=wrong.of("q"))
    other = result_of(lambda left, right: left @ right / 2, check, wrong=wrong.of("q"))
    assert alike.checks[0].diagnosis.sentence == snapshot("Your result equals a known mistake: Nothing is transposed.")
    assert other.checks[0].diagnosis.seen


def test_exceptions_raised_on_purpose_agree_by_their_type_where_values_do():
    """Would catch asking learners for the wording of our own ValueError, and telling a mistake from that type alone."""

    def large_alone(x):
        if x > 10:
            raise ValueError("too large")
        return x

    def none_at_all(x):
        raise ValueError("no")

    def refuses(ask, rng):
        for x in (-1, 99):
            try:
                ask(x)
            except Exception:
                continue
            return "A ValueError is expected."
        return None

    wrong = WrongSolutions("q")
    wrong("Only large numbers are refused.")(large_alone)
    wrong("Everything is refused.")(none_at_all)

    def own_answer(x):
        if x >= 11:
            raise ValueError(f"{x} is not allowed")
        return x

    def raises_too(x):
        raise ValueError("the shapes are odd")

    result = result_of(own_answer, holds("refuses", 2, refuses), wrong=wrong.of("q"))
    assert result.checks[0].diagnosis.message == "Only large numbers are refused."
    check = equals("values", 1, lambda rng: [(1,), (2,)], abs)
    assert result_of(raises_too, check, wrong=wrong.of("q")).checks[0].diagnosis is None


def test_only_values_that_are_asked_for_stand_in_an_operation():
    """Catches hidden inputs that a diagnosis, and so a report, would hold: entries of arrays, texts, fractions."""

    def answer(x, secret, rate, n):
        return x[secret, n + 1] * rate

    operation = reply_of(answer, [np.array([0.125, 3.0]), "hidden", 0.0625, 7])["operation"]
    assert operation == "f(2,)[secret, 8]"


def operation_of(text, **names):
    """The operation and the type of the error that the text of an expression raises."""
    reply = failing_reply(text, names)
    return reply["type"], reply["operation"]


def failing_reply(text, names):
    file = f"<{text}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    try:
        exec(compile(text, file, "exec"), names)
    except Exception as error:
        return exception_reply(error, names)
    raise AssertionError(f"{text} raised nothing")


def test_tensors_stand_in_an_operation_with_their_kind_and_shape():
    """Catches two mistakes with PyTorch that are taken for one because a tensor is told by its name."""
    torch = pytest.importorskip("torch")
    operations = [operation_of("x[9, 9]", x=torch.ones(2, rows))[1] for rows in (3, 4)]
    assert operations == ["torch.float32(2, 3)[9, 9]", "torch.float32(2, 4)[9, 9]"]


SPELLINGS = {
    "(4, 7) @ (4, 5) cannot be": (
        "K @ Q",
        "np.matmul(K, Q)",
        "K.dot(Q)",
        "np.dot(K, Q)",
        "(K.T.T\n@ Q)",
        "np.transpose(K).T @ Q",
        "K.swapaxes(0, 1).transpose(1, 0) @ Q",
        "np.exp(K * 2) @ (Q + Q)",
        "k @ q",
        "k.matmul(q)",
        "k.mm(q)",
        "torch.matmul(k, other=q)",
        "torch.mm(input=k, mat2=q)",
        "multiplied(k, q)",
        "k.t().mT.contiguous() @ q",
        "k.transpose(0, 1).T @ q.softmax(dim=-1)",
        "torch.nn.functional.linear(k, q.T)",
        "holder.keys @ q",
        "Q = K @ Q",
    ),
    "(4, 5) - (4, 7) cannot be": ("Q - K", "np.subtract(Q, K)", "Q -= K", "q - k", "q.sub(k)", "torch.subtract(q, k)"),
    "(4, 7) - (4,) cannot be": ("K - K.max(axis=1)", "K - K.max(1)", "k - k.amax(-1)", "k - torch.sum(k, dim=1)"),
    "einsum(ab,bc->ac, (4, 7), (4, 5)) cannot be": (
        'np.einsum("ks,sn->kn", K, Q)',
        'torch.einsum("a b, b c -> a c", k, q)',
    ),
    "reshape((4, 7), (4, 3, 2)) cannot be": (
        "K.reshape(4, 3, 2)",
        "np.reshape(K, (4, 3, 2))",
        "K.reshape(len(K), H, (K.shape[1] - 1) // H)",
        "k.view(k.size(0), H, 2)",
        "k.reshape(*k.shape[:1], H, 2)",
        "torch.reshape(k, [4, H, 2])",
    ),
    "concatenate((4, 5), (4, 7), axis 0) cannot be": (
        "np.concatenate([Q, K])",
        "np.concatenate((Q, K), axis=0)",
        "torch.cat((q, k), dim=0)",
        "torch.concat([q, k], 0)",
    ),
    "sum((4, 7), (2,)) cannot be": ("K.sum(2)", "np.sum(K, axis=2)", "k.sum(dim=2)", "torch.sum(k, 2)"),
    "where((4, 7), (4, 5)) cannot be": ("np.where(K > 0, Q, -np.inf)", "q.masked_fill(k > 0, -torch.inf)"),
}


@pytest.mark.parametrize(("operation", "text"), [(told, text) for told, texts in SPELLINGS.items() for text in texts])
def test_one_failure_is_one_operation_in_every_spelling(operation, text):
    """Catches a mistake that is told to who writes `k @ q` and not to who writes `torch.matmul(k, q)`."""
    torch = pytest.importorskip("torch")
    Q, K = np.ones((4, 5)), np.ones((4, 7))
    q, k = map(torch.from_numpy, (Q, K))
    holder = torch.nn.Module()
    holder.keys = torch.nn.Parameter(k)
    assert operation_of(text, np=np, Q=Q, K=K, q=q, k=k, H=3, torch=torch, multiplied=torch.matmul, holder=holder)[
        1
    ] == (operation)


def test_an_operation_that_shapes_do_not_forbid_keeps_the_words_of_its_error():
    """Catches two failures taken for one since their shapes are the same, where the values decide."""
    x = np.ones((4, 5))
    for text in ("x @ x.T[[0, 9]]", "x.reshape(2, -1, 10, order='Z')", "x + 'a'"):
        told = operation_of(text, x=x)[1]
        assert told and not told.endswith("cannot be")


def test_a_wrong_signature_is_told_under_any_name():
    """Would catch comparing the name of the function that a TypeError repeats."""
    wrong = WrongSolutions("q")
    wrong("The values are not asked for.")(lambda Q, K: K)

    def answer(a, b):
        return a @ b

    assert result_of(answer, CHECK, wrong=wrong.of("q")).checks[0].diagnosis.message == snapshot(
        "The values are not asked for."
    )


def test_without_arrays_the_whole_line_tells_two_errors_apart():
    """Catches a mistake told from `entry["size"]`, which fails wherever the entry has no size."""

    def in_a_sum(entry):
        return 1 + entry["size"]

    def in_a_product(entry):
        return 2 * entry["size"]

    replies = [reply_of(answer, [{}]) for answer in (in_a_sum, in_a_product)]
    assert replies[0]["text"] == replies[1]["text"] and replies[0]["operation"] == replies[1]["operation"] == ""
    assert same_reply(replies[0], replies[0]) and not same_reply(*replies)


def test_code_without_a_source_raises_its_own_error():
    """Catches a diagnosis that fails itself where Python kept no text of the lines, as for code made by `exec`."""
    namespace = {}
    exec("def answer(x):\n    return x[5]", namespace)
    reply = reply_of(namespace["answer"], [np.ones(3)])
    assert (reply["type"], reply["operation"], reply["line"]) == ("IndexError", "", "")


class CountingArray(np.ndarray):
    calls = 0

    def __matmul__(self, other):
        CountingArray.calls += 1
        raise ValueError("odd")


def test_no_code_of_the_learner_is_run_again():
    """Would catch side effects of a diagnosis: a method of the learner's own runs as often as they call it."""

    def answer(Q, K, V):
        return Q.view(CountingArray) @ K

    def own_helper(Q, K, V):
        calls.append(1)
        return Q

    calls = []
    assert reply_of(answer, [np.ones((4, 5))] * 3)["operation"] == "raise" and CountingArray.calls == 1
    own = reply_of(lambda Q, K, V: own_helper(Q, K, V) @ K, [np.ones((4, 5))] * 3)
    assert own["operation"] == "own_helper(f(4, 5), f(4, 5), f(4, 5)) @ f(4, 5)"
    assert len(calls) == 1


def test_a_forged_operation_is_refused():
    """Would catch an array from the channel in a comparison of texts."""
    from clearcheck.worker.parent import _well_formed

    reply = {"kind": "raised", "type": "ValueError", "text": "x", "line": "", "operation": np.ones(3), "computed": 0.0}
    assert not _well_formed(reply) and _well_formed({**reply, "operation": ""})


def test_what_is_told_of_an_error_is_the_same_in_every_run():
    """Catches addresses in memory, by which the proofs and the feedback of two runs would differ."""
    told = [
        exception_reply(TypeError(f"{thing!r} is no array"), None)["text"]
        for thing in (object(), object(), lambda x: x)
    ]
    assert told[0] == told[1] == "<object object at 0x…> is no array"
    assert "<lambda> at 0x…> is no array" in told[2]
    assert exception_reply(ValueError("0x1F is no size"), None)["text"] == "0x1F is no size"
