"""Find the authoring folder of an exercise and load what it defines."""

import hashlib
import importlib
import sys
import threading
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

from clearcheck.author.mistakes import RightSolutions, Solutions, WrongSolutions
from clearcheck.grading.exercise import Exercise
from clearcheck.grading.question import SLUG, Question
from clearcheck.own_course import AUTHORING, CHECKOUT

_loading = threading.Lock()  # an exercise's files are imported anew, and all threads share what Python has imported


class ExerciseNotFound(LookupError):
    """No authoring folder for this name; the text lists the places looked at."""


class QuestionNotFound(LookupError):
    """The exercise has no question of this name; the text lists those that it has."""


class AuthoringError(ValueError):
    """An exercise is not written as it should be; the text names the file and what is expected."""


@dataclass(frozen=True)
class AuthoredExercise:
    """An exercise with the folder it comes from, its right solutions and its wrong ones."""

    folder: Path
    exercise: Exercise
    right: Solutions
    wrong: Solutions

    def question(self, id: str) -> Question:
        """The question of this id. Raises: QuestionNotFound with those that there are."""
        try:
            return self.exercise.question(id)
        except KeyError as error:
            raise QuestionNotFound(error.args[0]) from None


def find_folder(slug: str, start: Path | None = None) -> Path:
    """The folder `exercises/authoring/<slug>` above `start` (default: where Python runs), else in the own course."""
    if not SLUG.fullmatch(slug):
        raise ExerciseNotFound(
            f"{slug!r} is not the name of an exercise: lower-case words joined by hyphens are expected, "
            "such as 03-self-attention."
        )
    tried = [authoring / slug for authoring in _searched_folders(start)]
    for folder in tried:
        if (folder / "exercise.py").is_file():
            return folder
    raise ExerciseNotFound(
        f'No exercise "{slug}": looked for a file exercise.py in {tried[0]}, in the same folder above each parent of '
        f"{(start or Path.cwd()).resolve()}, and in {tried[-1]}. Known here: {', '.join(known_slugs(start)) or 'none'}."
    )


def _searched_folders(start: Path | None) -> list[Path]:
    """Each folder in which exercises are looked for, the nearest first: above where Python runs, then our own."""
    start = (start or Path.cwd()).resolve()
    return [base / AUTHORING for base in (start, *start.parents, CHECKOUT)]


def slugs_in(authoring: Path) -> list[str]:
    return sorted(path.parent.name for path in authoring.glob("*/exercise.py"))


def authoring_folder(start: Path | None = None) -> Path:
    """The nearest folder `exercises/authoring` with an exercise in it, above `start` or in the checkout."""
    searched = _searched_folders(start)
    for authoring in searched:
        if slugs_in(authoring):
            return authoring
    raise ExerciseNotFound(
        f"No exercises: looked for {searched[0]}, for the same folder above each parent, and for {searched[-1]}."
    )


def known_slugs(start: Path | None = None) -> list[str]:
    """Every exercise that `find_folder` can find, in order."""
    return sorted({slug for authoring in _searched_folders(start) for slug in slugs_in(authoring)})


def load_exercise(slug: str, start: Path | None = None) -> AuthoredExercise:
    """Raises: ExerciseNotFound where there is none, AuthoringError where a file lacks its definition."""
    folder = find_folder(slug, start)
    with _loading:
        return _load_from(slug, folder)


def _load_from(slug: str, folder: Path) -> AuthoredExercise:
    package = _package(folder)
    exercise = _definition(package, folder, "exercise", "EXERCISE", Exercise)
    if exercise.slug != slug:
        came = f'{folder / "exercise.py"}: EXERCISE has the slug "{exercise.slug}"'
        raise AuthoringError(f'{came}; "{slug}" is expected.')
    right, wrong = [], []
    for question in exercise.questions:
        file = question.id.replace("-", "_")
        if _definition(package, folder, file, "QUESTION", Question) is not question:
            raise AuthoringError(f'{folder / file}.py: QUESTION is not the question "{question.id}" of exercise.py.')
        earlier = [other.id for other in exercise.questions[: exercise.questions.index(question)]]
        if unknown := [id for id in question.leans_on if id not in earlier]:
            told = f"leans_on names {unknown}; questions before it are {earlier}"
            raise AuthoringError(f"{folder / file}.py: {told}.")
        right += _definition(package, folder, file, "right", RightSolutions).entries
        wrong += _definition(package, folder, file, "wrong", WrongSolutions).entries
    return AuthoredExercise(folder, exercise, Solutions(entries=right), Solutions(entries=wrong))


def _package(folder: Path) -> str:
    """A package for the folder, under a name of its own, so that two exercises cannot meet; its files are read anew.

    It also finds what stands beside the folders and several exercises share.
    """
    name = f"clearcheck_authored_{hashlib.sha256(str(folder).encode()).hexdigest()[:12]}"
    for loaded in [key for key in sys.modules if key == name or key.startswith(f"{name}.")]:
        del sys.modules[loaded]
    package = ModuleType(name)
    package.__path__ = [str(folder), str(folder.parent)]
    sys.modules[name] = package
    importlib.invalidate_caches()
    return name


def _definition(package: str, folder: Path, file: str, name: str, kind: type):
    path = folder / f"{file}.py"
    if not path.is_file():
        raise AuthoringError(f"{path}: this file is missing; it has to define {name}, a {kind.__name__}.")
    try:
        value = getattr(importlib.import_module(f"{package}.{file}"), name, None)
    except Exception as error:
        raise AuthoringError(f"{path} cannot be loaded ({type(error).__name__}): {error}") from error
    if not isinstance(value, kind):
        raise AuthoringError(f"{path}: {name} is {type(value).__name__}; a {kind.__name__} is expected.")
    return value
