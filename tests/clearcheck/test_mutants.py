"""Which mutants an answer has."""

import ast

import pytest
from clearcheck.author.mutants import mutants_of


def changed(line):
    """The line after each change of an answer that has this one alone."""
    found = [mutant.source.splitlines()[1].strip() for mutant in mutants_of(f"def answer(a, b):\n    {line}")]
    assert len(found) == len(set(found)) and line not in found
    return found


@pytest.mark.parametrize(
    ("line", "mutants"),
    [
        ("return a + b", ["return a - b", "return a"]),
        ("return a - b", ["return a + b", "return a", "return b - a"]),
        ("return [a] + b", ["return b + [a]"]),
        ("return a + 'x'", ["return 'x' + a"]),
        ("return a < b", ["return a <= b"]),
        ("return a[3]", ["return a[4]", "return a[2]"]),
        ("return a.sum(axis=0)", ["return a.mean(axis=0)", "return a.sum()", "return a.sum(axis=1)", "return a"]),
        ("return f(a, b)", ["return f(b, a)", "return a"]),
        ("return np.tril(a)", ["return np.triu(a)", "return a"]),
        ("return a.T @ b", ["return a @ b", "return b @ a.T", "return a.T * b", "return a.T"]),
        ("return max(a, b)", ["return min(a, b)", "return a"]),
        ("return a and not b", ["return a or not b", "return a and b"]),
        ("return a if b else -a", ["return a", "return -a", "return a if b else a"]),
        ("a += b", ["a -= b", "pass"]),
        ("a[b] = 0", ["pass", "a[b] = 1"]),
    ],
)
def test_every_kind_of_change_is_made(line, mutants):
    """Would catch an operator that is no longer tried, and with it the slips that it stands for."""
    assert set(mutants) <= set(changed(line))


@pytest.mark.parametrize(
    ("line", "same"),
    [
        ("return a + b", "return b + a"),
        ("return 2 * a", "return a * 2"),
        ("return np.maximum(a, b)", "return np.maximum(b, a)"),
        ("return a.swapaxes(1, 2)", "return a.swapaxes(2, 1)"),
    ],
)
def test_an_exchange_that_changes_nothing_is_no_mutant(line, same):
    """Would catch hundreds of mutants that compute the same, each of which needs a reason."""
    assert same not in changed(line)


def test_a_condition_is_turned_round_and_the_answer_still_parses():
    """Would catch a mutant that is no Python, which would count as caught."""
    source = "def answer(a, b):\n    if a > b:\n        a = a - b\n    return a"
    found = mutants_of(source)
    assert any("if not a > b:" in mutant.source for mutant in found)
    assert all(ast.parse(mutant.source) for mutant in found)


def test_a_mutant_is_named_by_the_lines_that_differ():
    """Would catch names that are the same for two mutants, of which one reason would then excuse both."""
    found = mutants_of("def answer(a, b):\n    c = a + b\n    return c * 2")
    assert "line 2: c = a + b → c = a - b" in {mutant.name for mutant in found}
    assert len({mutant.name for mutant in found}) == len(found)
