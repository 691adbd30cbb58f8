"""Whose a file is by the roster: its people found among the learners of the files, and who handed in nothing."""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from clearcheck.notebooks.escaping import cell, one_line

from clearclass.exports import TITLES
from clearclass.gradescope_list import BOTH
from clearclass.learners import Learner, LearnersMerged
from clearclass.roster import Person, Roster, RosterProblem
from clearclass.submitted_files import SubmittedFile

TOLD = 5  # names in a sentence
WORD = re.compile(r"[^\W_]+")


@dataclass(frozen=True)
class Settled:
    """The learner of each file as the roster has them, those of whom there is no file, and what is to be looked at."""

    learners: list[Learner]
    absent: list[Learner]
    warnings: list[str]


class _Index:
    """The people of a roster by what a file may say of them; only what means one of them alone counts."""

    def __init__(self, people: Iterable[Person]):
        self._people = people = list(people)
        self.numbers = _unique((number, person) for person in people for number in {person.id, person.other})
        self.logins = _unique((word, person) for person in people for word in _logins(person))
        self._names = [
            (form, _unique((said, person) for person in people for said in form(person.name)))
            for form in (_exact, _any_order, _letters)
        ]

    def namesakes(self, name: str) -> list[Person]:
        """All whose name it may be."""
        return [person for person in self._people if any(form(name) & form(person.name) for form, _ in self._names)]

    def by_name(self, name: str) -> Person | None:
        """The one whose name it is: as it stands, its words in another order or glued together, without accents."""
        for form, known in self._names:
            found = {known[said].line: known[said] for said in form(name) if said in known}
            if len(found) == 1:
                return next(iter(found.values()))
        return None


def settle(files: list[SubmittedFile], learners: list[Learner], roster: Roster) -> Settled:
    """Raises: RosterProblem where the roster is that of other people or has other numbers, LearnersMerged."""
    index = _Index(roster.people)
    found = {learner: _people(learner, file, index, roster) for file, learner in zip(files, learners, strict=True)}
    if not any(found.values()):
        raise RosterProblem(
            f"{roster.file} has none of the {len(found)} learners who handed in, such as {_label(learners[0])}: their "
            "names, numbers or addresses are expected in it."
        )
    settled = [_with(learner, found[learner]) for learner in learners]
    _refuse_merged(files, learners, settled)
    here = {person for people in found.values() for person in people}
    missing = [person for person in roster.people if person not in here]
    system = roster.system or _system_of_numbers(found)
    absent = [_learner_of(person, system) for person in missing]
    warnings = [*_strangers(files, learners, found, roster, index), *_other_names(found, index), *_not_there(missing)]
    warnings += _without_number(absent, found)
    return Settled(settled, absent, warnings)


def _people(learner: Learner, file: SubmittedFile, index: _Index, roster: Roster) -> tuple[Person, ...]:
    """Who on the roster it is, several where a group handed in.

    Raises: RosterProblem where number and name mean two of them.
    """
    if learner.system == "gradescope" and BOTH in learner.name:
        numbers = [index.numbers[number] for number in learner.id.split() if number in index.numbers]
        members = [*numbers, *filter(None, map(index.by_name, learner.name.split(BOTH)))]
        return tuple(dict.fromkeys(members))
    by_number = index.numbers.get(learner.id)
    named = index.by_name(learner.name)
    if by_number and named and by_number is not named:
        raise RosterProblem(
            f"{one_line(file.relative_path)} has the number {one_line(learner.id)}, which {roster.file} gives to "
            f"{by_number.label}, and the name of {named.label}: its numbers seem to be others than those of the "
            "files. Leave the column with the numbers out, and names decide."
        )
    own = file.path.stem if learner.file else learner.name  # a learner of a system may name a file as another's
    found = by_number or index.logins.get(learner.name.casefold()) or index.logins.get(own.casefold()) or named
    return (found,) if found else ()


def _with(learner: Learner, people: tuple[Person, ...]) -> Learner:
    if len(people) != 1:
        return replace(learner, people=people)
    [person] = people
    return replace(learner, name=person.name or learner.name, id=learner.id or person.id, people=people)


def _learner_of(person: Person, system: str) -> Learner:
    return Learner(person.name or person.label, person.id, system if person.id else "", people=(person,))


