"""What a learner sees in a notebook, and that it agrees with the command line."""

import _thread
import html
import json
import os
import re
import signal
import threading
from functools import partial

import pytest
from clearcheck import notebook as in_notebook
from clearcheck.author.loading import load_exercise
from clearcheck.grading.reading import _headings
from clearcheck.proof.notebooks import answer_text
from clearcheck.worker import process_copy, system
from inline_snapshot import snapshot

from .toy_notebook import MEANS, RANGES, SLUG

copies = pytest.mark.skipif(not system.COPIES, reason="needs Linux")


def test_an_untouched_question(run):
    """Would catch an exception or points before anything is answered."""
    assert repr(run('check("means")')).startswith("○ means — not answered yet (0 of 6 points)")
    stub = "def column_means(table):\n    raise NotImplementedError"
    assert repr(run(f'{stub}\ncheck("means")')).startswith("○ means — not answered yet (0 of 6 points)")


def test_a_right_and_a_wrong_answer(run):
    """Would catch a verdict without its words, sign, points or reason."""
    assert repr(run(f'{MEANS}\ncheck("means")')).startswith("✓ means — passed (6 of 6 points)")
    wrong = repr(run(f'{MEANS.replace("axis=0", "axis=1")}\ncheck("means")'))
    assert wrong.splitlines() == snapshot(
        [
            "◐ means — partly right (2 of 6 points)",
            "  ✗ values (0 of 4 points)",
            "    Your result equals a known mistake: The mean runs along the rows.",
            "    For an argument of shape (7, 5) your function returned an array of shape (7,); "
            "the shape (5,) is expected.",
            "  ✓ shift (2 of 2 points)",
            '  Read "Rows and columns" in chapter 01, Columns',
        ]
    )


def test_where_to_read_is_called_as_the_chapter_calls_it(run, course):
    """Would catch a path for a heading, a heading guessed from its anchor, a comment in code taken for one, a dead
    link, and an exercise whose chapter is missing or damaged that is not checked.
    """
    wrong = f'{MEANS.replace("axis=0", "axis=1")}\ncheck("means")'
    chapter = course / "chapters" / "01-columns.ipynb"
    chapter.parent.mkdir()
    for cells, told in (
        ([], '"Rows and columns" in chapter 01, Columns'),
        (
            ["# Tables", "```\n# rows and columns\n```\n## *Rows*, and `columns`"],
            '"Rows, and `columns`" in chapter 01, Tables',
        ),
    ):
        chapter.write_text(json.dumps({"cells": [{"cell_type": "markdown", "source": [text]} for text in cells]}))
        _headings.cache_clear()
        card = run(wrong)
        assert repr(card).endswith(f"\n  Read {told}")
        link = re.search('Read <a href="../chapters/01-columns.ipynb#rows-and-columns">(.*?)</a>', card._repr_html_())
        assert words(link[1]) == told
    chapter.write_text("no JSON")
    _headings.cache_clear()
    assert "chapter 01, Columns" in repr(run(wrong))


