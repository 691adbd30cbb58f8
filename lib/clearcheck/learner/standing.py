"""Whether a function of an earlier exercise has passed its checks, as far as the learner's record knows."""

from collections.abc import Mapping

from clearcheck.author.loading import AuthoringError, ExerciseNotFound, load_exercise
from clearcheck.grading.telling import points_of
from clearcheck.learner.progress_file import Record


def standings(brings: Mapping[str, str], record: Record) -> dict[str, str]:
    """What to say of each function, by its name; of one that no question of its exercise asks for, nothing."""
    told = {name: _standing(name, slug, record) for name, slug in brings.items()}
    return {name: words for name, words in told.items() if words}


def _standing(name: str, slug: str, record: Record) -> str:
    try:
        questions = load_exercise(slug).exercise.questions
    except (ExerciseNotFound, AuthoringError):
        return ""
    question = next((question for question in questions if question.name == name), None)
    if question is None:
        return ""
    kept = record[slug].questions.get(question.id) if slug in record else None
    if kept is None:
        return f'it was never checked there: run check("{question.id}") in that notebook first'
    if kept.points >= question.points:
        return "it passed its checks when it was last checked"
    reached = points_of(kept.points, question.points)
    return f'it has not passed its checks ({reached} when last checked): see check("{question.id}") in that notebook'
