"""What a learner is sent to read is there.

That the graded inputs tell one mistake from another is shown by the proof: replies that are the same are told the same,
and every mistake is told by a sentence that is its own (a rule of the lint).
"""

import pytest

from tests.exercises.course_exercises import EXERCISES, SLUGS, course_exercise
from tools.pages import reading


@pytest.mark.parametrize("slug", SLUGS)
def test_the_sections_to_read_are_in_the_chapter(slug):
    """Catches a link in a message to a section that was renamed."""
    it = course_exercise(slug)
    named = {question.section for question in it.exercise.questions} | {
        entry.section for entry in it.wrong.entries if entry.section
    }
    assert named <= set(reading.headings(EXERCISES.parent / f"{it.exercise.chapter}.ipynb"))