def words(page: str) -> str:
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", re.sub("</?code>", "`", page))).split())


def test_the_html_says_what_the_text_says(run):
    """Would catch HTML that tells something by colour alone, loads something, or runs a learner's text."""
    card = run("def column_means(table):\n    raise ValueError('<script>x</script>')\ncheck(\"means\")")
    assert words(card._repr_html_()) == " ".join(repr(card).split())
    assert "<script" not in card._repr_html_()
    assert "color" not in card._repr_html_() and "http" not in card._repr_html_()


def test_code_in_a_message_is_shown_as_code(run):
    """Would catch backticks that a learner has to read past, and an error's text in which markup is run."""
    card = run("def column_means(table):\n    raise ValueError('`<b>` is odd')\ncheck(\"means\")")._repr_html_()
    assert "<code>&lt;b&gt;</code> is odd" in card and "<b>" not in card
    assert "<code>column_means</code>" in run('del column_means\ncheck("means")')._repr_html_()


def test_a_check_repeats(run):
    """Would catch output that changes from run to run, so that a notebook never compares equal."""
    cell = "def column_means(table):\n    return table.mean(axis=0) + 1\ncheck('means')"
    assert repr(run(cell)) == repr(run(cell))
    assert run(cell)._repr_html_() == run(cell)._repr_html_()


def test_hints_come_one_by_one_and_stay_at_the_last(run):
    """Would catch giving the strongest hint first, or running past the end."""
    told = [repr(run('hint("means")')) for _ in range(3)]
    assert told == snapshot(
        [
            "Hint 1 of 2: Which axis runs down a column?",
            "Hint 2 of 2 (the last one): Axis 0 runs down a column.",
            "Hint 2 of 2 (the last one): Axis 0 runs down a column.",
        ]
    )


def test_progress_shows_every_question(run):
    """Would catch a table that lags behind the answers or sums them wrongly."""
    assert repr(run("progress()")).splitlines()[0] == "Columns: 0 of 9 points"
    assert repr(run(f"{RANGES}\nprogress()")).splitlines() == snapshot(
        [
            "Columns: 3 of 9 points",
            "  ○ means — not answered yet (0 of 6 points)",
            "  ✓ ranges — passed (3 of 3 points)",
        ]
    )
    assert run("progress()")._repr_html_().count("<tr>") == 3


def test_mistakes_in_the_calls_are_told_not_raised(run, monkeypatch):
    """Would catch a traceback where a sentence belongs."""
    assert 'choose one of "means", "ranges"' in repr(run('check("mean")'))
    assert 'choose one of "means", "ranges"' in repr(run('hint("mean")'))
    assert "could not be loaded" in repr(run('exercise("99-nowhere")'))
    monkeypatch.setattr(in_notebook, "_session", in_notebook._Session())
    for call in ('check("means")', 'hint("means")', "progress()"):
        assert repr(run(call)).startswith("No exercise is chosen.")


def test_a_misspelt_name(run):
    """Would catch leaving the learner alone with "not answered"."""
    card = repr(run(f'{MEANS.replace("column_means", "column_mean")}\ncheck("means")'))
    assert card == snapshot("""\
○ means — not answered yet (0 of 6 points)
  No function named `column_means`; your notebook defines `column_mean`: rename it.\
""")


def test_bad_answers_do_no_harm(run, capsys):
    """Would catch the kernel ending, hanging or being flooded by a checked answer."""
    for body in ("raise SystemExit", "while True: pass", "return column_means(table)", "print('x' * 10**7)"):
        card = repr(run(f'def column_means(table):\n    {body}\ncheck("means")'))
        assert card.startswith("✗ means — not right yet (0 of 6 points)")
    assert capsys.readouterr().out == ""


def test_the_learners_own_interrupt_is_respected(run, request):
    """Would catch a stop button that does nothing while a check runs."""
    # As in a kernel; a suite that a shell starts in the background inherits that the signal is ignored.
    inherited = signal.signal(signal.SIGINT, signal.default_int_handler)
    request.addfinalizer(lambda: signal.signal(signal.SIGINT, inherited))
    on_windows = os.name == "nt"  # where os.kill ends the process
    press = _thread.interrupt_main if on_windows else partial(os.kill, os.getpid(), signal.SIGINT)
    threading.Timer(0.5, press).start()
    with pytest.raises(KeyboardInterrupt):
        run('def column_means(table):\n    while True: pass\ncheck("means")')


HOPELESS = {
    "a loop that swallows everything": "while True:\n        try:\n            sum(range(1000))\n        except: pass",
    "one long call in C": "return sum(range(10**12))",
    "a deaf loop": "import signal; signal.signal(signal.SIGPROF, signal.SIG_IGN)\n    while True: pass",
}


@copies
@pytest.mark.parametrize("name", HOPELESS)
def test_a_call_that_no_exception_ends_is_ended(run, monkeypatch, name):
    """Would catch a kernel that has to be restarted."""
    monkeypatch.setattr(process_copy, "KERNEL_GRACE_SECONDS", 0.5)
    card = repr(run(f'def column_means(table):\n    {HOPELESS[name]}\ncheck("means")'))
    assert "more than 1 s of computing" in card
    assert repr(run(f'{MEANS}\ncheck("means")')).startswith("✓ means")


@copies
@pytest.mark.parametrize(
    ("body", "says"),
    [
        (
            "np.seterr(all='raise'); np.exp = None; return 0",
            snapshot("""\
✗ means — not right yet (0 of 6 points)
  ✗ values (0 of 4 points)
    For an argument of shape (7, 5) your function returned 0; an array is expected.
  ✗ shift (0 of 2 points)
    This check could not work with what your function returned (AttributeError: 'float' object has no attribute 'max').
  Read "Means of columns" in chapter 01, Columns\
"""),
        ),
        (
            "import os; os._exit(3)",
            snapshot("""\
✗ means — not right yet (0 of 6 points)
  ✗ values (0 of 4 points)
    For an argument of shape (7, 5) your function ended the Python process (exit code 3): let it return a value.
  ✗ shift (0 of 2 points)
    Not run, since an earlier call had to be stopped.
  Read "Means of columns" in chapter 01, Columns\
"""),
        ),
        (
            "import ctypes; ctypes.string_at(0)",
            snapshot("""\
✗ means — not right yet (0 of 6 points)
  ✗ values (0 of 4 points)
    For an argument of shape (7, 5) your function ended the Python process (signal 11): let it return a value.
  ✗ shift (0 of 2 points)
    Not run, since an earlier call had to be stopped.
  Read "Means of columns" in chapter 01, Columns\
"""),
        ),
        (
            "globals()['RANGES'] = 1; raise KeyboardInterrupt",
            snapshot("""\
✗ means — not right yet (0 of 6 points)
  ✗ values (0 of 4 points)
    For an argument of shape (7, 5) your function raised KeyboardInterrupt.
  ✗ shift (0 of 2 points)
    The same as above.
  Read "Means of columns" in chapter 01, Columns\
"""),
        ),
    ],
)
def test_what_a_call_breaks_stays_whole_in_the_notebook(run, body, says):
    """Would catch settings, modules, names or a kernel that a checked call has changed or ended."""
    card = run(f'import numpy as np\ndef column_means(table):\n    {body}\ncheck("means")')
    assert repr(card) == says
    assert run("np.exp(0.0), np.geterr()['over'], 'RANGES' in globals()") == (1.0, "warn", False)


def test_what_an_answer_prints_is_shown(run):
    """Would catch a print that vanishes, one without end, and markup that is run."""
    card = run('def column_means(table):\n    print("<b>shape", table.shape)\n    return 0\ncheck("means")')
    assert "your code printed:\n    <b>shape (7, 5)" in repr(card)
    assert "<pre>&lt;b&gt;shape (7, 5)" in card._repr_html_()
    assert len(repr(run('def column_means(table):\n    print("y" * 10**6)\n    return 0\ncheck("means")'))) < 3000


def test_the_arguments_of_a_failed_check_can_be_had(run):
    """Would catch the arguments of another call than the message tells of, and a case that cannot be unpacked."""
    run(f"{MEANS.replace('axis=0', 'axis=1')}\n0")
    assert "For an argument of shape (7, 5)" in repr(run('check("means")'))
    case = run('case("means")')
    told = ['The check "values" is the first that fails. Its arguments:', "  an array of shape (7, 5)"]
    assert repr(case).splitlines() == [*told, 'Try: column_means(*case("means"))']
    assert run('column_means(*case("means"))').shape == (7,)
    run(f"{MEANS}\n0")
    assert repr(run('case("means")')).startswith('The check "values" passes.')
    assert repr(run('case("nothing")')).startswith("No such question.")
    assert run('case("nothing")') == ()


def test_calls_without_the_name_of_a_question_are_told(run):
    """Would catch a bare TypeError of Python's."""
    for call in ("check()", "hint()", "reset()", "case()", "check(5)"):
        assert repr(run(call)) == snapshot('Which question? Name one in quotation marks: "means", "ranges".')


def test_checks_do_not_change_or_read_the_learners_variables(run):
    """Would catch a check that leaves names behind or resets NumPy's generator."""
    drawn = run("np.random.seed(3)\nnp.random.rand()")
    again = run(f'{MEANS}\nnp.random.seed(3)\n_card = check("means")\nnp.random.rand()')
    assert drawn == again


def test_the_notebook_and_the_command_line_agree(run, grade_cells):
    """Would catch two paths of evaluation: every known solution, the same seed, the same words and points."""
    authored = load_exercise(SLUG)
    columns = [
        [
            answer_text(entry, question.name)
            for entry in (*authored.right.of(question.id), *authored.wrong.of(question.id))
        ]
        for question in authored.exercise.questions
    ]
    assert [len(column) for column in columns] == [11, 11]
    for seed, (means, ranges) in enumerate(zip(*columns, strict=True)):
        text = grade_cells(means, ranges, seed=seed).as_text()
        assert repr(run(f'{means}\ncheck("means", seed={seed})')) in text, means
        assert repr(run(f'{ranges}\ncheck("ranges", seed={seed})')) in text, ranges