def _refuse_merged(files: list[SubmittedFile], before: list[Learner], after: list[Learner]):
    """Raises: LearnersMerged where two numbers of one system have become one person."""
    numbers: dict[tuple, dict[str, SubmittedFile]] = {}
    for file, learner, settled in zip(files, before, after, strict=True):
        if settled.people and learner.id:
            numbers.setdefault((settled.key, learner.system), {}).setdefault(learner.id, file)
    for (key, _), theirs in numbers.items():
        if len(theirs) > 1:
            paths = ", ".join(one_line(file.relative_path) for file in list(theirs.values())[:TOLD])
            raise LearnersMerged(
                f"{len(theirs)} numbers of the files would be one learner of the roster, {one_line(key[1])}: {paths}. "
                "Give each of them a row with the number."
            )


def _system_of_numbers(found: dict[Learner, tuple[Person, ...]]) -> str:
    """The system whose numbers the roster has, so that those without a file are in its tables, too; else ""."""
    known = [learner for learner, people in found.items() if [person.id for person in people] == [learner.id]]
    fits = Counter(learner.system for learner in known if learner.id)
    return max(fits, key=lambda system: fits[system]) if fits else ""


def _strangers(
    files: list[SubmittedFile],
    learners: list[Learner],
    found: dict[Learner, tuple[Person, ...]],
    roster: Roster,
    index: _Index,
) -> Iterator[str]:
    """A sentence for each learner whom the roster does not have."""
    told = set()
    for file, learner in zip(files, learners, strict=True):
        if not found[learner] and learner.key not in told:
            told.add(learner.key)
            some = ", ".join(person.label for person in index.namesakes(learner.name)[:TOLD])
            why = f"whom {roster.file} does not have"
            if some:
                why = f"who may be {some} of {roster.file}: only a number or an address tells"
            yield f"{one_line(file.relative_path)} is of {_label(learner)}, {why}."


def _other_names(found: dict[Learner, tuple[Person, ...]], index: _Index) -> Iterator[str]:
    """A sentence for each learner whose number is on the roster beside a name that has nothing in common."""
    for learner, people in found.items():
        if len(people) == 1 and index.numbers.get(learner.id) is people[0] and learner.name != learner.id:
            words = [word for word in WORD.findall(_plain(people[0].name)) if word in _plain(learner.name)]
            if people[0].name and not words and WORD.search(learner.name):
                yield (
                    f"The number {one_line(learner.id)} stands beside {one_line(learner.name)} in the files and beside "
                    f"{people[0].label} on the roster, whose work it is taken for."
                )


def _not_there(missing: list[Person]) -> Iterator[str]:
    for person in missing:
        if person.submitted:
            yield f"{person.label} handed something in, as the roster says, but no file is theirs: they have 0 points."


def _without_number(absent: list[Learner], found: dict[Learner, tuple[Person, ...]]) -> Iterator[str]:
    """A sentence for each table of another system that lacks those without a file, since nobody knows their numbers."""
    for system in ("moodle", "canvas"):
        count = sum(learner.system != system for learner in absent)
        if count and any(learner.system == system for learner in found):
            yield (
                f"{count} who handed in nothing are missing in the table for {TITLES[system]}: the roster does not "
                f"have the numbers by which {TITLES[system]} knows them."
            )


def _label(learner: Learner) -> str:
    return one_line(learner.label)


def _logins(person: Person) -> set[str]:
    email = person.email.casefold()
    return {person.login.casefold(), email, email.partition("@")[0]}


def _unique(pairs: Iterable[tuple[str, Person]]) -> dict[str, Person]:
    found: dict[str, dict[int, Person]] = {}
    for said, person in pairs:
        if said:
            found.setdefault(said, {})[person.line] = person
    return {said: next(iter(people.values())) for said, people in found.items() if len(people) == 1}


def _exact(name: str) -> set[str]:
    """As a table of ours has it, too."""
    return {" ".join(unicodedata.normalize("NFC", cell(name)).casefold().split())}


def _any_order(name: str) -> set[str]:
    return _orders(unicodedata.normalize("NFC", name).casefold())


def _letters(name: str) -> set[str]:
    return _orders(_plain(name))


def _orders(name: str) -> set[str]:
    """The words in the order of the alphabet, and glued together beginning with each of them, as Canvas does."""
    words = WORD.findall(name)
    glued = {"".join(words[i:] + words[:i]) for i in range(len(words))}
    return {" ".join(sorted(words)), *glued}


def _plain(name: str) -> str:
    return "".join(c for c in unicodedata.normalize("NFKD", name).casefold() if not unicodedata.combining(c))
