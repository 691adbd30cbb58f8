"""Why a file has no grade: errors whose text tells the user everything, and the sentence for every other one."""

from clearcheck.author.loading import AuthoringError, ExerciseNotFound, QuestionNotFound
from clearcheck.notebooks.file import NotANotebook
from clearcheck.report.course_files import CourseChanged
from clearcheck.worker.worker_process import WorkerError

EXPLAINED = (NotANotebook, ExerciseNotFound, QuestionNotFound, WorkerError, AuthoringError, CourseChanged)


def grader_failure(file: str, error: BaseException) -> str:
    """The sentence for an error that is the grader's own."""
    text = f"{type(error).__name__}: {error}"[:300].rstrip(".")
    return f"The grader failed on {file} ({text}): it has no grade. Please tell the authors of the course."
