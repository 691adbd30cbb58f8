"""A limit names itself: which, how much it allows, and what may be meant."""

import numpy as np
import pytest
from clearcheck import equals
from clearcheck.grading.evaluate import evaluate
from clearcheck.grading.limits_told import limit_told, printed_told, result_limit_told, time_told
from clearcheck.worker.limits import Limits

from .small_questions import question, result_of
from .toy_notebook import MEANS

SMALL = Limits(memory=2**31, file=2**20, cpu=77)
RAN_INTO = [
    ("raised", "MemoryError", "", "2 GB of memory: look for a table of all pairs"),
    ("raised", "_ArrayMemoryError", "Unable to allocate 74.5 GiB for an array", "2 GB of memory"),
    (
        "raised",
        "RuntimeError",
        "[enforce fail] DefaultCPUAllocator: can't allocate memory: you tried",
        "2 GB of memory",
    ),
    ("ended", "", "MemoryError: its processes together held more than 2 GB", "2 GB of memory"),
    ("raised", "OSError", "[Errno 27] File too large", "1 MB for a file"),
    ("raised", "OSError", "[Errno 28] No space left on device: 'x'", "256 MB for all files"),
    ("raised", "RuntimeError", "can't start new thread", "64 processes and threads"),
    ("raised", "BlockingIOError", "[Errno 11] Resource temporarily unavailable", "64 processes and threads"),
    ("raised", "RecursionError", "maximum recursion depth exceeded", "calls within one another"),
    ("ended", "", "signal SIGKILL", "2 GB of memory, and 77 s for all processors together"),
]


@pytest.mark.parametrize(("kind", "type", "text", "told"), RAN_INTO)
def test_each_limit_is_told_with_its_size(kind, type, text, told):
    """Catches an error out of a limit of ours that reads as one of the learner's."""
    sentence = limit_told({"kind": kind, "type": type, "text": text}, SMALL)
    assert sentence.startswith("The limit is ") and told in sentence and sentence.endswith(".")


@pytest.mark.parametrize(
    "reply",
    [
        {"kind": "raised", "type": "ValueError", "text": "shapes (4,7) and (4,5) not aligned"},
        {"kind": "ended", "text": "exit code 3"},
        {"kind": "ended", "text": "signal SIGSEGV"},
        {"kind": "done"},
    ],
)
def test_other_errors_name_no_limit(reply):
    """Catches a limit told to who did not run into it."""
    assert limit_told(reply) == ""


def test_times_name_their_limit():
    """Catches a limit without its size, and a loop looked for where the code waited or imported."""
    assert time_told({"line": "while True: pass"}, 10.0) == (
        "used more than 10 s of computing time and was stopped in the line `while True: pass`: look for a loop that "
        "never ends, or for one over single entries or pairs that whole arrays do at once"
    )
    assert "had not ended after 100 s and was stopped: it sleeps" in time_told({"waited": 100.0}, 10.0)
    assert time_told({"line": "import scipy.special"}, 10.0).endswith("importing `scipy.special` took too long")


def test_output_and_results_name_their_limit():
    """Catches output that is dropped, and a result that is too large, without a word of how much is meant."""
    assert printed_told("It", 1_000_000) == ""
    assert "1,000,001 characters" in printed_told("It", 1_000_001) and "`print` in a loop" in printed_told("It", 10**7)
    check = equals("sums", 1, lambda rng: [(np.ones(3),)], lambda x: x)
    for large in (np.zeros(3 * 10**6), [0] * 200_000):
        message = result_of(lambda x, large=large: large, check).checks[0].message
        assert message.endswith("The limit for a result is 16 MB: look for an axis too many.")
    assert result_limit_told("an object of type Path") == ""


def test_a_question_says_which_time_the_notebook_has_used_up():
    """Catches "its time" without a number."""
    reply = {"kind": "late", "text": "used up the 120 s of computing time that one has"}
    check = equals("sums", 1, lambda rng: [(np.ones(3),)], lambda x: x)
    message = evaluate(question(check), lambda asked, packed: reply, 0, []).checks[0].message
    assert "since the whole notebook used up the 120 s of computing time that one has." in message


def test_real_limits_are_told_in_notes_and_questions(grade_cells):
    """Catches words for an error that the system does not raise so, with a limit that is not the one in force."""
    large = MEANS.replace("    return", "    np.ones((10**5, 10**5, 8))\n    return")
    grade = grade_cells(
        "import numpy as np\nnp.ones(10**11)",
        "open('large', 'wb').write(bytes(2 * 10**6))",
        "def deep(n):\n    return deep(n + 1)\ndeep(0)",
        large,
        limits=SMALL,
    )
    assert [note.partition("The limit is ")[2].partition(":")[0] for note in grade.notes] == [
        "2 GB of memory",
        "1 MB for a file",
        "1000 calls within one another",
    ]
    assert "raised MemoryError" in grade.questions[0].checks[0].message.replace("_Array", "")
    assert "The limit is 2 GB of memory" in grade.questions[0].checks[0].message
