"""Submissions that are equal or nearly so, for the instructor alone: what was handed out is taken out before."""

import builtins
import keyword
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import combinations
from pathlib import Path

from clearcheck.author.loading import AuthoringError, ExerciseNotFound, find_folder
from clearcheck.author.release import learner_notebook, read_source
from clearcheck.notebooks.escaping import one_line
from clearcheck.notebooks.file import NotANotebook, cell_source, notebook_bytes, parse_notebook
from clearcheck.own_course import own_course

from clearclass.standings import Standing
from clearclass.tables import write_rows

LARGEST = 10 * 2**20  # bytes of a notebook that is compared
FEWEST = 40  # words of one's own: less than that is alike by chance
RUN = 6  # words that stand together
RARE = 0.1  # a run of words that more than this part of the class has is common
RARE_IN = 3  # learners that may share a run in a small class
SHARED = 8  # rare runs that two have in common, at least
OVERLAP = 0.3  # of the runs of the shorter work, before its words are compared one by one
ALIKE = 0.8  # of all words in the same order
EQUAL = "equal"
RENAMED = "equal but for names, comments and layout"
NEARLY = "nearly equal"
KNOWN = {*keyword.kwlist, *keyword.softkwlist, *dir(builtins)}
WORD = re.compile(r"""#.*|[^\W\d]\w*|\d[\w.]*|"[^"\n]*"|'[^'\n]*'|\S""")


@dataclass(frozen=True)
class Pair:
    """Two learners whose work for one exercise is alike: how, and what part of the words stand in the same order."""

    one: Standing
    other: Standing
    how: str
    alike: float


@dataclass(frozen=True)
class _Work:
    """What a learner wrote: the lines as they stand, and its words, each invented name as the same word."""

    standing: Standing
    lines: tuple[str, ...]
    words: tuple[str, ...]

    @property
    def runs(self) -> frozenset[int]:
        return frozenset(map(hash, zip(*(self.words[i:] for i in range(RUN)), strict=False)))


def similar_pairs(standings: Iterable[Standing]) -> list[Pair]:
    """The pairs of each exercise, those that are most alike first."""
    by_exercise: dict[str, list[Standing]] = defaultdict(list)
    for standing in standings:
        if not standing.counts.row.error:
            by_exercise[standing.counts.row.exercise].append(standing)
    return [pair for slug in sorted(by_exercise) for pair in _of_exercise(slug, by_exercise[slug])]


def write_similar(path: Path, pairs: Iterable[Pair]):
    """One row for each pair.

    Raises: OSError.
    """
    head = ["exercise", "learner", "id", "file", "other learner", "other id", "other file", "how", "alike in percent"]
    write_rows(path, head, (_row(pair) for pair in pairs))


def told_pairs(pairs: list[Pair]) -> list[str]:
    """A line for each pair, behind one that says what it is worth."""
    lines = [
        f"{pair.one.counts.row.exercise}: {one_line(pair.one.learner.label)} and {one_line(pair.other.learner.label)}, "
        f"{pair.how} ({100 * pair.alike:.0f} % of their words)"
        for pair in pairs
    ]
    proof = "Only you see this. It is no proof: look at both, and ask. Short answers are often alike by themselves."
    return [proof, *lines] if lines else []


def _row(pair: Pair) -> list:
    return [pair.one.counts.row.exercise, *_who(pair.one), *_who(pair.other), pair.how, round(100 * pair.alike)]


def _who(standing: Standing) -> list[str]:
    return [standing.learner.name, standing.learner.id, standing.counts.row.file]


def _of_exercise(slug: str, standings: list[Standing]) -> list[Pair]:
    released = _released(slug)
    works = [work for s in standings if (work := _work(s, released)) and len(work.words) >= FEWEST]
    alike: dict[tuple[str, ...], list[_Work]] = defaultdict(list)
    for work in works:
        alike[work.lines].append(work)
    equal = [Pair(theirs[0].standing, other.standing, EQUAL, 1.0) for theirs in alike.values() for other in theirs[1:]]
    nearly = _nearly([theirs[0] for theirs in alike.values()])
    return [*equal, *sorted(nearly, key=lambda pair: -pair.alike)]


def _nearly(works: list[_Work]) -> Iterator[Pair]:
    """Pairs that share what few others have; of all others nobody looks at a word."""
    runs = [work.runs for work in works]
    having: dict[int, list[int]] = defaultdict(list)
    for number, theirs in enumerate(runs):
        for run in theirs:
            having[run].append(number)
    most = max(RARE_IN, int(RARE * len(works)))
    shared = Counter(pair for who in having.values() if 2 <= len(who) <= most for pair in combinations(who, 2))
    for (i, j), rare in sorted(shared.items()):
        if rare < SHARED or len(runs[i] & runs[j]) < OVERLAP * min(len(runs[i]), len(runs[j])):
            continue
        if (ratio := _ratio(works[i].words, works[j].words)) >= ALIKE:
            how = RENAMED if works[i].words == works[j].words else NEARLY
            yield Pair(works[i].standing, works[j].standing, how, ratio)


def _ratio(one: tuple[str, ...], other: tuple[str, ...]) -> float:
    matcher = SequenceMatcher(None, one, other, autojunk=False)
    return matcher.ratio() if matcher.real_quick_ratio() >= ALIKE and matcher.quick_ratio() >= ALIKE else 0.0


def _work(standing: Standing, released: frozenset[str]) -> _Work | None:
    """None where the file is not there any more, or too large."""
    path = standing.counts.file.path
    try:
        if path.stat().st_size > LARGEST:
            return None
        cells = parse_notebook(notebook_bytes(path), path.name).cells
    except (OSError, NotANotebook):
        return None
    lines = [line for cell in cells for line in _lines(cell) if line not in released]
    return _Work(standing, tuple(lines), tuple(_words("\n".join(lines), "\n".join(released))))


def _released(slug: str) -> frozenset[str]:
    """The lines of the notebook that was handed out; none where only the checks are here."""
    try:
        notebook = learner_notebook(read_source(find_folder(slug, own_course()) / "source.ipynb"), slug)
    except (AuthoringError, ExerciseNotFound):
        return frozenset()
    return frozenset(line for cell in notebook["cells"] for line in _lines(cell))


def _lines(cell: dict) -> list[str]:
    return [line for text in cell_source(cell).splitlines() if (line := " ".join(text.split()))]


def _words(text: str, released: str) -> Iterator[str]:
    """Names that the learner invented become one word, comments and texts none; what stands behind a dot is kept."""
    known = {*KNOWN, *WORD.findall(released)}
    before = ""
    for word in WORD.findall(text):
        if word[0] in "#\"'":
            continue
        yield word if before == "." or not word.isidentifier() or word in known else "name"
        before = word
