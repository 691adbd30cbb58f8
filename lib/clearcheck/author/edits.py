"""Mistakes as edits of a right answer: what an author writes, and the text that comes of it.

A line with `#` names the right answer that the edits below it change. An edit has a name, the sentence that the learner
is told, and places of that answer: `-` is the line as it is, `+` the line as it should not be. A line with a blank in
front, as in a diff, only says where. Each place has to stand in the answer exactly once; its indentation counts from
its first line. An edit with `+` alone changes the place of the edit above it. A line `...` parts two places. A long
sentence goes on in the next line. `## over_rows [a-section]: …` sends the learner to another section than that of the
question.
"""

import ast
import re
import textwrap
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

EDITED_LINES = 3  # beyond, a whole function is easier to read
HEAD = re.compile(r"## (?P<name>\w+)(?: \[(?P<section>[\w-]+)\])?: (?P<says>\S.*)")


Places = tuple[tuple[int, int, int], ...]  # lines from, lines to of a base, and how many lines are in their place


class EditError(ValueError):
    """An edit does not fit its base; the text names the question, the mistake and the line."""


@dataclass
class Edit:
    question: str
    base: str
    name: str
    section: str
    says: str = ""
    places: list[list[str]] = field(default_factory=list)

    def fault(self, what: str) -> EditError:
        return EditError(f'Question "{self.question}", mistake {self.name}: {what}')

    def apply_to(self, source: str) -> tuple[str, Places]:
        """The text of the mistake as a function of its own name, and where it differs.

        Raises: EditError, SyntaxError.
        """
        lines = source.splitlines()
        changes = sorted(self._find_place(lines, place) for place in self.places)
        for start, end, new in reversed(changes):
            lines[start:end] = new
        places = tuple((start, end, len(new)) for start, end, new in changes)
        return rename_definition("\n".join(lines), self.base, self.name), places

    def share_the_place_of(self, above: "Edit") -> None:
        """Where this edit says what is new and not where, it changes what the one above it does."""
        said = {line[0] for place in self.places for line in place}
        if said == {"+"} and len(self.places) == len(above.places) == 1:
            self.places[0] = [*(line for line in above.places[0] if line[0] != "+"), *self.places[0]]

    def _find_place(self, lines: list[str], place: list[str]) -> tuple[int, int, list[str]]:
        """Which lines of the base a place replaces, and by what."""
        old = [line[2:] for line in place if line[0] != "+"]
        if not old:
            raise self.fault(
                f"{place[0]}\nadds a line, but not where: put the line above it, with a blank in front, or put the "
                "edit below another one that changes one place of the same answer."
            )
        wanted, size = [line.strip() for line in old], len(old)
        found = [i for i in range(len(lines) - size + 1) if [line.strip() for line in lines[i : i + size]] == wanted]
        if len(found) != 1:
            shown = "\n".join(old)
            raise self.fault(
                f"{self.base} has {len(found)} places that read\n{shown}\nand exactly one is expected. Copy the line "
                "from the answer; where it stands there twice, put the line above it, with a blank in front."
            )
        kept = next(k for k, line in enumerate(place) if line[0] != " ")
        shift = _indentation(lines[found[0]]) - _indentation(old[0])
        new = [" " * (shift + _indentation(line[2:])) + line[2:].strip() for line in place[kept:] if line[0] != "-"]
        return found[0] + kept, found[0] + size, new


def combined(one: str, its: Places, other: str, others: Places) -> str | None:
    """The text of a mistake with the places of another mistake of the same base; None where both change one place."""
    if any(
        (start < end_too and start_too < end) or start == start_too
        for start, end, _ in its
        for start_too, end_too, _ in others
    ):
        return None
    lines, theirs = one.splitlines(), other.splitlines()
    for place, (start, end, count) in reversed([*enumerate(others)]):
        new = start + _shift(others[:place])
        old = start + _shift(part for part in its if part[1] <= start)
        lines[old : old + end - start] = theirs[new : new + count]
    return "\n".join(lines)


def _shift(places: Iterable[tuple[int, int, int]]) -> int:
    return sum(count - (end - start) for start, end, count in places)


def _indentation(line: str) -> int:
    return len(line) - len(line.lstrip())


def read_edits(text: str, question: str) -> Iterator[Edit]:
    """The edits of a text, each checked for what it needs. Raises: EditError."""
    edits: list[Edit] = []
    base = ""
    for line in textwrap.dedent(text).strip("\n").splitlines():
        if line.startswith("##"):
            edits.append(_parse_heading(line, base, question))
        elif line.startswith("#"):
            base = line[1:].strip()
        elif line.strip() and not edits:
            raise EditError(f'Question "{question}": "{line}" stands before the first "## name: sentence".')
        elif line.strip():
            _take(edits[-1], line)
    for above, edit in zip([None, *edits], edits, strict=False):
        if not edit.places:
            raise edit.fault("at least one changed line (- and +) is expected.")
        if above is not None and above.base == edit.base:
            edit.share_the_place_of(above)
        changed = sum(max(_count(place, "-"), _count(place, "+")) for place in edit.places)
        if not 1 <= changed <= EDITED_LINES:
            raise edit.fault(
                f"{changed} lines are changed; 1 to {EDITED_LINES} are expected. Write it as a whole function "
                "under @wrong, or as an edit of a right answer that is closer."
            )
        yield edit


def _take(edit: Edit, line: str):
    """A line of the sentence, or of a place; a place ends with `...`, and where lines to add are followed by others."""
    if line.strip() == "..." and edit.places:
        edit.places.append([])
        return
    if line[0] not in "-+ " or (line[0] in "-+" and line[1:2] not in ("", " ")):
        if edit.places:
            raise edit.fault(f'"{line}" has no sign in front: -, + or a blank is expected after the sentence.')
        edit.says = f"{edit.says} {line.strip()}"
        return
    if not edit.places or (line[0] != "+" and edit.places[-1][-1:] and edit.places[-1][-1][0] == "+"):
        edit.places.append([])
    edit.places[-1].append(line)


def _parse_heading(line: str, base: str, question: str) -> Edit:
    found = HEAD.fullmatch(line.rstrip())
    if not found or not found["name"].isidentifier():
        raise EditError(f'Question "{question}": "{line}" should be "## name: What the learner is told."')
    return Edit(question, base, found["name"], found["section"] or "", found["says"])


def _count(place: list[str], sign: str) -> int:
    """How many lines that are not blank a place takes away or adds."""
    return sum(line[0] == sign and bool(line[1:].strip()) for line in place)


def rename_definition(source: str, old: str, new: str) -> str:
    """A function or class under another name, where it calls itself too."""
    if len(re.findall(rf"\b{old}\b", source)) == 1:  # as most do not: parsing all of an exercise takes seconds
        return re.sub(rf"^(\s*(?:def|class)) {old}\b", rf"\1 {new}", source, flags=re.MULTILINE)
    definition = ast.parse(source).body[0]
    lines = source.splitlines()
    calls = [node for node in ast.walk(definition) if isinstance(node, ast.Name) and node.id == old]
    for node in sorted(calls, key=lambda node: node.col_offset, reverse=True):
        line = lines[node.lineno - 1].encode()  # the offsets of a syntax tree count bytes
        lines[node.lineno - 1] = (line[: node.col_offset] + new.encode() + line[node.end_col_offset :]).decode()
    head = definition.lineno - 1
    lines[head] = re.sub(rf"^(def|class) {old}\b", rf"\1 {new}", lines[head])
    return "\n".join(lines)
