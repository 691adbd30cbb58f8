"""What learners do to a notebook: renamed, duplicated, broken and extra cells, and answers of every wrong kind."""

import json

import pytest
from inline_snapshot import snapshot

from .toy_notebook import MEANS, RANGES, SLUG, START, notebook


def means_result(graded, *sources):
    """The result of the question on means, and the notes."""
    grade = graded(*sources)
    return grade.questions[0], grade.notes


def test_a_solved_notebook_has_every_point(grade_cells):
    """Would catch a right answer being rejected."""
    grade = grade_cells(MEANS, 'check("means")', RANGES, "progress()")
    assert (grade.points, grade.exercise.points, grade.notes) == (9, 9, [])


def test_an_untouched_notebook_has_none(grade_cells):
    """Would catch points for a stub."""
    grade = grade_cells("def column_means(table):\n    raise NotImplementedError", "x = 1")
    assert grade.points == 0
    assert [result.status for result in grade.questions] == ["not answered", "not answered"]
    assert grade.as_text() == snapshot("""\
○ means — not answered yet (0 of 6 points)
  `column_means` still raises NotImplementedError: write your answer there.
○ ranges — not answered yet (0 of 3 points)
  No function named `column_ranges` is defined: define it in the answer cell.
Columns: 0 of 9 points (seed 5)\
""")


def test_an_answer_that_calls_a_missing_one_is_told_which(grade_cells):
    """Would catch "`column_ranges` still raises NotImplementedError" about an answer that only calls one that does."""
    missing = 'def column_means(table):\n    raise NotImplementedError("Write your answer here.")'
    ranges = grade_cells(missing, "def column_ranges(table):\n    return column_means(table)").questions[1]
    assert ranges.status == "not right yet" and ranges.checks[0].message == snapshot(
        "`column_ranges` calls `column_means`, which still raises NotImplementedError: write that answer first."
    )


def test_an_answer_that_leaves_out_a_case_is_an_answer(grade_cells):
    """Would catch "write your answer there" about a NotImplementedError of the learner's own."""
    result, _ = means_result(
        grade_cells, "def column_means(table):\n    raise NotImplementedError('empty tables come later')"
    )
    assert result.status == "not right yet"
    assert "raised NotImplementedError (empty tables come" in result.checks[0].message


def test_a_misspelt_name_is_told_with_its_cell(grade_cells):
    """Would catch "not answered" for an answer under a name one letter away."""
    result, _ = means_result(grade_cells, "x = 1", MEANS.replace("column_means", "colum_mean"))
    expected = "No function named `column_means`; your notebook defines `colum_mean` in code cell 3: rename it."
    assert result.checks[0].message == expected


def test_another_questions_answer_is_no_misspelling(grade_cells):
    """Would catch telling a learner to rename a right answer to another question."""
    grade = grade_cells(MEANS)
    assert grade.questions[1].checks[0].message == (
        snapshot("No function named `column_ranges` is defined: define it in the answer cell.")
    )


def test_of_two_definitions_the_last_one_counts(grade_cells):
    """Would catch grading the first one, or keeping quiet about it."""
    result, notes = means_result(grade_cells, MEANS.replace("axis=0", "axis=1"), "x = 1", MEANS)
    assert result.status == "passed"
    assert notes == snapshot(["`column_means` is defined in code cells 2 and 4: the last one counts."])


def test_a_syntax_error_costs_its_own_cell_alone(grade_cells):
    """Would catch one missing parenthesis costing the whole notebook."""
    grade = grade_cells("def column_ranges(table):\n    return table.min(axis=0", MEANS)
    assert [result.points for result in grade.questions] == [6, 0]
    assert grade.notes[0].startswith("Code cell 2 stopped with SyntaxError ('(' was never closed, line 2)")


