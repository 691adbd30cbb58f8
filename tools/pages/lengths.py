"""How long a page takes to read: its honest minutes, which its line *Time:* repeats.

.venv/bin/python -m tools.pages.lengths [chapters/03-self-attention.ipynb ...]     prints them, or those of every page
.venv/bin/python -m tools.pages.lengths --write                                    writes them into the pages
"""

import argparse
import json
import math
import re
import sys
from dataclasses import asdict, dataclass, fields
from pathlib import Path

from tools import ROOT
from tools.pages.chapters import chapters, is_chapter

MOST_MINUTES = 65  # of a chapter; what is more goes to a closer look or a chapter of its own
WORDS_A_MINUTE = 150
SECONDS = {"displays": 60, "formulas": 5, "lines": 8, "tables": 20, "figures": 20, "explorables": 60, "questions": 45}
FOLDED = {"hide-input", "hide-cell", "remove-input", "remove-cell"}
UNSEEN = {"hide-cell", "remove-cell", "hide-output", "remove-output"}
QUESTION = re.compile(
    r"^[^\n]+(?:\n[^\n]+)*\n\n(?:<details class=\"quiz\">.*?</details>\s*)+", re.MULTILINE | re.DOTALL
)  # a paragraph and the options below it
CODE_BLOCK = re.compile(r"^(`{3,}|~{3,}).*?^\1\s*$", re.MULTILINE | re.DOTALL)
DISPLAY = re.compile(r"\$\$.*?\$\$(?:\s*\([\w-]+\))?", re.DOTALL)
FORMULA = re.compile(r"\$[^$\n]+\$")
DRAWN = re.compile(r"!\[|<img\b|^`{3,}\{figure\}", re.MULTILINE)
NO_WORDS = re.compile(r"<!--.*?-->|\]\([^)]*\)|</?\w[^>]*>|^:{3,}.*$|^\([\w-]+\)=$", re.MULTILINE | re.DOTALL)
WORD = re.compile(r"[^\s|*#>_–—-]*\w\S*")
TIME = re.compile(r"\*Time:\* (\d+) minutes to read, [\w ]+ to run(?:, (\d+) minutes to practise)?")


@dataclass(frozen=True)
class Length:
    """What a reader has before them on one page: words of prose, and what takes a time of its own."""

    words: int = 0
    displays: int = 0
    formulas: int = 0
    lines: int = 0
    tables: int = 0
    figures: int = 0
    explorables: int = 0
    questions: int = 0

    def __add__(self, other: "Length") -> "Length":
        return Length(*(getattr(self, field.name) + getattr(other, field.name) for field in fields(self)))

    @property
    def minutes(self) -> float:
        """Of one who reads every word, formula and visible line once, and answers every question."""
        counts = asdict(self)
        apart = sum(seconds * counts[name] for name, seconds in SECONDS.items())
        return self.words / WORDS_A_MINUTE + apart / 60

    @property
    def stated(self) -> int:
        """The minutes that the page names: rounded up to five."""
        return 5 * math.ceil(self.minutes / 5)


def length(path: Path) -> Length:
    """All cells of a page together."""
    return sum((cell_length(cell) for cell in cells(path)), Length())


def cell_length(cell: dict) -> Length:
    source = "".join(cell["source"])
    if cell["cell_type"] == "code":
        return code_length(source, cell.get("outputs", []), set(cell["metadata"].get("tags", [])))
    return prose_length(source)


def prose_length(source: str) -> Length:
    """A question of a quiz counts as one, whatever its answers say; so does a formula."""
    text, n_questions = QUESTION.subn("", source)
    figures = len(DRAWN.findall(text))
    text, n_displays = DISPLAY.subn(" ", CODE_BLOCK.sub(" ", text))
    text, n_formulas = FORMULA.subn(" ", text)
    words = len(WORD.findall(NO_WORDS.sub(" ", text)))
    return Length(words, displays=n_displays, formulas=n_formulas, figures=figures, questions=n_questions)


