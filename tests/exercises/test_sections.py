"""What a learner is sent to read is there.

That the graded inputs tell one mistake from another is shown by the proof: replies that are the same are told the same,
and every mistake is told by a sentence that is its own (a rule of the lint).
"""

import pytest
from clearcheck.grading.reading import reading_in

from tests.exercises.course_exercises import EXERCISES, SLUGS, course_exercise
from tools.pages import reading


@pytest.mark.parametrize("slug", SLUGS)
def test_the_sections_to_read_are_in_the_chapter(slug):
    """Catches a link in a message to a section that was renamed."""
    exercise = course_exercise(slug).exercise
    assert sections(slug) <= set(reading.headings(EXERCISES.parent / f"{exercise.chapter}.ipynb"))


@pytest.mark.parametrize("slug", SLUGS)
def test_the_sections_to_read_are_called_as_in_the_chapter(slug):
    """Catches a heading that is guessed from its anchor, as "The kv cache", and a chapter called by another title."""
    exercise = course_exercise(slug).exercise
    there = reading.headings(EXERCISES.parent / f"{exercise.chapter}.ipynb")
    title = next(iter(there.values())).title
    for anchor in sections(slug):
        heading = there[anchor].title.replace("*", "")
        assert reading_in(exercise, anchor).words == f'"{heading}" in chapter {slug[:2]}, {title}'


def sections(slug):
    it = course_exercise(slug)
    of_mistakes = {entry.section for entry in it.wrong.entries if entry.section}
    return {question.section for question in it.exercise.questions} | of_mistakes
