"""Find the authoring folder of an exercise and load what it defines."""

import hashlib
import importlib.util
import sys
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

from clearcheck.exercise import SLUG, Exercise
from clearcheck.solutions import Solutions, WrongSolutions

CHECKOUT = Path(__file__).resolve().parents[2]
AUTHORING = Path("exercises") / "authoring"


class ExerciseNotFound(LookupError):
    """No authoring folder for this name; the text lists the places looked at."""


class AuthoringError(ValueError):
    """An exercise is not written as it should be; the text names the file and what is expected."""


@dataclass(frozen=True)
class Authored:
    """An exercise with the folder it comes from and its collections of solutions."""

    folder: Path
    exercise: Exercise
    right: Solutions
    wrong: WrongSolutions


def find_folder(slug: str, start: Path | None = None) -> Path:
    """The folder `exercises/authoring/<slug>` above `start` (default: where Python runs), else in the checkout."""
    if not SLUG.fullmatch(slug):
        raise ExerciseNotFound(
            f"{slug!r} is not the name of an exercise: lower-case words joined by hyphens are expected, "
            "such as 03-self-attention."
        )
    start = (start or Path.cwd()).resolve()
    tried = [base / AUTHORING / slug for base in (start, *start.parents, CHECKOUT)]
    for folder in tried:
        if (folder / "checks.py").is_file():
            return folder
    raise ExerciseNotFound(
        f'No exercise "{slug}": looked for a file checks.py in {tried[0]}, in the same folder above each parent of '
        f"{start}, and in {tried[-1]}. Known here: {', '.join(known_slugs(start)) or 'none'}."
    )


def slugs_in(authoring: Path) -> list[str]:
    return sorted(path.parent.name for path in authoring.glob("*/checks.py"))


def authoring_folder(start: Path | None = None) -> Path:
    """The nearest folder `exercises/authoring` with an exercise in it, above `start` or in the checkout."""
    start = (start or Path.cwd()).resolve()
    for base in (start, *start.parents, CHECKOUT):
        if slugs_in(base / AUTHORING):
            return base / AUTHORING
    raise ExerciseNotFound(f"No exercises: looked for {AUTHORING} in {start}, above it, and in {CHECKOUT}.")


def known_slugs(start: Path | None = None) -> list[str]:
    """Every exercise that `find_folder` can find, in order."""
    start = (start or Path.cwd()).resolve()
    bases = (start, *start.parents, CHECKOUT)
    return sorted({path.parent.name for base in bases for path in (base / AUTHORING).glob("*/checks.py")})


def load(slug: str, start: Path | None = None) -> Authored:
    """Raises: ExerciseNotFound where there is none, AuthoringError where a file lacks its definition."""
    folder = find_folder(slug, start)
    exercise = _definition(folder / "checks.py", "EXERCISE", Exercise)
    if exercise.slug != slug:
        raise AuthoringError(f'{folder / "checks.py"}: EXERCISE has the slug "{exercise.slug}"; "{slug}" is expected.')
    right = _definition(folder / "solutions.py", "SOLUTIONS", Solutions)
    wrong = _definition(folder / "wrong.py", "WRONG", WrongSolutions)
    unknown = {entry.question for entry in (*right.entries, *wrong.entries)} - {q.id for q in exercise.questions}
    if unknown:
        raise AuthoringError(f"{folder}: solutions for {sorted(unknown)}, which are no questions of checks.py.")
    return Authored(folder, exercise, right, wrong)


def _definition(path: Path, name: str, kind: type):
    if not path.is_file():
        raise AuthoringError(f"{path}: this file is missing; it has to define {name}, a {kind.__name__}.")
    value = getattr(_module(path), name, None)
    if not isinstance(value, kind):
        raise AuthoringError(f"{path}: {name} is {type(value).__name__}; a {kind.__name__} is expected.")
    return value


def _module(path: Path) -> ModuleType:
    """Import by path, under a name of its own, so that two exercises cannot meet."""
    digest = hashlib.sha256(str(path).encode()).hexdigest()[:12]
    name = f"clearcheck_{path.stem}_{digest}"
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module