def test_a_syntax_error_is_told_at_the_question_with_what_to_type(grade_cells):
    """Would catch "define it in the answer cell", and a sign that looks right and whose cure nobody names."""
    grade = grade_cells(f"unit = “1”\n{MEANS}", RANGES.replace("(table)", "\u00a0(table)"))
    told = [result.checks[0].message for result in grade.questions]
    assert told == snapshot(
        [
            "`column_means` stands in code cell 2, which is no Python: SyntaxError (invalid character '“' (U+201C), line 1) in the line `unit = “1”`. Type a straight quotation mark, \", in its place.",
            "`column_ranges` stands in code cell 3, which is no Python: SyntaxError (invalid non-printable character U+00A0, line 1) in the line `def column_ranges (table):`. Delete the blank in that line that is none, and type it anew.",
        ]
    )


def test_a_missing_module_is_told_at_the_question(grade_cells):
    """Would catch a NameError whose cause stands in the notes alone."""
    answer = "from einstein.tools import mean as average\ndef column_means(table):\n    return average(table)"
    inside = "def column_ranges(table):\n    import einstein\n    return einstein.ranges(table)"
    told = [result.checks[0].message for result in grade_cells(answer, inside).questions]
    assert told == snapshot(
        [
            "For an argument of shape (7, 5) your function raised NameError (name 'average' is not defined) in the line `return average(table)`. `average` comes from an import that failed. `einstein` is not installed here: the question can be answered without it, so leave its import out.",
            "For an argument of shape (7, 5) your function raised ModuleNotFoundError (No module named 'einstein') in the line `import einstein`. `einstein` is not installed here: the question can be answered without it, so leave its import out.",
        ]
    )


def test_an_exception_in_a_cell_does_not_stop_the_next(grade_cells):
    """Would catch grading that ends at the first failing cell, as a kernel does."""
    grade = grade_cells("missing_name + 1", MEANS)
    assert grade.points == 6
    assert grade.notes == snapshot(
        [
            "Code cell 2 stopped with NameError (name 'missing_name' is not defined) in the line `missing_name + 1`; "
            "the other cells were still run."
        ]
    )


def test_jupyter_syntax_is_left_out_and_the_rest_counts(grade_cells):
    """Would catch a magic turning a whole answer into a syntax error."""
    cells = ["%matplotlib inline\n" + MEANS + "\ncolumn_means?", "%%time\nfiles = !ls\n" + RANGES, "%%bash\nrm -r x"]
    grade = grade_cells(*cells)
    assert grade.points == 9
    assert grade.notes == snapshot(
        [
            "Code cell 2: `%matplotlib inline`, `column_means?` works only in Jupyter and was left out.",
            "Code cell 3: `%%time`, `!ls` works only in Jupyter and was left out.",
            "Code cell 4: `%%bash` works only in Jupyter and was left out.",
        ]
    )


def test_names_that_a_notebook_gives_for_free(grade_cells):
    """Would catch display, __name__ or a dataclass failing outside of Jupyter."""
    cell = "from dataclasses import dataclass\n@dataclass\nclass Box:\n    side: 'int'\ndisplay(Box(3), __name__)\n"
    assert grade_cells(cell + MEANS).notes == []


def test_an_answer_may_use_earlier_cells(grade_cells):
    """Would catch running an answer cell on its own."""
    cells = [
        "def total(table):\n    return sum(table)",
        "def column_means(table):\n    return total(table) / len(table)",
    ]
    assert means_result(grade_cells, *cells)[0].status == "passed"


WRONG_KINDS = {
    "return None": "returned None; an array is expected",
    "return 'x'": "returned 'x'; an array is expected",
    "return table": "returned an array of shape (7, 5); the shape (5,) is expected",
    "return table.mean(axis=0).astype('float32')": "numbers of dtype float32; float64 is expected",
    "return table.mean(axis=0) > 0": "numbers of dtype bool; floating-point numbers are expected",
    "return table.mean(axis=0) * np.nan": "returned nan at index [0] (5 of 5 entries are wrong); a finite number",
    "return (value for value in table)": "returned an object of type generator",
    "return column_means": "returned an object of type function",
    "return np.array([object()] * 5)": "returned an array of dtype object",
    "return np.zeros(10**8, dtype='i1')": "returned more than 16 MB",
    "raise ValueError('two\\nlines ' + 'x' * 10**6)": "raised ValueError (two lines xxxxxxxx",
    "return table @ table": "raised ValueError (matmul: ",
    "table -= 1; return table.mean(axis=0) + 1": "changed its argument 1 in place",
    "return table.mean(axis=0) * 1.000001": "this is off by",
}


