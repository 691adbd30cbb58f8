"""An answer that leans on another question says first whether that one has passed, in a notebook and in a class."""

from dataclasses import replace

import pytest
from clearcheck.author.lint import leaning
from clearcheck.author.loading import AuthoringError, load_exercise
from clearcheck.author.mistakes import Solution, Solutions
from clearcheck.author.subject import Subject
from clearcheck.grading.leaning import with_leaning
from inline_snapshot import snapshot

from .small_questions import DOUBLE, result_of
from .toy_notebook import MEANS, RANGES, SLUG

WRONG_MEANS = MEANS.replace("axis=0", "axis=1")
WRONG_RANGES = RANGES.replace("max", "mean")


@pytest.fixture
def leaning_course(course):
    """The toy course, whose second question leans on its first."""
    file = course / "exercises" / "authoring" / SLUG / "ranges.py"
    text = file.read_text(encoding="utf-8")
    assert text.count('    id="ranges",\n') == 1
    file.write_text(
        text.replace('    id="ranges",\n', '    id="ranges",\n    leans_on=("means",),\n'), encoding="utf-8"
    )
    return course


def test_what_has_not_passed_is_told_first_in_the_notebook(leaning_course, run):
    """Would catch a learner who looks for a mistake where none is, or text and page of a card that differ."""
    card = run(f'{WRONG_MEANS}\n{WRONG_RANGES}\ncheck("ranges")')
    head, first, *_ = repr(card).splitlines()
    assert head.startswith("✗ ranges — not right yet") or head.startswith("◐ ranges — partly right")
    assert first.strip() == snapshot(
        "This answer leans on your `column_means`, which has not passed yet: let question `means` pass first, since what is wrong there shows here, too."
    )
    assert (
        first.strip().replace("`column_means`", "<code>column_means</code>").replace("`means`", "<code>means</code>")
        in card._repr_html_()
    )


def test_that_all_has_passed_is_told_where_the_answer_itself_fails(leaning_course, run):
    """Would catch a sentence for an answer that is right, or silence on one that is wrong by itself."""
    assert repr(run(f'{MEANS}\n{WRONG_RANGES}\ncheck("ranges")')).splitlines()[1].strip() == snapshot(
        "Your `column_means`, on which this answer leans, has passed: what is wrong is here."
    )
    assert "lean" not in repr(run(f'{MEANS}\n{RANGES}\ncheck("ranges")'))


def test_a_question_without_an_answer_is_told_as_such(leaning_course, run):
    """Would catch "has not passed yet" of what nobody has written, and the reason of an empty answer that is lost."""
    told = repr(run('check("ranges")')).splitlines()
    assert "`column_means`, which is not answered yet" in told[1] and "column_ranges" in told[2]


def test_the_kept_result_of_a_slow_check_is_said_anew(leaning_course, run, monkeypatch):
    """Would catch a sentence that stays after the question beneath has passed."""
    monkeypatch.setattr("clearcheck.learner.kept_results.SLOW", 0.0)
    assert "has not passed yet" in repr(run(f'{WRONG_MEANS}\n{WRONG_RANGES}\ncheck("ranges")'))
    assert "has passed: what is wrong is here" in repr(run(f'{MEANS}\ncheck("ranges")'))


def test_a_graded_file_says_it_too(leaning_course, grade_cells):
    """Would catch the sentence missing where a class is graded: in the text, and in the record of its pages."""
    grade = grade_cells(WRONG_MEANS, WRONG_RANGES)
    assert "leans on your `column_means`" in grade.as_text()
    means, ranges = grade.as_json()["questions"]
    assert means["leaning"] == "" and "has not passed yet" in ranges["leaning"]


def test_the_first_of_several_that_fails_is_named():
    """Would catch a list that begins with what itself leans on the mistake."""

    def result(id, answer, *leans_on):
        graded = result_of(answer, DOUBLE)
        return replace(graded, question=replace(graded.question, id=id, name=f"f_{id}", leans_on=leans_on))

    results = result("a", lambda x: 2 * x), result("b", lambda x: x), result("c", lambda x: x, "a", "b")
    assert [one.leaning for one in with_leaning(results)] == snapshot(
        [
            "",
            "",
            "This answer leans on your `f_b`, which has not passed yet: let question `b` pass first, since what is wrong there shows here, too.",
        ]
    )
    right = result("b", lambda x: 2 * x)
    assert with_leaning([results[0], right, results[2]])[2].leaning == snapshot(
        "Your `f_a` and `f_b`, on which this answer leans, have passed: what is wrong is here."
    )
    assert with_leaning([results[2]])[0].leaning == ""  # the others are not graded here


@pytest.mark.parametrize("named", ["ranges", "nothing"])
def test_a_question_leans_on_earlier_ones_alone(leaning_course, named):
    """Would catch a name that no question has, and one that leans on itself."""
    file = leaning_course / "exercises" / "authoring" / SLUG / "ranges.py"
    file.write_text(file.read_text(encoding="utf-8").replace('("means",)', f'("{named}",)'), encoding="utf-8")
    with pytest.raises(AuthoringError, match=f"leans_on names .'{named}'.; questions before it are .'means'."):
        load_exercise(SLUG, leaning_course)


@pytest.mark.parametrize("source", ["return column_means(table), 0", "return [column_means(row) for row in table]"])
def test_an_answer_that_calls_another_has_to_say_so(course, source):
    """Would catch a question whose right answer leans on another, of which its author says nothing."""
    authored = load_exercise(SLUG, course)
    asked, text = authored.question("ranges"), f"def with_means(table):\n    {source}"
    right = Solutions(entries=[Solution("ranges", len, source=text)])
    told = list(leaning(Subject(authored.exercise, right, authored.wrong), asked))
    assert told == ['len calls column_means, and leans_on does not name "means".']
    said = replace(asked, leans_on=("means",))
    assert list(leaning(Subject(authored.exercise, right, authored.wrong), said)) == []


@pytest.mark.parametrize("source", ["column_means = table.mean(0); return column_means", "return table.column_means"])
def test_a_name_of_its_own_is_no_call_of_another(course, source):
    """Would catch an author who is sent to a local name."""
    authored = load_exercise(SLUG, course)
    right = Solutions(entries=[Solution("ranges", len, source=f"def with_means(table):\n    {source}")])
    assert list(leaning(Subject(authored.exercise, right, authored.wrong), authored.question("ranges"))) == []
