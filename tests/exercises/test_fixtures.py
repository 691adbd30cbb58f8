"""The graded inputs tell one mistake from another, and what a learner is sent to read is there."""

import sys
from itertools import combinations

import numpy as np
import pytest
from clearcheck.grading.diagnose import reply_of
from clearcheck.grading.replies import same_reply
from clearcheck.worker.values import pack

from tests.exercises.authored import EXERCISES, SLUGS, authored, cases, comparisons, questions
from tests.exercises.subject import subject_of

sys.path.insert(0, str(EXERCISES.parent / "tools"))

import pages

# Where an answer trains a model, the proof says as much: each mistake is told by its own name there.
AT_ONCE = [(slug, id) for slug, id in questions() if authored(slug).exercise.question(id).how != "training"]


@pytest.mark.parametrize(("slug", "id"), AT_ONCE)
def test_no_two_mistakes_look_the_same(slug, id):
    """Catches an ambiguous diagnosis: on some graded case any two wrong solutions give different replies."""
    question = authored(slug).exercise.question(id)
    packed = [pack(question.asked.sent(args)) for check in comparisons(question) for args in cases(check)]
    packed += [pack(args) for args in subject_of(slug).asked_by_properties(question)]
    wrong = {entry.name: entry.function for entry in authored(slug).wrong.of(id)}
    alike = list(combinations(wrong, 2))
    for args in packed:  # only those are asked again that nothing has told apart yet
        with np.errstate(all="ignore"):
            replies = {name: reply_of(wrong[name], question.asked, args) for name in set(sum(alike, ()))}
        alike = [(one, other) for one, other in alike if same_reply(replies[one], replies[other])]
    assert not alike


@pytest.mark.parametrize("slug", SLUGS)
def test_the_sections_to_read_are_in_the_chapter(slug):
    """Catches a link in a message to a section that was renamed."""
    it = authored(slug)
    named = {question.section for question in it.exercise.questions} | {
        entry.section for entry in it.wrong.entries if entry.section
    }
    assert named <= set(pages.headings(EXERCISES.parent / f"{it.exercise.chapter}.ipynb"))