def code_length(source: str, outputs: list[dict], tags: set[str]) -> Length:
    """The lines that are not folded, and each output that is shown as what it is."""
    lines = 0 if tags & FOLDED else sum(bool(line.strip()) for line in source.splitlines())
    shown = [] if tags & UNSEEN else [kind_of_output(output) for output in outputs]
    return Length(
        lines=lines,
        tables=shown.count("table"),
        figures=shown.count("figure"),
        explorables=shown.count("explorable"),
    )


def kind_of_output(output: dict) -> str | None:
    """figure, explorable or table (also what is printed); none for an empty one, such as a stream of blanks."""
    data = output.get("data", {})
    if any(kind.startswith("image/") for kind in data):
        return "figure"
    html = "".join(data.get("text/html", ""))
    if 'class="explorable"' in html:
        return "explorable"
    return "table" if html or data or "".join(output.get("text", "")).strip() else None


def cells(path: Path) -> list[dict]:
    return json.loads(path.read_text(encoding="utf-8"))["cells"]


def practice(slug: str) -> int:
    """Minutes of all questions of an exercise, rounded up to five; none for a chapter that has no exercise."""
    from clearcheck.author.loading import load_exercise

    if not (ROOT / "exercises" / "authoring" / slug).is_dir():
        return 0
    return 5 * math.ceil(sum(question.minutes for question in load_exercise(slug, ROOT).exercise.questions) / 5)


def is_closer_look(path: Path) -> bool:
    return path.parent.name == "closer"


def timed_pages() -> list[Path]:
    """The pages that say how long they take: the one on PyTorch, chapters and closer looks."""
    return [ROOT / "chapters" / "pytorch.ipynb", *chapters(), *sorted((ROOT / "chapters" / "closer").glob("*.ipynb"))]


def time_line(path: Path) -> str:
    """The line *Time:* that a chapter or closer look should have. Raises: ValueError for one that has none."""
    notebook = json.loads(path.read_text(encoding="utf-8"))
    if not TIME.search("".join(notebook["cells"][0]["source"])):
        raise ValueError(
            f"{path.name}: its first cell has no line of the form "
            "'*Time:* 40 minutes to read, half a minute to run, 90 minutes to practise'."
        )
    run = "half a minute" if notebook["metadata"]["run_seconds_at_most"] <= 30 else "a minute"
    practise = "" if is_closer_look(path) or path.stem == "pytorch" else f", {practice(path.stem)} minutes to practise"
    return f"*Time:* {length(path).stated} minutes to read, {run} to run{practise}"


def write_time(path: Path) -> None:
    """Put the computed minutes into the first cell."""
    notebook = json.loads(path.read_text(encoding="utf-8"))
    first = notebook["cells"][0]
    text = TIME.sub(lambda _: time_line(path), "".join(first["source"]))
    if text != "".join(first["source"]):
        first["source"] = text.splitlines(keepends=True)
        path.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pages", nargs="*", type=Path)
    parser.add_argument("--write", action="store_true", help="write the line *Time:* of chapters and closer looks")
    given = parser.parse_args()
    paths = given.pages or sorted((ROOT / "chapters").rglob("*.ipynb"))
    print(f"{'page':32}{''.join(f'{field.name:>12}' for field in fields(Length))}{'minutes':>9}")
    for path in paths:
        found = length(path)
        limited = is_chapter(path.stem) and not is_closer_look(path)
        over = f"  of at most {MOST_MINUTES}" if limited and found.minutes > MOST_MINUTES else ""
        print(f"{path.stem:32}{''.join(f'{n:12}' for n in asdict(found).values())}{found.minutes:9.1f}{over}")
        if given.write and path.resolve() in timed_pages():
            write_time(path)
    return 0


if __name__ == "__main__":
    sys.exit(main())
