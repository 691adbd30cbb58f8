"""The words of a question against what its checks refuse."""

from dataclasses import replace

import pytest
from clearcheck import RightSolutions, WrongSolutions
from clearcheck.author.lint_words import advice
from clearcheck.author.loading import known_slugs, load_exercise
from clearcheck.author.subject import Subject

from .small_questions import DOUBLE, question

FORBIDS = ("torch.softmax", "torch.nn.functional.scaled_dot_product_attention")
ASKED = question(DOUBLE, forbids=FORBIDS, hints=("Look at the axes.", "Which one is hidden?", "Take −∞."))


def advice_on(asked, *says: str) -> list[str]:
    wrong = WrongSolutions(asked.id)
    for number, sentence in enumerate(says):
        wrong.whole(f"mistake_{number}", sentence, "", f"def mistake_{number}(x):\n    return x")
    return list(advice(Subject(None, RightSolutions(), wrong), asked))


@pytest.mark.parametrize(
    ("hint", "told"),
    [
        ("Let torch.softmax do it.", "hint 1 names softmax, which the question forbids."),
        ("Later tokens get -1e9.", "hint 1 names a finite score for what is hidden, which its checks refuse."),
        ("Mask them with a large negative number.", "hint 1 names a finite score for what is hidden"),
    ],
)
def test_a_hint_that_a_check_refuses_is_found(hint, told):
    """Catches a learner who follows a hint and loses the points for it."""
    (found,) = advice_on(replace(ASKED, hints=(hint, *ASKED.hints[1:])))
    assert found.startswith(told)


@pytest.mark.parametrize(
    ("says", "refused"),
    [
        ("Your exponentials overflow: take the largest away, or call `softmax`.", True),
        ("Use F.scaled_dot_product_attention.", True),
        ("PyTorch's softmax does the work: write its parts.", False),
        ("You call what is forbidden.", False),
    ],
)
def test_a_message_that_recommends_what_is_forbidden_is_found(says, refused):
    """Catches advice that ends in a refusal; naming what the learner called is no advice."""
    assert bool(advice_on(ASKED, says)) is refused


def test_no_other_words_are_found():
    """Catches a rule that refuses plain hints, and numbers that hide nothing."""
    assert advice_on(replace(ASKED, hints=("The rate is -1e9 at most.", "softmaxed", "")), "Take −∞.") == []


@pytest.mark.parametrize("slug", known_slugs())
def test_no_question_recommends_what_it_refuses(slug):
    """Catches a hint or a message of the course that leads into a refusal."""
    authored = load_exercise(slug)
    subject = Subject(authored.exercise, authored.right, authored.wrong)
    assert [found for asked in authored.exercise.questions for found in advice(subject, asked)] == []