@pytest.mark.parametrize("body", WRONG_KINDS)
def test_an_answer_of_the_wrong_kind_is_told_what_came(grade_cells, body):
    """Would catch points for it, or a message that does not say what came."""
    grade = grade_cells(f"def column_means(table):\n    {body}", RANGES)
    assert WRONG_KINDS[body] in grade.questions[0].checks[0].message
    assert len(grade.questions[0].checks[0].message) < 500
    assert grade.questions[0].checks[0].points == 0
    assert grade.questions[1].status == "passed"


def test_the_line_that_raised_is_shown(grade_cells):
    """Would catch a message that leaves the learner searching."""
    result, _ = means_result(
        grade_cells, "def column_means(table):\n    rows = len(table)\n    return table.mean(axis=rows)"
    )
    assert result.checks[0].message.endswith("in the line `return table.mean(axis=rows)`.")


def test_a_name_that_is_no_function(grade_cells):
    """Would catch a TypeError of the grader's own."""
    result, _ = means_result(grade_cells, "column_means = [1, 2]")
    assert result.checks[0].message == snapshot("`column_means` is a list; a function of this name is expected.")


def test_a_known_mistake_is_named(grade_cells):
    """Would catch the diagnosis being lost, or the section of the question shown instead of the mistake's."""
    result, _ = means_result(grade_cells, "def column_means(x):\n    return np.einsum('rc->r', x) / x.shape[1]")
    assert (result.points, result.status) == (2, "partly right")
    assert result.checks[0].diagnosis.sentence == snapshot(
        "Your result equals a known mistake: The mean runs along the rows."
    )
    assert result.checks[0].diagnosis.section == "rows-and-columns"


def test_an_unknown_mistake_is_not_named(grade_cells):
    """Would catch a diagnosis on weak evidence: another value, or another exception."""
    for body in ("table.mean(axis=0) + 0.5", "table.mean(axis=0) / 0 * [[1]] @ 'x'"):
        result, _ = means_result(grade_cells, f"def column_means(table):\n    return {body}")
        assert [check.diagnosis for check in result.checks] == [None, None]


def test_points_are_given_check_by_check(grade_cells):
    """Would catch all-or-nothing grading of a question."""
    result, _ = means_result(grade_cells, "def column_means(table):\n    return np.median(table, axis=0)")
    assert (result.points, result.status) == (2, "partly right")


def test_what_the_exercise_imports_itself_is_not_noted(course, grade_cells):
    """Catches a note in every row of a class, among which nobody sees the one that matters."""
    source = course / "exercises/authoring" / SLUG / "source.ipynb"
    source.write_text(json.dumps(notebook(START, "from cleartape import numpy as np")))
    assert grade_cells("import cleartape", MEANS).uses == []


def test_an_import_that_is_only_written_is_noted(grade_cells):
    """Catches a solution that is called where no check sees it, and a package that only begins like a watched one."""
    later = "def later():\n    import transformers\n    from sklearn.svm import SVC\n    import torchvision\n"
    assert grade_cells(later + MEANS).uses == ["sklearn", "transformers"]


def test_an_answer_with_einops_is_graded(grade_cells):
    """Catches a grader without the package that other courses make a habit: such an answer had no points."""
    means = (
        "from einops import rearrange\n\ndef column_means(table):\n    return rearrange(table, 'n d -> d n').mean(1)"
    )
    grade = grade_cells(means, RANGES)
    assert (grade.points, grade.notes) == (9, [])


def test_a_definition_in_a_cell_that_is_no_python_is_told_by_its_question(grade_cells):
    """Would catch an advice to define what the learner sees defined, with the cause in a note far below."""
    grade = grade_cells("title = “means”\n" + MEANS, RANGES)
    assert grade.questions[0].checks[0].message == (
        snapshot(
            "`column_means` stands in code cell 2, which is no Python: "
            "SyntaxError (invalid character '“' (U+201C), line 1) in the line `title = “means”`. "
            'Type a straight quotation mark, ", in its place.'
        )
    )
