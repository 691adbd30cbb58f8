"""When each file was handed in and when it was due, from what roster, systems and names say of it."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta

from clearcheck.notebooks.escaping import one_line

from clearclass.exports import EXPORTS
from clearclass.gradescope_list import submitted_to_gradescope
from clearclass.late import Lateness, LatePolicy, LateProblem
from clearclass.learners import Learner
from clearclass.roster import Person
from clearclass.submitted_files import SubmittedFile
from clearclass.times import in_words, of_seconds, span_in_words

OF_FILES = (
    "Times are those of the files on this computer, where nothing else says when one was handed in: a copy or an "
    "archive that was unpacked may have changed them."
)


@dataclass(frozen=True)
class LateRules:
    """What is taken off, when everybody's work was due, and whether the times of files count."""

    policy: LatePolicy
    deadline: datetime | None = None
    file_times: bool = False


@dataclass
class Found:
    """How late each file is, none where it is not, and what is to be looked at."""

    lateness: list[Lateness | None] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)


def lateness_of(files: list[SubmittedFile], learners: list[Learner], rules: LateRules) -> Found:
    """Raises: LateProblem where nothing is known of any file."""
    found, unknown, by_files = Found(), [], False
    marked = any(learner.late for learner in learners)
    for file, learner in zip(files, learners, strict=True):
        due, (handed_in, from_file) = _due(learner, rules), _handed_in(file, learner, rules)
        by_files = by_files or bool(due and from_file)
        if due and handed_in:
            found.lateness.append(_late(rules.policy, handed_in, due, from_file))
            continue
        found.lateness.append(_marked_late(file, learner, rules.policy, found.warnings) if learner.late else None)
        if not learner.late and not (marked and learner.system == "canvas"):
            unknown.append((file, due, handed_in))
    if len(unknown) == len(files):
        raise LateProblem(f"--late cannot be used: {_why(*unknown[0][1:])}.")
    if unknown:
        file, due, handed_in = unknown[0]
        found.warnings.append(
            f"Nothing is taken off {len(unknown)} of {len(files)} files for being late, {one_line(file.relative_path)} "
            f"the first of them: {_why(due, handed_in)}."
        )
    found.warnings += [OF_FILES] * by_files
    return found


def _why(due: datetime | None, handed_in: datetime | None) -> str:
    if handed_in and not due:
        return "nothing says when the work was due; say --deadline, or have a column deadline in the roster"
    return (
        "nothing says when it was handed in; have a column submitted in the roster (Moodle's grading worksheet has "
        "one), leave submission_metadata.yml in an export of Gradescope, or let the times of the files count by "
        "--file-times"
    ) + ("" if due else "; and say when it was due by --deadline")


def _due(learner: Learner, rules: LateRules) -> datetime | None:
    """When it was due; for a group the latest of what its members have."""
    times = [time for person in learner.people if (time := _due_of(person, rules.deadline))]
    return max(times, default=None) if learner.people else rules.deadline


def _due_of(person: Person, everybodys: datetime | None) -> datetime | None:
    deadline, extension = person.deadline or everybodys, person.extension
    if isinstance(extension, datetime):
        return max(extension, deadline or extension)
    return deadline + (extension or timedelta()) if deadline else None


def _handed_in(file: SubmittedFile, learner: Learner, rules: LateRules) -> tuple[datetime | None, bool]:
    """When it was handed in, and whether only the file itself says so."""
    told = [person.submitted for person in learner.people if person.submitted]
    if told:
        return max(told), False
    match = EXPORTS["gradescope"].match(file.relative_path) if learner.system == "gradescope" else None
    if match and (created := submitted_to_gradescope(file, match["id"]).created):
        return created, False
    if rules.file_times and not file.reason:
        return of_seconds(file.path.stat().st_mtime), True
    return None, False


def _late(policy: LatePolicy, handed_in: datetime, due: datetime, from_file: bool) -> Lateness | None:
    late = handed_in - due
    if not policy.units(late):
        return None
    how = " by the time of the file" if from_file else ""
    told = f"{span_in_words(late)} late{how} (handed in {in_words(handed_in)}, due {in_words(due)})"
    return Lateness(policy, late, told)


def _marked_late(file: SubmittedFile, learner: Learner, policy: LatePolicy, warnings: list[str]) -> Lateness | None:
    """Late by its name alone: the least that the policy takes off, unless there was an extension to be kept."""
    name = one_line(file.relative_path)
    if any(person.extension for person in learner.people):
        warnings.append(f"{name} is marked as late, nobody knows by how much, and there was an extension: look at it.")
        return None
    warnings.append(f"{name} is marked as late, nobody knows by how much: one {policy.unit} is counted.")
    return Lateness(policy, None, f"late, counted as one {policy.unit}")
