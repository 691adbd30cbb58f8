"""Mistakes as edits of right answers: what they change, and edits that do not fit."""

import re

import numpy as np
import pytest
from clearcheck import answers_to
from clearcheck.author.edits import EditError
from inline_snapshot import snapshot

from tests.clearcheck.small_questions import DOUBLE, question


def by_steps(table):
    total = 0
    for row in table:
        total = total + row
    for row in table:
        total = total + row
    return total / len(table) / 2


def countdown(n):
    return [n] + (countdown(n - 1) if n else [])


def entries_of_edits(text: str) -> list:
    right, wrong = answers_to(question(DOUBLE))
    right(by_steps)
    right(countdown)
    wrong.edits(text)
    return wrong.entries


def test_an_edit_changes_the_lines_that_it_names():
    """Would catch an edit applied in another place, with another indentation, or to an answer edited before."""
    one, other = entries_of_edits("""
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
    assert one.says == snapshot("The sum is doubled, and nothing else.")
    assert one.source.splitlines()[0] == "def doubled(table):"
    assert one.function(np.ones((3, 2))).tolist() == [(1 + 6) * 2 / 3 / 2] * 2
    assert other.change == ("-     total = total + row", "+     total = total - row")
    assert other.source.count("total - row") == 1 and other.function(np.ones((3, 2))).tolist() == [0, 0]


def test_an_edit_without_lines_as_they_are_changes_the_place_of_the_one_above():
    """Would catch a mistake that loses its place, keeps the new lines of the one above, or forgets where it says that
    a line stands.
    """
    above, below, third = entries_of_edits("""
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
    [found] = entries_of_edits(text)
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
        entries_of_edits(f"# by_steps\n{text}")
    assert 'Question "q"' in str(raised.value)
