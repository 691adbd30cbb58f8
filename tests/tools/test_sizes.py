"""What is larger than one sees at once is named, and an exception neither grows nor outlives its reason."""

import pytest

from tools.checks import sizes

SOURCE = '''"""Docstrings do not count,

however long.
"""

# nor do comments


class One:
    """Nor this one."""

    def __init__(self, a, /, b, *, c=1):
        """Nor this."""
        self.a = a

        self.b = [
            b,
            c,
        ]
'''


def test_only_code_counts():
    """Catches docstrings, comments and blank lines that count, and `self` among the parameters."""
    assert list(sizes.sizes("one.py", SOURCE)) == [
        ("file", "one.py", 7),
        ("function", "one.py::__init__", 6),
        ("constructor", "one.py::__init__", 3),
    ]


@pytest.mark.parametrize(
    ("kind", "size", "exception", "told"),
    [
        ("file", 250, {}, ""),
        ("file", 251, {}, "x: 251 lines of code, 250 are allowed. Split it by concept"),
        ("function", 41, {}, "x: 41 lines of code, 40 are allowed. Give a part of it a name"),
        ("constructor", 9, {}, "x: 9 parameters, 8 are allowed. Put what belongs together"),
        ("file", 300, {"size": 300, "why": "a table"}, ""),
        ("file", 301, {"size": 300, "why": "a table"}, "x: 301 lines of code, 300 are allowed."),
        ("file", 299, {"size": 300, "why": "a table"}, "x is smaller than 300 by now: lower its size to 299."),
        ("file", 200, {"size": 300, "why": "a table"}, "x is smaller than 300 by now: take it out."),
        ("file", 300, {"size": 300, "why": " "}, "x has no reason"),
    ],
)
def test_what_is_too_large_is_told(kind, size, exception, told):
    """Catches a limit that is off by one, an exception that lets a file grow, and one that is kept without need."""
    found = list(sizes.faults([(kind, "x", size)], {"x": exception} if exception else {}))
    assert len(found) == bool(told)
    assert all(told in line for line in found)
